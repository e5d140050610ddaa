"""What is wanted of a cluster, as values: each order knows the type of its answer, and none how it is said.

A gateway takes them. The real one says them in sh (cigri/gateway/shell_rendering.py); the laboratory's obeys them as
they are. `grid` is the key of the grid, below which its files lie on a cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from cigri.drivers import BatchRequest, Capacity, JobControl, RemoteJob
from cigri.resources.nodes import AlikeNodes
from cigri.wrapper import (
    BatchSpec,
    CheckpointRequestFile,
    CheckpointRequestState,
    JobJournal,
    JobKey,
    OutboxContents,
    OutboxReceipt,
)
from cigri.wrapper.batch_operations import StreamName
from cigri.wrapper.input_cache import CachedFile, CacheState
from cigri.wrapper.manifest import ManifestJob
from cigri.wrapper.output_fetching import OutputDirectory, OutputFilePart, RemoteOutputFile
from cigri.wrapper.stream_fetching import FetchedStream, StreamLocation

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClusterRequest(Generic[T]):
    """The answer is a T; two orders that say the same are two."""


class ClusterResponses:
    """To orders that went together: what went wrong with one of them is raised when that one is looked at."""

    def __init__(self, readers: Mapping[ClusterRequest[Any], Callable[[], object]]) -> None:
        self._readers = readers

    def of(self, order: ClusterRequest[T]) -> T:
        """The answer to one of the orders; raise what was wrong with it (UnreadableOutput, ValueError)."""
        return cast("T", self._readers[order]())


@dataclass(frozen=True, eq=False)
class ProbeBatchSystem(ClusterRequest[str]):
    """Does the batch system answer? Its name and version, for a person."""


@dataclass(frozen=True, eq=False)
class ReadFrontEndLoad(ClusterRequest[float | None]):
    """The load per core of the front-end; None where there is no such thing."""


@dataclass(frozen=True, eq=False)
class ReadFrontEndClock(ClusterRequest[int | None]):
    """Whole seconds since 1970 by the clock of the front-end; None where it does not tell."""


@dataclass(frozen=True, eq=False)
class ReadCapacity(ClusterRequest[Capacity]):
    """Of the cluster (`queue` empty), or of one queue."""

    queue: str = ""


@dataclass(frozen=True, eq=False)
class ListNodes(ClusterRequest[list[AlikeNodes] | None]):
    """What nodes there are; None: this kind of batch system cannot tell."""


@dataclass(frozen=True, eq=False)
class ListJobs(ClusterRequest[list[RemoteJob]]):
    """The account's live jobs whose tag starts with `prefix`."""

    prefix: str


@dataclass(frozen=True, eq=False)
class ReadJobHistory(ClusterRequest[list[RemoteJob]]):
    """The end of jobs (tag, index, remote id or "") that are no longer live; those forgotten are not in the list."""

    jobs: Sequence[tuple[str, int, str]]


@dataclass(frozen=True, eq=False)
class SubmitBatch(ClusterRequest[dict[int, str]]):
    """Write a batch and submit it: the remote id of each index.

    SubmissionRefused, ArrayTooLarge: nothing was submitted; UnreadableOutput: nobody knows. ValueError: it can be
    neither written nor submitted, whatever the cluster says.
    """

    plan: BatchSpec
    request: BatchRequest


@dataclass(frozen=True, eq=False)
class CancelJobs(ClusterRequest[None]):
    """Kill these jobs; those that are gone are no error."""

    remote_ids: Sequence[str]


@dataclass(frozen=True, eq=False)
class ControlJobs(ClusterRequest[None]):
    """Do this to these jobs; those that are gone, or are so already, are no error."""

    verb: JobControl
    remote_ids: Sequence[str]


@dataclass(frozen=True, eq=False)
class CollectRecords(ClusterRequest[OutboxContents]):
    """Remove the files that the receipt says are over, and bring what is new in the others."""

    grid: str
    receipt: OutboxReceipt


@dataclass(frozen=True, eq=False)
class ReadJournals(ClusterRequest[dict[JobKey, JobJournal]]):
    """Of every one of these jobs."""

    grid: str
    keys: Sequence[JobKey]


@dataclass(frozen=True, eq=False)
class RevokeJobs(ClusterRequest[set[JobKey]]):
    """Claim the indexes of jobs that have not started: those of the answer never start."""

    grid: str
    keys: Sequence[JobKey]


@dataclass(frozen=True, eq=False)
class VoidBatch(ClusterRequest[bool]):
    """True: none of its jobs has started and none will; False: some did, and the batch stands as it was."""

    grid: str
    campaign_id: int
    batch_id: int


