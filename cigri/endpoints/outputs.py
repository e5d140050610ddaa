"""Outputs of tasks, wherever they ran: what there is of them, and the files themselves. They are their owner's."""

from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from cigri.api_models.files import (
    OutputFileContent,
    OutputFileContents,
    StreamContent,
    StreamContents,
    TaskOutputSummary,
)
from cigri.endpoints import Access, DeferredResponse, cluster_read_endpoint, read_endpoint, with_settings
from cigri.endpoints.campaigns import find_campaign
from cigri.endpoints.jobs import STREAMS
from cigri.endpoints.paging import PageLimit, Pagination, require_limit
from cigri.endpoints.parameters import FromZero, about
from cigri.errors import NotFound, UsageError
from cigri.formats.id_ranges import read_ids
from cigri.formats.units import as_instant
from cigri.formats.untrusted_text import leads_below
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.clusters import ClusterRow
    from cigri.flow.views.outputs import OutputLocation
    from cigri.gateway.contract import ClusterGateway
    from cigri.settings.sections import Settings

MOST_FETCHED = 2**21  # bytes of one answer, with what tells the files apart
FETCHED_AT_ONCE = 500  # whose outputs are asked for at once
WRITTEN_AT_ONCE = 1000  # tasks
LONGEST_TASK_NUMBER = 19  # digits


@read_endpoint("/campaigns/{campaign_id}/written", Access.OWNER, Pagination("after", "number"))
def written(
    conn: "Connection",
    caller: Caller,
    *,
    campaign_id: int,
    numbers: str = "",
    failed: bool = False,
    after: int = -1,
    limit: PageLimit = WRITTEN_AT_ONCE,
) -> list[TaskOutputSummary]:
    """Tasks of a campaign of yours that have ended, in the order of their numbers, and where their outputs lie."""
    from cigri.flow.views.outputs import list_placed

    require_limit(limit)
    _require_there(conn, caller, campaign_id)
    chosen = _read_numbers(numbers) if numbers else None
    placed = list_placed(conn, campaign_id, chosen, failed=failed, after=after, limit=limit)
    return [_written(task) for task in placed]


@cluster_read_endpoint("/campaigns/{campaign_id}/outputs", Access.OWNER, StreamContents)
def fetch_outputs(
    conn: "Connection", caller: Caller, *, campaign_id: int, numbers: str, streams: list[str], offset: FromZero = 0
) -> "StreamContents | DeferredResponse[StreamContents]":
    """Outputs of ended tasks of one cluster, as many as an answer holds; of one output alone, from an offset on."""
    from cigri.gateway.requests import FetchStreams
    from cigri.wrapper import JobKey
    from cigri.wrapper.stream_fetching import StreamLocation

    _require_there(conn, caller, campaign_id)
    chosen, wanted = _read_numbers(numbers), [STREAMS[stream] for stream in STREAMS if stream in streams]
    if not streams or not STREAMS.keys() >= set(streams):
        raise UsageError(f"streams: {', '.join(streams) or 'none'}; there are out and err", "streams")
    if offset < 0 or (offset and len(chosen) * len(wanted) > 1):
        raise UsageError("offset: it is from 0 on, of one output of one task", "offset")
    placed, cluster, key = _at_one_place(conn, campaign_id, chosen)
    account = placed[0].local_user
    places = {
        StreamLocation(JobKey(campaign_id, task.batch_id, task.array_index), task.position, stream): task
        for task in placed
        for stream in wanted
    }

    def bring(gateway: "ClusterGateway") -> StreamContents:
        pieces = gateway.request(cluster, account, FetchStreams(key, list(places), offset, MOST_FETCHED))
        told = [
            StreamContent(task.number, task.attempt, place.stream, size, b64encode(content).decode())
            for place, size, content in pieces
            for task in [places[place]]
        ]
        return StreamContents(told)

    return DeferredResponse(cluster.name, bring)


@cluster_read_endpoint("/campaigns/{campaign_id}/files", Access.OWNER, OutputFileContents)
@with_settings
def fetch_files(
    conn: "Connection",
    caller: Caller,
    settings: "Settings",
    *,
    campaign_id: int,
    numbers: str,
    file: str = "",
    offset: FromZero | None = None,
) -> "OutputFileContents | DeferredResponse[OutputFileContents]":
    """Files that ended tasks of one cluster have brought, behind one of them; or that one, from an offset on."""
    from cigri.gateway.requests import FetchOutputFilePart, FetchOutputFiles
    from cigri.wrapper import JobKey
    from cigri.wrapper.output_fetching import OutputDirectory, RemoteOutputFile

    _require_there(conn, caller, campaign_id)
    placed, cluster, key = _at_one_place(conn, campaign_id, _read_numbers(numbers))
    account = placed[0].local_user
    if _is_stored(placed[0]):
        return _from_store(settings, campaign_id, placed, file, offset)
    parcels = {OutputDirectory(JobKey(campaign_id, t.batch_id, t.array_index), t.position): t for t in placed}
    known: RemoteOutputFile | None = None
    if file:
        number, path = _read_file(file)
        here = [parcel for parcel, task in parcels.items() if task.number == number]
        if not here:
            raise UsageError(f"file: task {number} is none of the numbers {numbers}", "file")
        known = RemoteOutputFile(here[0], path)
    if offset is not None and (known is None or offset < 0):
        raise UsageError("offset: it is from 0 on, of a file", "offset")

    def bring(gateway: "ClusterGateway") -> OutputFileContents:
        if known is not None and offset is not None:
            pieces = gateway.request(cluster, account, FetchOutputFilePart(key, known, offset, MOST_FETCHED))
        else:
            pieces = gateway.request(cluster, account, FetchOutputFiles(key, list(parcels), known, MOST_FETCHED))
        told = [
            OutputFileContent(task.number, task.attempt, quote(piece.path), size, b64encode(content).decode())
            for piece, size, content in pieces
            for task in [parcels[piece.parcel]]
        ]
        return OutputFileContents(told)

    return DeferredResponse(cluster.name, bring)


