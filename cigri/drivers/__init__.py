"""The contract of a driver: what is said to one kind of batch system, and how its answers are understood.

A driver does no input or output. It gives sh text, which runs as the job's owner on the cluster, and reads what it
printed, a ShellResult.
The name of a driver is the name of its file or package here, or an entry point of the group `cigri.drivers`.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from cigri.backend_options import BackendOptionTable, read_options
from cigri.errors import ConfigError, SubmissionFailed
from cigri.estimates.start_dates import StartDate
from cigri.formats.untrusted_text import excerpt
from cigri.requirements import Condition
from cigri.requirements.node_selection import ConditionNotSelectable
from cigri.resources.nodes import AlikeNodes
from cigri.resources.request import ResourceRequest as ResourceRequest  # drivers of other packages take it from here
from cigri.shell.results import ShellResult

LONGEST_REFUSAL = 4000  # characters of what a site's own wrapper of sbatch says
Options = TypeVar("Options", bound=BaseModel)


class RemoteJobState(StrEnum):
    """What a batch system says of a job. UNKNOWN moves nothing: the word is not one we know."""

    WAITING = "waiting"
    HELD = "held"
    RUNNING = "running"
    SUSPENDED = "suspended"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"
    PREEMPTED = "preempted"
    TIMEOUT = "timeout"
    NODE_FAILED = "node_failed"
    OUT_OF_MEMORY = "out_of_memory"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        """Whether the job is over, be it well or not; of UNKNOWN nobody knows, so it is not."""
        return self in FINAL


RemoteState = RemoteJobState  # the name that drivers of other packages import, until 1.0

FINAL = frozenset(
    {
        RemoteJobState.SUCCEEDED,
        RemoteJobState.FAILED,
        RemoteJobState.KILLED,
        RemoteJobState.PREEMPTED,
        RemoteJobState.TIMEOUT,
        RemoteJobState.NODE_FAILED,
        RemoteJobState.OUT_OF_MEMORY,
    }
)


class JobControl(StrEnum):
    """What is done to jobs that live on: waiting ones are held and released, running ones suspended and resumed."""

    HOLD = "hold"
    RELEASE = "release"
    SUSPEND = "suspend"
    RESUME = "resume"


@dataclass(frozen=True)
class BatchRequest:
    """One array of jobs, indexes 1..size. `tag` is its name on the cluster, unique for ever, [a-z0-9.-] only."""

    tag: str
    size: int
    walltime: int  # seconds
    resources: ResourceRequest = field(default_factory=ResourceRequest)
    notice: int = 30  # seconds before the walltime at which the job's shell gets SIGXCPU
    besteffort: bool = True
    queue: str = ""
    project: str = ""
    properties: str = ""
    types: tuple[str, ...] = ()  # the batch system's own types of jobs
    exclude: tuple[str, ...] = ()  # nodes where no job shall run, by the names that jobs there have told
    backend: tuple[str, ...] = ()  # options in the batch system's own spelling that no field above can say
    requirement: Condition | None = None  # what nodes have to satisfy, where those of the queue differ in it
    due: StartDate | None = None  # when its tasks should start; for batch systems that may be told


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """One job of ours as the batch system sees it; times are epoch seconds, None or "" when it does not say.

    `restarts` counts how often the batch system itself has begun the job again. Of a job that waits `reason` is what
    the batch system says of that in its own words, alike for all that wait for the same, `meaning` the same in ours;
    `is_stuck`: what it waits for does not come by itself. `expected`: when the batch system means to start it.
    """

    tag: str
    index: int
    remote_id: str
    state: RemoteJobState
    exit_code: int | None = None
    reason: str = ""
    node: str = ""
    started: float | None = None
    ended: float | None = None
    restarts: int = 0
    meaning: str = ""
    is_stuck: bool = False
    expected: float | None = None


class Capacity(NamedTuple):
    """Cores of the cluster or queue: all, free, used by anybody, and out of order (drained, down)."""

    total: int
    free: int
    used: int
    unavailable: int


class Driver(ABC):
    """One kind of batch system. `options` are the cluster's own settings for it; an unknown one is a ConfigError.

    Each parse_ method raises UnreadableOutput when the answer is not one (failed command, empty, truncated, unknown
    dialect); it never takes that for "no jobs". An unknown word for a state is UNKNOWN.
    """

    prelude: str
    """sh text at the head of each job; sets CIGRI_INDEX, CIGRI_REMOTE_ID and, when cheaply known, CIGRI_NODE.

    It may set `cigri_epoch` to the present milliseconds since 1970, and, where the batch system gives each job an empty
    directory of its own and removes it, CIGRI_SCRATCH to that and CIGRI_NODE_FILE to a file with a line for each node.
    Likewise `cigri_features` to a directory that holds machinefeatures, jobfeatures and jobstatus, empty ones, and
    `cigri_space` to the bytes free in the scratch directory. And `cigri_notice` to the signal, where it is not XCPU,
    that all processes of a job get at the notice; tasks then ignore it, and are asked to end by the wrapper. And
    `cigri_umask` to the umask of tasks, where the job has not got the account's own. And `cigri_peaks` to a file in
    which the batch system notes what memory tasks have, as memory.sh writes it; the job then has no watcher of its own.
    """

    controls: frozenset[JobControl] = frozenset()
    """What `control` can do here."""

    lends_cores: bool = False
    """Whether other jobs get the cores of suspended ones, which then go on once these are free again."""

    backend: BackendOptionTable | None = BackendOptionTable()
    """The options of `gridsub --backend` and of a campaign's `backend`; None: whatever is given there is ignored."""

    end_delay: float = 0.0
    """Seconds for which it may list jobs that have ended by themselves: so long nobody kills what is over."""

    @abstractmethod
    def __init__(self, options: Mapping[str, Any]) -> None: ...

    @property
    def label(self) -> str:
        """Return the batch system's name, as people are told."""
        return type(self).__name__.removesuffix("Driver")

    def problems(self, request: BatchRequest) -> list[str]:
        """Why this batch system can never take such a request, for the user, each with what to write instead.

        In a command for the operator, NAME stands for the cluster.
        """
        name = self.label
        problems = [f"{name} does not understand the resources {words!r}" for words in request.resources.native]
        problems += [f"{name} has no type of jobs {kind!r}" for kind in request.types]
        return problems + self.common_problems(request)

    def common_problems(self, request: BatchRequest) -> list[str]:
        """What is wrong in `backend` and `requirement`, one sentence each, for all drivers alike."""
        return [*self._backend_problems(request), *self._requirement_problems(request)]

    def select(self, requirement: Condition) -> Sequence[str]:
        """Words of a submission that keep jobs from nodes that do not satisfy it; ConditionNotSelectable if there are
        none."""
        raise ConditionNotSelectable(requirement, f"{self.label} chooses no nodes")

    def read_backend(self, words: Sequence[str]) -> dict[str, str]:
        """The value of each option of `backend` by its name; ValueError tells all that is wrong."""
        return read_options(self.backend, words) if self.backend else {}

    def _requirement_problems(self, request: BatchRequest) -> list[str]:
        try:
            if request.requirement is not None:
                self.select(request.requirement)
        except ConditionNotSelectable as problem:
            return [f"requirements: {problem}"]
        return []

    def _backend_problems(self, request: BatchRequest) -> list[str]:
        """What a field can say must stand there."""
        try:
            given = self.read_backend(request.backend)
        except ValueError as problem:
            return [f"backend: {problem}"]
        options = self.backend.options if self.backend else ()
        fielded = [option for option in options if option.name in given and option.field]
        return [f"backend: {option.spelling} stands in {option.field!r} of the campaign" for option in fielded]

    def largest(self) -> Mapping[str, int]:
        """What one job can have at the most of each resource (mem and tmp in MB), as far as the options tell."""
        return {}

    @abstractmethod
    def submit(self, request: BatchRequest) -> str:
        """Submit the executable "$PWD/job" as an array, each with the argument "$PWD"; its own output to nowhere."""

    @abstractmethod
    def parse_submit(self, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        """Remote id of each index 1..size; raise SubmissionRefused when the batch system says no.

        Raise ArrayTooLarge, with the largest there may be, when it would take a smaller one; SubmissionFailed, with all
        words, when the command failed and it is not known whether it submitted: then the queue is asked.
        """

    @abstractmethod
    def status(self, prefix: str) -> str:
        """List the calling user's live jobs whose name starts with `prefix`."""

    @abstractmethod
    def parse_status(self, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        """Our live jobs whose name starts with `prefix`, one entry for each index; none that has ended."""

    @abstractmethod
    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        """Ask for the end of jobs (tag, index, remote id or "" when it is not known) that are no longer live."""

    @abstractmethod
    def parse_history(self, answer: ShellResult) -> list[RemoteJob]:
        """What is known of them, live ones too; a job the batch system has forgotten is simply not in the list."""

    @abstractmethod
    def cancel(self, remote_ids: Sequence[str]) -> str:
        """Kill these jobs, waiting or running; those that are gone already are no error."""

    @abstractmethod
    def parse_cancel(self, answer: ShellResult) -> None:
        """Raise UnreadableOutput unless the request was taken."""

    def control(self, verb: JobControl, remote_ids: Sequence[str]) -> str:
        """Do this to jobs; those that are gone, or are so already, are no error. Only for a verb of `controls`."""
        raise NotImplementedError(f"{verb} of {remote_ids}")

    def parse_control(self, answer: ShellResult) -> None:
        """Raise UnreadableOutput unless the request was taken."""
        raise NotImplementedError(answer)

    @abstractmethod
    def capacity(self, queue: str) -> str:
        """Ask for the cores of the cluster (`queue` empty) or of one queue."""

    @abstractmethod
    def parse_capacity(self, answer: ShellResult) -> Capacity:
        """What `capacity` has asked for; UnreadableOutput also when there is no such queue."""

    def overview(self, prefix: str) -> str:
        """Ask for the capacity of the cluster and the status at once; empty: it costs no less than one by one."""
        return ""

    def split_overview(self, answer: ShellResult) -> tuple[ShellResult, ShellResult]:
        """What `parse_capacity` and `parse_status` read of it."""
        raise NotImplementedError(answer)

    def nodes(self) -> str:
        """Ask what nodes there are, as an ordinary user; empty: this driver cannot tell."""
        return ""

    def parse_nodes(self, answer: ShellResult) -> list[AlikeNodes]:
        """What their batch system says of them that stays as it is: neither load nor free cores nor who is down."""
        raise NotImplementedError(answer)

    @abstractmethod
    def probe(self) -> str:
        """Ask whether the batch system answers, and which version it is."""

    @abstractmethod
    def parse_probe(self, answer: ShellResult) -> str:
        """Name and version, for a person."""


def submission_failed(command: str, status: int, *said: str) -> SubmissionFailed:
    """The error to raise for a submission that failed in other words than the batch system's own refusals."""
    words = "\n".join(text.strip() for text in said if text.strip())
    return SubmissionFailed(command, status, excerpt(words, LONGEST_REFUSAL))


def parse_options(kind: type[Options], driver: str, options: Mapping[str, Any]) -> Options:
    """The options that a cluster gives to a driver; raise ConfigError with every problem."""
    try:
        return kind.model_validate(dict(options))
    except ValidationError as wrong:
        named = ((".".join(map(str, error["loc"])), error["msg"]) for error in wrong.errors())
        problems = (": ".join(filter(None, words)) for words in named)
        raise ConfigError(f"options of driver {driver}: {'; '.join(problems)}") from None


def names() -> list[str]:
    """Names of drivers that can be loaded, in alphabetical order: our own and those of other packages."""
    return sorted(_own() | set(entry_points(group="cigri.drivers").names))


def load(name: str, options: Mapping[str, Any]) -> Driver:
    """The driver of that name; raise ConfigError when there is not exactly one, or its options are wrong."""
    place = find(name)
    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name != place:
            raise  # it is there, and lacks something that it needs
        raise ConfigError(f"driver {name} is said to be in {place}, which is not there") from None
    driver: Driver = module.DRIVER(options)
    return driver


@cache
def find(name: str) -> str:
    """The module of a driver. What is found is not looked for again: that reads what all installed packages say."""
    places = [f"{__name__}.{name}"] if name in _own() else []
    places += [entry.value for entry in entry_points(group="cigri.drivers", name=name)]
    places = list(dict.fromkeys(places))
    if not places:
        raise ConfigError(f"no driver {name!r}; there are: {', '.join(names())}")
    if len(places) > 1:
        raise ConfigError(f"driver {name} is in {' and in '.join(places)}; one of them must have another name")
    return places[0]


def _own() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(__path__)}
