"""The nodes of a Grid Engine cluster: the hosts of its queues, and the complex values given to both.

What hosts report of themselves changes with their load, and a consumable with the jobs; what was configured does not.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cigri.drivers.gridengine.node_selection import COMPLEX
from cigri.drivers.gridengine.output_parsing import read_xml, unreadable
from cigri.errors import UnreadableOutput
from cigri.formats.units import MEGABYTE, MULTIPLES, in_seconds
from cigri.requirements.value_kinds import PropertyValue
from cigri.resources.nodes import AlikeNodes, alike, known
from cigri.shell.results import ShellResult

END_OF_SGE_ANSWER = "cigri-sge-end"
# Four parts: the types of complexes, the queues, what was given to hosts, and which host has which queues.
QUESTIONS = f"""\
qconf -sc && echo {END_OF_SGE_ANSWER} && qconf -sq '*' && echo {END_OF_SGE_ANSWER} &&
for host in global $(qconf -sel); do
    qconf -se "$host" || exit
done && echo {END_OF_SGE_ANSWER} && qhost -q -xml && echo {END_OF_SGE_ANSWER}"""

GPU_NAMES = ("gpu", "gpus", "ngpus")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT]?)")
_NONE = ("NONE", "INFINITY", "-", "")


class ComplexConfiguration(NamedTuple):
    """Property and type of each complex; the fields of each queue, and of each host, by name."""

    types: Mapping[str, tuple[str, str]]
    queues: Mapping[str, Mapping[str, str]]
    hosts: Mapping[str, Mapping[str, str]]


def read_nodes(answer: ShellResult, own: Collection[str], complexes: Mapping[str, str]) -> list[AlikeNodes]:
    """By queue; jobs that name none go to `own`, or to any. `complexes`: what properties are called there."""
    *parts, after_end = answer.out.split(f"{END_OF_SGE_ANSWER}\n")
    if answer.status != 0 or len(parts) != 4 or after_end:
        raise unreadable("qconf or qhost", answer)
    types, queues, hosts, table = parts
    spelled = {name: COMPLEX.fullmatch(text) for name, text in complexes.items()}
    names = {spelling[1]: name for name, spelling in spelled.items() if spelling and spelling[1]}
    configuration = ComplexConfiguration(_types(types, names), _blocks(queues, "qname"), _blocks(hosts, "hostname"))
    if not configuration.types or not configuration.queues or not configuration.hosts:
        raise unreadable("qconf", answer)
    classes = []
    for host in read_xml("qhost", answer, table, "qhost").iter("host"):
        facts = {value.get("name", ""): value.text or "" for value in host.iter("hostvalue")}
        for queue in host.iter("queue"):
            values = {value.get("name", ""): value.text or "" for value in queue.iter("queuevalue")}
            name, slots = queue.get("name", ""), values.get("slots", "")
            if not slots.isdigit() or name not in configuration.queues:
                raise UnreadableOutput(f"qhost does not tell the slots of queue {name}, or qconf does not know it")
            if int(slots) and facts.get("num_proc", "-") != "-":  # of a host that is down nothing is known
                nodes = AlikeNodes(_properties(configuration, host.get("name", ""), name, int(slots), facts), 1, name)
                classes += [nodes, nodes._replace(queue="")] if name in own or not own else [nodes]
    return alike(classes)


def _properties(
    configuration: ComplexConfiguration, host: str, queue: str, slots: int, facts: Mapping[str, str]
) -> dict[str, PropertyValue]:
    fields = configuration.queues[queue]
    given: dict[str, PropertyValue | None] = {}
    for source in (configuration.hosts.get("global", {}), configuration.hosts.get(host, {}), fields):
        given |= _complexes(source.get("complex_values", ""), configuration.types)
    limit = given.pop("slots", None)
    gpus = next((given[name] for name in GPU_NAMES if isinstance(given.get(name), int)), None)
    memory = _size(facts.get("mem_total", ""))
    plain: dict[str, PropertyValue | None] = {
        "cores": min(slots, limit) if isinstance(limit, int) else slots,
        "memory": memory // MEGABYTE * MEGABYTE if memory else None,
        "gpus": gpus,
        "platform": facts.get("arch_string") or None,
        "max_walltime": _seconds(fields.get("h_rt", "").partition(",")[0]),
    }
    return known(given | plain)


def _types(text: str, names: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Property and type of each complex, by its name and its short name; `names` are properties by their complexes."""
    types = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 8 and not line.startswith("#"):
            types[words[0]] = types[words[1]] = names.get(words[0], words[0]), words[2]
    return types


def _blocks(text: str, first: str) -> dict[str, dict[str, str]]:
    """The fields of each thing; each begins with the field `first`, and a line may go on in the next one."""
    blocks: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        name, _, value = line.partition(" ")
        if name == first:
            fields = blocks.setdefault(value.strip(), {})
        fields[name] = value.strip()
    return blocks


def _complexes(text: str, types: Mapping[str, tuple[str, str]]) -> dict[str, PropertyValue | None]:
    """`licence=2,big=TRUE`; what hosts of their own have in brackets is left out, as it is told of each host anyway."""
    return dict(_pairs(re.sub(r",?\[[^\]]*\]", "", text).split(","), types))


def _pairs(words: Sequence[str], types: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, PropertyValue | None]]:
    for word in words:
        name, equals, value = word.strip().partition("=")
        if equals:
            full, kind = types.get(name, (name, "STRING"))
            yield full, _value(value, kind)


def _value(text: str, kind: str) -> PropertyValue | None:
    match kind:
        case "INT" | "DOUBLE":
            number = _number(text)
            return int(number) if number is not None and number == int(number) else number
        case "BOOL":
            return text.upper() in ("TRUE", "1")
        case "MEMORY":
            return _size(text)
        case "TIME":
            return _seconds(text)
        case _:
            return None if text in _NONE else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _size(text: str) -> int | None:
    """`23.5G` in bytes: capitals are powers of 1024, small letters of 1000."""
    amount = _MEMORY.fullmatch(text)
    if amount is None:
        return None
    base = 1024 if amount[2].isupper() else 1000
    return int(float(amount[1]) * base ** MULTIPLES[amount[2].upper()])


def _seconds(text: str) -> int | None:
    """`24:00:00`, `:30:` or seconds; INFINITY is no limit."""
    if text in _NONE or not re.fullmatch(r"\d*(:\d*:\d*)?", text):
        return None
    hours, minutes, seconds = ([*text.split(":"), "0", "0"] if ":" in text else ["0", "0", text])[:3]
    return in_seconds(None, hours, minutes, seconds)
