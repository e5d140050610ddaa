"""Orders as sh text, and their answers read: what is asked of a batch system by its driver, all else by the wrapper."""

import re
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from cigri.drivers import Driver
from cigri.errors import SubmissionRefused
from cigri.flow.clusters import ClusterRow
from cigri.formats.untrusted_text import excerpt
from cigri.gateway import requests
from cigri.gateway.requests import ClusterRequest, ClusterResponses
from cigri.settings.cluster_config import ClusterConfig
from cigri.shell.results import RawShellResult, ScriptBundle, ShellResult
from cigri.wrapper import (
    ask_checkpoints,
    collect_script,
    journal,
    parse_checkpoints,
    parse_collect,
    parse_journal,
    parse_revoked,
    parse_tail,
    parse_void,
    purge_campaign,
    revoke,
    tail,
    void_batch,
    write_batch,
)
from cigri.wrapper.batch_operations import parse_purged
from cigri.wrapper.cached_bundles import parse_taken, take_files
from cigri.wrapper.input_cache import (
    ask_cache,
    drop_files,
    finish_file,
    parse_cached,
    parse_dropped,
    parse_finished,
    parse_held,
    take_piece,
)
from cigri.wrapper.job_status_files import announce, parse_status_files, parse_told, read_status, withdraw
from cigri.wrapper.manifest import list_batches, parse_batches, parse_jobs, read_batches
from cigri.wrapper.output_fetching import drop_parcels, fetch_files, fetch_part, parse_files, parse_rest
from cigri.wrapper.output_fetching import parse_dropped as parse_parcels_dropped
from cigri.wrapper.stream_fetching import fetch_outputs, parse_outputs

# The load of a front-end, as Linux tells it, and its clock.

FRONT_END_CLOCK = "date +%s\n"
LOAD = 'read -r cigri_load cigri_skip </proc/loadavg && echo "$cigri_load $(getconf _NPROCESSORS_ONLN)"\n'


def parse_load(answer: ShellResult) -> float | None:
    """The load per core that `LOAD` tells; None where there is no such thing."""
    load = re.fullmatch(r"(\d+(?:\.\d+)?) ([1-9]\d*)\n*", answer.out)
    return float(load[1]) / int(load[2]) if load else None


def parse_clock(answer: ShellResult) -> int | None:
    """The seconds that `FRONT_END_CLOCK` tells; None where they are none."""
    seconds = re.fullmatch(r"\d{1,12}\n*", answer.out)
    return int(seconds[0]) if seconds else None


T = TypeVar("T")

NOT_WRITTEN = (73, 74)  # exit statuses of write_batch


@dataclass(frozen=True, eq=False)
class RenderedRequest(ClusterRequest[T]):
    """An order put into words, and how its answer is read; no text: there is nothing to be asked."""

    text: str
    read: Callable[[Any], T]
    """Of a ShellResult, or, with `is_raw`, of a RawShellResult."""
    is_raw: bool = False
    sent: bytes = b""
    """What stands on its standard input, with `is_raw`."""


def grid_directory(config: ClusterConfig, grid: str) -> str:
    """The directory of a grid on the cluster, as a word of sh."""
    home = "" if config.directory.startswith("/") else '"$HOME"/'
    return f"{home}{shlex.quote(config.directory)}/{shlex.quote(grid)}"


def render(order: ClusterRequest[T], cluster: ClusterRow, driver: Driver) -> RenderedRequest[T]:
    """The order in sh for this cluster; raise ValueError where it cannot be said."""
    said = (
        order
        if isinstance(order, RenderedRequest)
        else _to_batch_system(order, driver) or _to_wrapper(order, cluster, driver)
    )
    return cast("RenderedRequest[T]", said)


def render_all(
    wanted: Sequence[ClusterRequest[Any]], cluster: ClusterRow, driver: Driver
) -> RenderedRequest[ClusterResponses]:
    """Several orders in one remote command, in which capacity and jobs are one question where that costs less."""
    said = {str(place): render(order, cluster, driver) for place, order in enumerate(wanted)}
    assert not any(part.is_raw for part in said.values()), "files go alone: their bytes would be taken for text"
    texts = {name: part.text for name, part in said.items()}
    first, second, overview = _overview(wanted, driver)
    if overview:
        texts[first] = overview
        del texts[second]
    bundle = ScriptBundle(texts)

    def read(answer: ShellResult) -> ClusterResponses:
        parts = bundle.unpack(answer)
        if overview:
            parts[first], parts[second] = driver.split_overview(parts[first])
        readers = {name: partial(part.read, parts[name]) for name, part in said.items()}
        return ClusterResponses(dict(zip(wanted, readers.values(), strict=True)))

    return RenderedRequest(bundle.script, read)


def _overview(wanted: Sequence[ClusterRequest[Any]], driver: Driver) -> tuple[str, str, str]:
    """The parts for capacity and jobs, and what is said instead of them; empty: nothing."""
    named = [(str(place), order) for place, order in enumerate(wanted)]
    capacities = [name for name, order in named if isinstance(order, requests.ReadCapacity) and not order.queue]
    listings = [(name, order.prefix) for name, order in named if isinstance(order, requests.ListJobs)]
    if not (capacities and listings):
        return "", "", ""
    jobs, prefix = listings[0]
    return capacities[0], jobs, driver.overview(prefix)


def _as(order: ClusterRequest[T], text: str, read: Callable[[ShellResult], T]) -> RenderedRequest[T]:
    """What is read has the type of the order's answer."""
    return RenderedRequest(text, read)


