"""The nodes of Slurm's partitions, as sinfo tells of them: a line for those of a partition that are alike."""

import re
from collections.abc import Collection, Iterator

from cigri.drivers.slurm.output_parsing import END_OF_ANSWER, unreadable
from cigri.formats.units import MEGABYTE, MULTIPLES, in_seconds
from cigri.requirements.value_kinds import PropertyValue
from cigri.resources.nodes import AlikeNodes, alike, known
from cigri.shell.results import ShellResult

# partition (* is the default), nodes, then of each: cores, MB, features, gres; the partition's longest walltime
SINFO = f"sinfo -h -e -o '%P|%D|%c|%m|%b|%G|%l' && echo {END_OF_ANSWER}"

_LINE = re.compile(r"([^|]+?)(\*?)\|(\d+)\|(\d+)\+?\|(\d+)\+?\|([^|]*)\|([^|]*)\|([^|]*)")
_NUMBER = re.compile(r"(\d+)([KMGTP]?)")
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


def read_nodes(answer: ShellResult, own: Collection[str]) -> list[AlikeNodes]:
    """By partition; jobs that name none go to `own`, or to the default one."""
    text, _, after_end = answer.out.partition(f"{END_OF_ANSWER}\n")
    if answer.status != 0 or not text or after_end or f"{END_OF_ANSWER}\n" not in answer.out:
        raise unreadable("sinfo", answer)
    classes = []
    for line in text.splitlines():
        fields = _LINE.fullmatch(line.rstrip())
        if not fields:
            raise unreadable("sinfo", answer)
        partition, is_default, nodes, *properties = fields.groups()
        queues = [partition, ""] if (partition in own if own else is_default) else [partition]
        classes += [AlikeNodes(_properties(*properties), int(nodes), queue) for queue in queues]
    return alike(kind for kind in classes if kind.nodes)


def _properties(cores: str, memory: str, features: str, gres: str, longest: str) -> dict[str, PropertyValue]:
    counts: dict[str, PropertyValue | None] = {}
    models = []
    for name, model, number in _gres(gres):
        before = counts.get(name) or 0
        counts[name] = number + (before if isinstance(before, int) else 0)
        models += [model] if model and name == "gpu" else []
    plain: dict[str, PropertyValue | None] = {
        "cores": int(cores),
        "memory": int(memory) * MEGABYTE,
        "features": sorted(_words(features)),
        "gpus": counts.pop("gpu", None),
        "gpu_model": sorted(set(models)) or None,
        "max_walltime": _seconds(longest),
    }
    return known(counts | plain)


def _gres(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, type ("" if none) and number of each of `gpu:a100:4(S:0-1),scratch:2T`."""
    for word in re.sub(r"\([^)]*\)", "", text).split(","):
        name, *details = word.split(":")
        number = _NUMBER.fullmatch(details[-1]) if details else None
        model = details[0] if len(details) > 1 or (details and not number) else ""
        if name:
            yield name.lower(), model, int(number[1]) * 1024 ** MULTIPLES[number[2]] if number else 1


def _words(text: str) -> list[str]:
    return [] if text == "(null)" else [word for word in text.split(",") if word]


def _seconds(text: str) -> int | None:
    """`7-00:00:00`, `30:00`; "infinite" is no limit."""
    limit = _TIME.fullmatch(text)
    return in_seconds(*limit.groups()) if limit else None
