"""What is asked of sbatch: the settings of a cluster, and the words for resources and places."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cigri.drivers import BatchRequest
from cigri.drivers.slurm.node_selection import SlurmConstraint, constraint, select
from cigri.estimates.start_dates import FIRST_DAY, NiceFactor, StartDate, TimeOrigin, nice

RESOURCE = re.compile(r"(gres|license)/([A-Za-z0-9_.@-]+(?::[A-Za-z0-9_.-]+)?)")
SLURM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SORTED = ("licenses", "gres")
KNOWN_RESOURCES = {"gpu": "gres/gpu"}


class SlurmOptions(BaseModel):
    """The settings of one cluster; a besteffort batch takes the besteffort ones where they are given."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_min_length=1)

    config: Annotated[str, Field(pattern="^/")] | None = None
    partition: str | None = None
    besteffort_partition: str | None = None
    qos: str | None = None
    besteffort_qos: str | None = None
    account: str | None = None
    constraint: str | None = None
    nice: int | None = None
    use_nice: bool = False
    time_origin: TimeOrigin = FIRST_DAY
    nice_factor: NiceFactor = 1.0
    reservation: str | None = None
    resources: Mapping[str, Annotated[str, Field(pattern=f"^{RESOURCE.pattern}$")]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _nice_is_said_once(self) -> "SlurmOptions":
        if self.use_nice and self.nice is not None:
            raise ValueError("use_nice makes nice of the date at which a task should start; leave out nice")
        if not self.use_nice and self.model_fields_set & {"time_origin", "nice_factor"}:
            raise ValueError("time_origin and nice_factor go with use_nice = true")
        return self

    def nice_of(self, due: StartDate | None) -> int | None:
        """What sbatch --nice gets: with use_nice by the date at which a task should start, else `nice`; None: none."""
        return nice(due, self.time_origin, self.nice_factor) if self.use_nice and due else self.nice

    @property
    def known(self) -> dict[str, str]:
        """Resources by the names that campaigns give them."""
        return KNOWN_RESOURCES | dict(self.resources)


def find_problems(options: SlurmOptions, request: BatchRequest) -> Iterator[str]:
    """A heterogeneous job is never an array, so that each task of a campaign would be a submission of its own."""
    for words in request.resources.native:
        yield (
            f"slurm takes nodes, cpu, mem and resources in figures and one shape for all nodes of a job, "
            f"not {words!r}; write a campaign for each shape"
        )
    for kind in request.types:
        yield f"slurm has no type of jobs {kind!r}; write a queue, a project or properties"
    for name in request.resources.others:
        if not SLURM_NAME.fullmatch(name):
            yield f"{name!r} cannot be the name of a resource of Slurm; write letters, digits and _"


def placement(options: SlurmOptions, request: BatchRequest, chosen: Mapping[str, str]) -> dict[str, str]:
    """By the long names of sbatch; `chosen` are the user's own options, which replace what is said of the same."""
    least = select(request.requirement)
    words = _resources(options, request, least) | _place(options, request, least) | dict(chosen)
    excluded = [*request.exclude, *([chosen["exclude"]] if "exclude" in chosen else [])]
    return words | ({"exclude": ",".join(excluded)} if excluded else {})


def sorted_by_slurm(
    options: SlurmOptions, request: BatchRequest, words: dict[str, str], chosen: Mapping[str, str]
) -> str:
    """sh text that asks Slurm what is a licence, all else being a generic resource; takes both out of the words.

    It leaves them in the variables `cigri_gres` and `cigri_licenses`; a user's own `chosen` one is not added to.
    """
    placed = {*options.known, *dict(select(request.requirement).gres)}
    others = {name: count for name, count in request.resources.others.items() if name not in placed and count > 0}
    if not others:
        return ""
    lines = [f"cigri_{kind}={shlex.quote(words.pop(kind, ''))}" for kind in SORTED]
    lines.append("cigri_known=$(scontrol -o show licenses) || exit")
    for name, count in others.items():
        licence, gres = (
            ":" if kind in chosen else f"cigri_{kind}=$cigri_{kind}${{cigri_{kind}:+,}}{name}:{count}"
            for kind in SORTED
        )
        lines.append(f'case $cigri_known in *"LicenseName={name} "*) {licence} ;; *) {gres} ;; esac')
    return "\n".join(lines) + "\n"


def selection_words(least: SlurmConstraint) -> dict[str, str]:
    """What a requirement alone asks for."""
    words = {
        "constraint": constraint((), least.clauses),
        "mem": f"{least.mem}M" if least.mem else "",
        "gres": _counted(dict(least.gres), least.model),
    }
    return {name: value for name, value in words.items() if value}


def _resources(options: SlurmOptions, request: BatchRequest, least: SlurmConstraint) -> dict[str, str]:
    """What a job takes: at least the memory and generic resources that its nodes have to have."""
    wish = request.resources
    words = {"nodes": str(wish.nodes), "ntasks-per-node": "1", "cpus-per-task": str(wish.cpu)}
    if mem := max(wish.mem, least.mem):
        words["mem"] = f"{mem}M"
    if wish.tmp > 0:
        words["tmp"] = f"{wish.tmp}M"
    gres, licenses = dict(least.gres), dict[str, int]()
    for name, count in wish.others.items():
        kind, _, own_name = options.known.get(name, f"gres/{name}" if name in gres else "").partition("/")
        if kind:
            kept = gres if kind == "gres" else licenses
            kept[own_name] = max(count, kept.get(own_name, 0))
    counts = {"gres": _counted(gres, least.model), "licenses": _counted(licenses)}
    return words | {option: count for option, count in counts.items() if count}


def _place(options: SlurmOptions, request: BatchRequest, least: SlurmConstraint) -> dict[str, str]:
    """Where, and on whose account."""
    besteffort = request.besteffort
    wishes = {
        "partition": request.queue or (besteffort and options.besteffort_partition) or options.partition,
        "qos": (besteffort and options.besteffort_qos) or options.qos,
        "account": request.project or options.account,
        "constraint": constraint((options.constraint or "", request.properties), least.clauses),
        "nice": options.nice_of(request.due),
        "reservation": options.reservation,
    }
    return {name: str(value) for name, value in wishes.items() if value}


def _counted(counts: Mapping[str, int], gpu_model: str = "") -> str:
    named = {f"gpu:{gpu_model}" if name == "gpu" and gpu_model else name: count for name, count in counts.items()}
    return ",".join(sorted(f"{name}:{count}" for name, count in named.items() if count > 0))