def _read_numbers(numbers: str) -> list[int]:
    with about("numbers"):
        return read_ids(numbers)


def _from_store(
    settings: "Settings", campaign_id: int, placed: "list[OutputLocation]", file: str, offset: int | None
) -> OutputFileContents:
    from cigri.outputs.brought import OutputFile
    from cigri.outputs.store import stored_outputs
    from cigri.outputs.store_reader import read_stored, read_stored_rest

    place, attempts = stored_outputs(settings, campaign_id), {task.number: task.attempt for task in placed}
    known: OutputFile | None = None
    if file:
        number, path = _read_file(file)
        if number not in attempts:
            raise UsageError(f"file: task {number} is none of the numbers that are asked for", "file")
        known = OutputFile(number, attempts[number], path)
    if offset is not None and (known is None or offset < 0):
        raise UsageError("offset: it is from 0 on, of a file", "offset")
    if known is not None and offset is not None:
        told = read_stored_rest(place, known, offset, MOST_FETCHED)
    else:
        told = read_stored(place, [*attempts.items()], known, MOST_FETCHED)
    return OutputFileContents(
        [OutputFileContent(t.number, t.attempt, quote(t.path), t.size, b64encode(t.content).decode()) for t in told]
    )


def _written(task: "OutputLocation") -> TaskOutputSummary:
    from cigri.outputs.destination import read_destination

    place = None
    if task.is_delivered and task.removed_at is not None and task.to:
        place = str(read_destination(task.to).place(task.number))
    counted = (task.number, task.attempt, task.state, task.cluster, task.files, task.bytes)
    return TaskOutputSummary(*counted, _is_stored(task), place, task.mode, task.group)


def _is_stored(task: "OutputLocation") -> bool:
    return task.collected_at is not None and not task.is_delivered


def _read_file(text: str) -> tuple[int, bytes]:
    """Of number/path."""
    number, _, quoted = text.partition("/")
    path = unquote_to_bytes(quoted)
    if not (number.isascii() and number.isdigit() and len(number) < LONGEST_TASK_NUMBER and leads_below(path)):
        raise UsageError(f"file: {text[:60]!r} is no number/path", "file")
    return int(number), path


def _at_one_place(
    conn: "Connection", campaign_id: int, numbers: list[int]
) -> "tuple[list[OutputLocation], ClusterRow, str]":
    """Where these tasks ran, which is one cluster and account, and the grid's key there."""
    from cigri.flow.clusters import find_cluster
    from cigri.flow.grid_identity import grid_key
    from cigri.flow.views.outputs import list_placed

    if not 0 < len(numbers) <= FETCHED_AT_ONCE:
        raise UsageError(f"these are {len(numbers)} tasks; 1 to {FETCHED_AT_ONCE} are asked for at once", "numbers")
    placed = list_placed(conn, campaign_id, numbers, failed=False, after=-1, limit=FETCHED_AT_ONCE)
    if len(placed) < len(numbers):
        missing = sorted(set(numbers) - {task.number for task in placed})
        raise NotFound(f"task {missing[0]} of campaign {campaign_id} has not ended, or never ran, or is none")
    homes = {(task.cluster, task.local_user) for task in placed}
    if len({_is_stored(task) for task in placed}) > 1:
        raise UsageError("some of these tasks have been collected and some have not: call it again", "numbers")
    if len(homes) > 1 and not _is_stored(placed[0]):
        raise UsageError(f"these tasks ran in {len(homes)} places; ask for those of one cluster at a time", "numbers")
    cluster = find_cluster(conn, placed[0].cluster)
    assert cluster is not None  # the job's row refers to it
    return placed, cluster, grid_key(conn)


def _require_there(conn: "Connection", caller: Caller, campaign_id: int) -> None:
    from cigri.flow.views.outputs import find_purged

    if not caller.sees(find_campaign(conn, campaign_id).user):
        raise NotFound(f"you have no campaign {campaign_id}; `gridstat -u {caller.user}` lists yours")
    if (purged := find_purged(conn, campaign_id)) is not None:
        raise NotFound(f"the files of campaign {campaign_id} were removed from the clusters on {as_instant(purged)}")