def _as_raw(order: ClusterRequest[T], text: str, read: Callable[[RawShellResult], T]) -> RenderedRequest[T]:
    """The same of an answer that is read as bytes."""
    return RenderedRequest(text, read, is_raw=True)


def _to_batch_system(order: object, driver: Driver) -> object:
    match order:
        case requests.ProbeBatchSystem():
            return _as(order, driver.probe(), driver.parse_probe)
        case requests.ReadCapacity(queue):
            return _as(order, driver.capacity(queue), driver.parse_capacity)
        case requests.ListNodes():
            text = driver.nodes()
            return _as(order, text, lambda answer: driver.parse_nodes(answer) if text else None)
        case requests.ListJobs(prefix):
            return _as(order, driver.status(prefix), lambda answer: driver.parse_status(answer, prefix))
        case requests.ReadJobHistory(jobs):
            return _as(order, driver.history(jobs), driver.parse_history)
        case requests.CancelJobs(remote_ids):
            return _as(order, driver.cancel(remote_ids), driver.parse_cancel)
        case requests.ControlJobs(verb, remote_ids):
            return _as(order, driver.control(verb, remote_ids), driver.parse_control)
    return None


def _to_wrapper(order: object, cluster: ClusterRow, driver: Driver) -> object:
    base = partial(grid_directory, cluster.config)
    match order:
        case requests.SubmitBatch():
            return _submission(order, base(order.plan.grid_key), cluster, driver)
        case requests.ReadFrontEndLoad():
            return _as(order, LOAD, parse_load)
        case requests.ReadFrontEndClock():
            return _as(order, FRONT_END_CLOCK, parse_clock)
        case requests.CollectRecords(grid, receipt):
            return _as(order, collect_script(base(grid), receipt), parse_collect)
        case requests.ReadJournals(grid, keys):
            return _as(order, journal(base(grid), keys), lambda answer: parse_journal(answer, keys))
        case requests.RevokeJobs(grid, keys):
            return _as(order, revoke(base(grid), keys), lambda answer: parse_revoked(answer, keys))
        case requests.VoidBatch(grid, campaign_id, batch_id):
            return _as(order, void_batch(base(grid), campaign_id, batch_id), parse_void)
        case requests.ReadStreamTail(grid, key, position, stream, max_bytes):
            place = (key.campaign_id, key.batch_id, key.index, position, stream)
            return _as(order, tail(base(grid), *place, max_bytes), parse_tail)
        case requests.FetchStreams(grid, places, offset, most):
            return _as_raw(order, fetch_outputs(base(grid), places, offset, most), partial(parse_outputs, places))
        case requests.FetchOutputFiles(grid, parcels, behind, most):
            return _as_raw(order, fetch_files(base(grid), parcels, behind, most), partial(parse_files, parcels))
        case requests.FetchOutputFilePart(grid, file, offset, most):
            return _as_raw(order, fetch_part(base(grid), file, offset, most), partial(parse_rest, file))
        case requests.ReadCacheState(grid, files):
            return _as(order, ask_cache(base(grid), files), lambda answer: parse_cached(files, answer))
        case requests.AppendToCache(grid, file, offset, content):
            text = take_piece(base(grid), file, offset, len(content))
            return RenderedRequest(text, lambda answer: parse_held(answer.as_text), is_raw=True, sent=content)
        case requests.SendFiles(grid, sums, content):
            return RenderedRequest(
                take_files(base(grid), secrets.token_hex(8)),
                lambda answer: parse_taken(sums, answer.as_text),
                is_raw=True,
                sent=content,
            )
        case requests.VerifyCachedFile(grid, file):
            return _as(order, finish_file(base(grid), file), parse_finished)
        case requests.DropParcels(grid, parcels):
            return _as(order, drop_parcels(base(grid), parcels), parse_parcels_dropped)
        case requests.DropCachedFiles(grid, files):
            return _as(order, drop_files(base(grid), files), parse_dropped)
        case requests.RequestCheckpoints(grid, wishes):
            return _as(order, ask_checkpoints(base(grid), wishes), lambda answer: parse_checkpoints(answer, wishes))
        case requests.ReadJobStatus(grid, keys):
            return _as(order, read_status(base(grid), keys), lambda answer: parse_status_files(answer, keys))
        case requests.AnnounceShutdown(grid, keys, at, machine_only):
            return _as(order, announce(base(grid), keys, at, machine_only=machine_only), parse_told)
        case requests.RetractShutdown(grid, keys, machine_only):
            return _as(order, withdraw(base(grid), keys, machine_only=machine_only), parse_told)
        case requests.PurgeCampaign(grid, campaign_id, batch_ids):
            return _as(order, purge_campaign(base(grid), campaign_id, batch_ids), parse_purged)
        case requests.ListBatches(grid):
            return _as(order, list_batches(base(grid)), parse_batches)
        case requests.ReadBatchManifests(grid, places):
            return _as(order, read_batches(base(grid), places), parse_jobs)
    raise TypeError(f"nobody has words for {order!r}")


def _submission(
    order: requests.SubmitBatch, base: str, cluster: ClusterRow, driver: Driver
) -> RenderedRequest[dict[int, str]]:
    if problems := driver.problems(order.request):
        raise ValueError("; ".join(problems).replace(" NAME ", f" {cluster.name} "))

    def read(answer: ShellResult) -> dict[int, str]:
        if answer.status in NOT_WRITTEN:
            raise SubmissionRefused(f"the batch could not be written to the cluster: {excerpt(answer.err)}")
        return driver.parse_submit(answer, order.request)

    return RenderedRequest(write_batch(order.plan, base, driver.prelude) + driver.submit(order.request), read)