@dataclass(frozen=True, eq=False)
class ReadStreamTail(ClusterRequest[str | None]):
    """The last bytes of an output of a task; None: there is none."""

    grid: str
    key: JobKey
    position: int
    stream: StreamName
    max_bytes: int


@dataclass(frozen=True, eq=False)
class FetchStreams(ClusterRequest[list[FetchedStream]]):
    """Outputs of tasks, whole, as many as have room in `most` bytes, the first ones first; perhaps a part of the next.

    `offset`: of one output alone, what is behind so many bytes of it.
    """

    grid: str
    places: Sequence[StreamLocation]
    offset: int
    most: int


@dataclass(frozen=True, eq=False)
class ReadCacheState(ClusterRequest[CacheState]):
    """Of each of these files, how much of it is there; and how much more would have room."""

    grid: str
    files: Sequence[CachedFile]


@dataclass(frozen=True, eq=False)
class AppendToCache(ClusterRequest[int]):
    """Add a piece to a file that has `offset` bytes: how many it has then. To one that has others nothing is added."""

    grid: str
    file: CachedFile
    offset: int
    content: bytes


@dataclass(frozen=True, eq=False)
class SendFiles(ClusterRequest[set[str]]):
    """Put many small files there at once, an archive of them by their sums: the sums of those that are not whole."""

    grid: str
    sums: Sequence[str]
    content: bytes


@dataclass(frozen=True, eq=False)
class VerifyCachedFile(ClusterRequest[bool]):
    """Verify a file of which all bytes are there, and put it in its place; False: they were others, and are gone."""

    grid: str
    file: CachedFile


@dataclass(frozen=True, eq=False)
class FetchOutputFiles(ClusterRequest[list[OutputFilePart]]):
    """Files of the outputs of tasks, as many as have room in `most` bytes, in their order; perhaps a part of the last.

    `behind`: only those that come after this one.
    """

    grid: str
    parcels: Sequence[OutputDirectory]
    behind: RemoteOutputFile | None
    most: int


@dataclass(frozen=True, eq=False)
class FetchOutputFilePart(ClusterRequest[list[OutputFilePart]]):
    """At most `most` bytes of one of them, from an offset on; nothing where there is no such file."""

    grid: str
    file: RemoteOutputFile
    offset: int
    most: int


@dataclass(frozen=True, eq=False)
class DropParcels(ClusterRequest[None]):
    """Remove these outputs of tasks, which have come; those that are gone are no error."""

    grid: str
    parcels: Sequence[OutputDirectory]


@dataclass(frozen=True, eq=False)
class DropCachedFiles(ClusterRequest[None]):
    """Remove these files from the cache, and what has come of them; those that are gone are no error."""

    grid: str
    files: Sequence[CachedFile]


@dataclass(frozen=True, eq=False)
class RequestCheckpoints(ClusterRequest[list[CheckpointRequestState]]):
    """What became of each wish, in their order."""

    grid: str
    wishes: Sequence[CheckpointRequestFile]


@dataclass(frozen=True, eq=False)
class ReadJobStatus(ClusterRequest[dict[JobKey, dict[str, str]]]):
    """What each of these running jobs says of itself."""

    grid: str
    keys: Sequence[JobKey]


@dataclass(frozen=True, eq=False)
class AnnounceShutdown(ClusterRequest[set[JobKey]]):
    """Tell running jobs when they and their machine will be shut down, in seconds since 1970: those that were told.

    `machine_only`: they will be over by then.
    """

    grid: str
    keys: Sequence[JobKey]
    at: int
    machine_only: bool = False


@dataclass(frozen=True, eq=False)
class RetractShutdown(ClusterRequest[set[JobKey]]):
    """Let these jobs find no shutdown any more, or only none of their machine."""

    grid: str
    keys: Sequence[JobKey]
    machine_only: bool = False


@dataclass(frozen=True, eq=False)
class PurgeCampaign(ClusterRequest[None]):
    """Remove the files of these batches; UnreadableOutput: some may be left."""

    grid: str
    campaign_id: int
    batch_ids: Sequence[int]


@dataclass(frozen=True, eq=False)
class ListBatches(ClusterRequest[dict[int, int]]):
    """The campaign of each batch that lies there."""

    grid: str


@dataclass(frozen=True, eq=False)
class ReadBatchManifests(ClusterRequest[list[ManifestJob]]):
    """What the jobs of these batches (campaign, batch) carry."""

    grid: str
    places: Sequence[tuple[int, int]]
