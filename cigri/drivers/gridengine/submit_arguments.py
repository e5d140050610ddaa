"""What is asked of qsub: the settings of a cluster, and the words for resources; no other text is passed on."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cigri.drivers import BatchRequest
from cigri.drivers.gridengine.node_selection import COMPLEX, requests
from cigri.estimates.start_dates import LEAST_PRIORITY, StartDate, priority
from cigri.requirements.node_selection import ConditionNotSelectable

SGE_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
QUEUE = rf"{SGE_NAME}(?:@[A-Za-z0-9_.@-]+)?"
VALUE = r"[A-Za-z0-9_.:*?!|&()\[\]@/+-]+"
REQUEST = re.compile(rf"{SGE_NAME}(?:={VALUE})?(?:,{SGE_NAME}(?:={VALUE})?)*")
HOST = ("h", "hostname")
SHIPPED_MEMORY = "h_vmem"  # bytes, wherever Grid Engine runs
OURS = frozenset({"h_rt", "s_rt", "slots", "queue"})  # said by the walltime, the cores and the queue


class HardAndSoftRequests(NamedTuple):
    """Requests that must be met, those that are only preferred, and queues."""

    hard: tuple[str, ...]
    soft: tuple[str, ...]
    queues: tuple[str, ...]


def read_properties(text: str) -> HardAndSoftRequests:
    """Understand `arch=lx-amd64`, or `-l` and `-q` of qsub with `-hard` and `-soft`; raise ValueError for all else."""
    hard: list[str] = []
    soft: list[str] = []
    queues: list[str] = []
    requests = hard
    words = iter(shlex.split(text))
    for word in words:
        if word in ("-hard", "-soft"):
            requests = hard if word == "-hard" else soft
        elif word == "-q":
            queue = next(words, "")
            if requests is soft or not re.fullmatch(rf"{QUEUE}(?:,{QUEUE})*", queue):
                raise ValueError(f"-q needs names of queues, before -soft, not {queue!r}")
            queues.append(queue)
        else:
            requests.append(_request(next(words, "") if word == "-l" else word))
    return HardAndSoftRequests(tuple(hard), tuple(soft), tuple(queues))


def _request(text: str) -> str:
    if not REQUEST.fullmatch(text):
        raise ValueError(f"{text!r} is no request; write NAME=VALUE,NAME=VALUE, with -soft before those only preferred")
    for name in (part.partition("=")[0] for part in text.split(",")):
        if name in OURS:
            raise ValueError(f"{name} may not be asked for here; write the walltime, the cores or the queue instead")
    return text


def _checked(text: str) -> str:
    read_properties(text)
    return text


Complex = Annotated[str, Field(pattern=rf"^{COMPLEX.pattern}$")]
ResourceRequestField = Annotated[str, AfterValidator(_checked)]


class GridEngineOptions(BaseModel):
    """The settings of one cluster; a besteffort batch takes the besteffort ones where they are given."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_min_length=1)

    settings: Annotated[str, Field(pattern=r"^/")] | None = None
    queue: Annotated[str, Field(pattern=rf"^{QUEUE}$")] | None = None
    besteffort_queue: Annotated[str, Field(pattern=rf"^{QUEUE}$")] | None = None
    properties: ResourceRequestField | None = None
    besteffort_properties: ResourceRequestField | None = None
    project: Annotated[str, Field(pattern=rf"^{SGE_NAME}$")] | None = None
    priority: Annotated[int, Field(ge=LEAST_PRIORITY, le=0)] | None = None
    use_nice: bool = False
    pe: Annotated[str, Field(pattern=rf"^{SGE_NAME}$")] | None = None
    node_pes: Mapping[
        Annotated[str, Field(pattern=r"^[1-9]\d*$")], Annotated[str, Field(pattern=rf"^{SGE_NAME}$")]
    ] = {}
    cores: Annotated[str, Field(pattern=rf"^{SGE_NAME}$")] | None = None
    memory: Annotated[str, Field(pattern=rf"^{SGE_NAME}$")] = SHIPPED_MEMORY
    disk: Annotated[str, Field(pattern=rf"^{SGE_NAME}$")] | None = None
    complexes: Mapping[Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")], Complex] = {}
    accounting: bool = True
    suspends: bool = True

    @model_validator(mode="after")
    def _each_is_said_once(self) -> "GridEngineOptions":
        if self.use_nice and self.priority is not None:
            raise ValueError("use_nice makes a priority of the date at which a task should start; leave out priority")
        if self.cores and self.pe:
            raise ValueError("the cores of a node are those of a parallel environment or a resource: pe or cores")
        return self

    def priority_of(self, due: StartDate | None) -> int | None:
        """What qsub -p gets: with use_nice by the date at which a task should start, else `priority`; None: no -p."""
        return priority(due) if self.use_nice and due else self.priority


def find_problems(options: GridEngineOptions, request: BatchRequest) -> Iterator[str]:
    """Why qsub could not be asked for this."""
    wish = request.resources
    if wish.nodes > 1 and str(wish.cpu) not in options.node_pes:
        widths = ", ".join(options.node_pes) or "none"
        yield (
            f"{wish.nodes} nodes need a parallel environment with {wish.cpu} cores on each node (the cluster's option "
            f"node_pes); there are those with: {widths}; write nodes = 1"
        )
    if wish.nodes == 1 and wish.cpu > 1 and options.pe is None and options.cores is None:
        yield f"{wish.cpu} cores on one node need a parallel environment (the cluster's option pe); write cpu = 1"
    if wish.tmp > 0 and options.disk is None:
        yield (
            "no resource of this cluster sets disk aside for temporary files (the cluster's option disk, "
            "`cigri cluster change NAME --option disk=tmpfs`); leave tmp out: jobs have a TMPDIR without"
        )
    for name in wish.others:
        if not re.fullmatch(SGE_NAME, name) or name in {*OURS, options.cores, options.memory, options.disk}:
            yield f"{name!r} is no resource that can be asked for by name; see qconf -sc for those of the cluster"
    if strange := [node for node in request.exclude if not re.fullmatch(r"[A-Za-z0-9._-]+", node)]:
        yield f"{strange[0]!r} cannot be the name of a node of Grid Engine"
    for field, text, pattern in (("queue", request.queue, QUEUE), ("project", request.project, SGE_NAME)):
        if text and not re.fullmatch(pattern, text):
            yield f"{text!r} cannot be the name of a {field} of Grid Engine"
    try:
        read_properties(request.properties)
        yield from _said_twice(options, request)
    except ValueError as problem:
        yield f"properties: {problem}"


def _said_twice(options: GridEngineOptions, request: BatchRequest) -> Iterator[str]:
    """Of several requests for one complex Grid Engine heeds the last only."""
    if request.requirement is None:
        return
    site = read_properties((request.besteffort and options.besteffort_properties) or options.properties or "")
    asked = [wish for words in (*site.hard, *read_properties(request.properties).hard) for wish in words.split(",")]
    names = {wish.partition("=")[0] for wish in asked} | set(request.resources.others)
    with suppress(ConditionNotSelectable):  # said elsewhere
        for name in (wish.partition("=")[0] for wish in requests(request.requirement, options.complexes)):
            if name in names:
                yield f"{name} is asked for by the requirements already; leave it out of properties and resources"


def placement(options: GridEngineOptions, request: BatchRequest, chosen: Mapping[str, str]) -> list[str]:
    """The words of qsub for what must be met, then for what is preferred; `chosen` are the user's own options."""
    wish, besteffort = request.resources, request.besteffort
    site = read_properties((besteffort and options.besteffort_properties) or options.properties or "")
    user = _overridden(read_properties(request.properties), chosen)
    queue = request.queue or (besteffort and options.besteffort_queue) or options.queue
    words = ["-hard", "-l", ",".join(_limits(options, request))]
    selected = requests(request.requirement, options.complexes) if request.requirement is not None else ()
    for hard in _without((*site.hard, *user.hard, *selected), request.exclude):
        words += ["-l", hard]
    for name in (queue, *site.queues, *user.queues):
        words += ["-q", name] if name else []
    if wish.width > 1 and not _by_resource(options, request):
        pe = options.node_pes[str(wish.cpu)] if wish.nodes > 1 else options.pe
        words += ["-pe", str(pe), str(wish.width)]
    if project := request.project or options.project:
        words += ["-P", project]
    words += _others(options, request, chosen)
    soft = (*site.soft, *user.soft)
    return words + (["-soft"] if soft else []) + [word for wish in soft for word in ("-l", wish)]


def sizes(options: GridEngineOptions, request: BatchRequest) -> tuple[str, str]:
    """sh text that asks which complexes of the site take an amount with a unit, and words of sh with these amounts.

    One of type MEMORY counts bytes, and MB have to be said; any other is a number of MB.
    """
    wish, slots = request.resources, _slots(options, request)
    asked = {options.memory: wish.mem, options.disk: wish.tmp}
    amounts = {name: -(-size // slots) for name, size in asked.items() if name and name != SHIPPED_MEMORY and size > 0}
    if not amounts:
        return "", ""
    lines = ["cigri_complexes=$(qconf -sc) || exit"]
    words = " -hard"
    for number, (name, amount) in enumerate(amounts.items()):
        is_number = f'$1 == "{name}" || $2 == "{name}" {{ print $3 == "MEMORY" ? "M" : "" }}'
        lines.append(f"cigri_unit{number}=$(printf '%s\\n' \"$cigri_complexes\" | awk '{is_number}')")
        words += f' -l "{name}={amount}$cigri_unit{number}"'
    return "\n".join(lines) + "\n", words


def _overridden(user: HardAndSoftRequests, chosen: Mapping[str, str]) -> HardAndSoftRequests:
    hard = (chosen["hard"],) if "hard" in chosen else user.hard
    soft = (chosen["soft"],) if "soft" in chosen else user.soft
    return HardAndSoftRequests(hard, soft, user.queues)


def _others(options: GridEngineOptions, request: BatchRequest, chosen: Mapping[str, str]) -> list[str]:
    level = chosen.get("priority", options.priority_of(request.due))
    words = [] if level is None else ["-p", str(level)]
    for name, option in (("reserve", "-R"), ("job-share", "-js"), ("reservation", "-ar")):
        words += [option, chosen[name]] if name in chosen else []
    return words


def _without(hard: Sequence[str], nodes: Sequence[str]) -> list[str]:
    """On none of these nodes: one request for the host, since of several Grid Engine heeds the last only."""
    if not nodes:
        return list(hard)
    wishes = [wish for words in hard for wish in words.split(",")]
    hosts = [f"({wish.partition('=')[2]})" for wish in wishes if wish.partition("=")[0] in HOST]
    others = [wish for wish in wishes if wish.partition("=")[0] not in HOST]
    return [*others, "h=" + "&".join([*hosts, f"!({'|'.join(nodes)})"])]


def _limits(options: GridEngineOptions, request: BatchRequest) -> list[str]:
    """Grid Engine counts memory and all else by slot."""
    wish = request.resources
    limits = [f"h_rt={request.walltime}"]
    if 0 < request.notice < request.walltime:
        limits.append(f"s_rt={request.walltime - request.notice}")
    slots = _slots(options, request)
    if _by_resource(options, request):
        limits.append(f"{options.cores}={wish.cpu}")
    if wish.mem > 0 and options.memory == SHIPPED_MEMORY:
        limits.append(f"{SHIPPED_MEMORY}={-(-wish.mem // slots)}M")
    return limits + [f"{name}={amount}" for name, amount in sorted(wish.others.items()) if amount > 0]


def _slots(options: GridEngineOptions, request: BatchRequest) -> int:
    """Of each node."""
    return 1 if _by_resource(options, request) else request.resources.cpu


def _by_resource(options: GridEngineOptions, request: BatchRequest) -> bool:
    """Its cores are a resource of one slot."""
    return options.cores is not None and request.resources.nodes == 1
