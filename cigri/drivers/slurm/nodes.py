"""The nodes of Slurm's partitions, as sinfo tells of them: a line for those of a partition that are alike.

Licences are the cluster's: each node gets the number of all as a property.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cigri.drivers.slurm.output_parsing import END_OF_ANSWER, unreadable
from cigri.formats.units import MEGABYTE, MULTIPLES, in_seconds
from cigri.requirements.job_fit import RESOURCES
from cigri.requirements.value_kinds import PropertyValue, Scalar
from cigri.resources.nodes import AlikeNodes, alike, known
from cigri.shell.results import ShellResult

# partition (* is the default), nodes, then of each: cores, MB, features, gres; the partition's longest walltime
SINFO = f"""\
sinfo -h -e -o '%P|%D|%c|%m|%b|%G|%l' && echo {END_OF_ANSWER} || exit
scontrol -o show licenses && scontrol show config | grep '^GresTypes ' || echo unknown
echo {END_OF_ANSWER} of resources"""

END_OF_RESOURCES = f"{END_OF_ANSWER} of resources\n"
TMP = "tmp"

_LICENCE = re.compile(r"^LicenseName=(\S+) Total=(\d+) ", re.MULTILINE)
_GRES_TYPES = re.compile(r"^GresTypes +=(.*)$", re.MULTILINE)
_LINE = re.compile(r"([^|]+?)(\*?)\|(\d+)\|(\d+)\+?\|(\d+)\+?\|([^|]*)\|([^|]*)\|([^|]*)")
_NUMBER = re.compile(r"(\d+)([KMGTP]?)")
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


class SlurmCountables(NamedTuple):
    """What jobs may ask for by number: the licences with their totals, and the names of all that there is.

    `names` None: Slurm did not tell.
    """

    licences: Mapping[str, int]
    names: list[Scalar] | None


def read_nodes(answer: ShellResult, own: Collection[str], named: Mapping[str, str]) -> list[AlikeNodes]:
    """List alike nodes by partition; jobs that name none go to `own`, or to the default one.

    `named`: what campaigns call resources, as `gres/fpga:u280` or `license/maple`.
    """
    text, separator, rest = answer.out.partition(f"{END_OF_ANSWER}\n")
    if answer.status != 0 or not text or not separator or not rest.endswith(END_OF_RESOURCES):
        raise unreadable("sinfo", answer)
    countables = _countables(rest.removesuffix(END_OF_RESOURCES), named)
    classes = []
    for line in text.splitlines():
        fields = _LINE.fullmatch(line.rstrip())
        if not fields:
            raise unreadable("sinfo", answer)
        partition, is_default, nodes, *properties = fields.groups()
        queues = [partition, ""] if (partition in own if own else is_default) else [partition]
        classes += [AlikeNodes(_properties(properties, countables), int(nodes), queue) for queue in queues]
    return alike(kind for kind in classes if kind.nodes)


def _countables(text: str, named: Mapping[str, str]) -> SlurmCountables:
    """Types of generic resources that no node has are there all the same: nodes of clouds are not listed always."""
    licences = {name.lower(): int(total) for name, total in _LICENCE.findall(text)}
    types = _GRES_TYPES.search(text)
    if types is None:
        return SlurmCountables({}, None)
    names = {*licences, *(name.lower() for name in _words(types[1])), *map(str.lower, named), TMP}
    for name, word in named.items():
        kind, _, own_name = word.partition("/")
        if kind == "license" and own_name.lower() in licences:
            licences[name.lower()] = licences[own_name.lower()]
    return SlurmCountables(licences, [*sorted(names)])


def _properties(fields: Sequence[str], countables: SlurmCountables) -> dict[str, PropertyValue]:
    cores, memory, features, gres, longest = fields
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
        RESOURCES: countables.names,
    }
    return known(counts | dict(countables.licences) | plain)


def _gres(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, type ("" if none) and number of each of `gpu:a100:4(S:0-1),scratch:2T`."""
    for word in re.sub(r"\([^)]*\)", "", text).split(","):
        name, *details = word.split(":")
        number = _NUMBER.fullmatch(details[-1]) if details else None
        model = details[0] if len(details) > 1 or (details and not number) else ""
        if name:
            yield name.lower(), model, int(number[1]) * 1024 ** MULTIPLES[number[2]] if number else 1


def _words(text: str) -> list[str]:
    return [word for word in text.strip().split(",") if word and word != "(null)"]


def _seconds(text: str) -> int | None:
    """`7-00:00:00`, `30:00`; "infinite" is no limit."""
    limit = _TIME.fullmatch(text)
    return in_seconds(*limit.groups()) if limit else None
