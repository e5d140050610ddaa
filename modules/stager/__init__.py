"""Sends the inputs of campaigns to clusters, each once to each account; tasks start there when all of them are there.

What takes long goes on while the next modules have their turn, and after this process was killed where it was.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from cigri.errors import AnswerUnreadable, TransportError
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.home import grid_key
from cigri.flow.inputs import CachedPlace, LackedInput, list_lacked, put_cached, put_complete
from cigri.inputs.store import InputLost, InputStore, store_of
from cigri.orders import AskCache, FinishFile, SendPiece
from cigri.program.isolation import isolated_visit
from cigri.program.tools import Report, Tools, summed
from cigri.states import EventLevel
from cigri.text.units import MEGABYTE
from cigri.wrapper.cache import CachedFile

logger = logging.getLogger(__name__)

NOT_SENT = "INPUTS_NOT_SENT"
SHORT_VISIT = 0.2  # seconds that the other modules wait for what is small
PIECE = 4 * MEGABYTE
TURN = 256 * MEGABYTE  # bytes after which it is looked again what is to go first
ASKED_AT_ONCE = 500  # files


def run_once(tools: Tools) -> Report:
    """Visit each cluster on which something is lacked."""
    with tools.database.begin() as conn:
        complete = put_complete(conn)
        lacked = list_lacked(conn)
        clusters = list_clusters(conn, "stager") if lacked else []
        key = grid_key(conn)
    by_cluster: dict[int, list[LackedInput]] = defaultdict(list)
    for needed in lacked:
        by_cluster[needed.cluster_id].append(needed)
    clusters = [cluster for cluster in clusters if cluster.is_enabled and cluster.id in by_cluster]
    visit = isolated_visit(tools, "stager", partial(_visit, tools, key, by_cluster))
    report = summed(tools.gateway.visit(clusters, visit, SHORT_VISIT)) if clusters else Counter[str]()
    report.pop("late clusters", None)  # they go on
    if report["files sent"]:
        with tools.database.begin() as conn:
            complete += put_complete(conn)
    report["campaigns with all their inputs on a cluster"] = complete
    return +report


def _visit(tools: Tools, key: str, lacked: Mapping[int, Sequence[LackedInput]], cluster: ClusterRow) -> Report:
    """Each account in turn, the one with the smallest file first."""
    report: Report = Counter()
    with tools.database.lock(f"cigri.stager.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        by_account: dict[str, list[LackedInput]] = defaultdict(list)
        for needed in lacked[cluster.id]:
            by_account[needed.local_user].append(needed)
        store = store_of(tools.settings)
        for account, wanted in by_account.items():
            subject = f"inputs of {account} on {cluster.name}"
            try:
                report.update(_send(tools, key, store, cluster, account, wanted[:ASKED_AT_ONCE]))
            except (TransportError, AnswerUnreadable, InputLost) as error:
                logger.warning("Cluster %s: inputs of %s were not sent: %s", cluster.name, account, error)
                ids = (wanted[0].campaign_id, cluster.id)
                with tools.database.begin() as conn:
                    put_events(conn, [NewEvent(NOT_SENT, EventLevel.WARNING, subject, str(error), *ids)])
            else:
                with tools.database.begin() as conn:
                    close_events(conn, [NOT_SENT], [subject], "cigri")
    return report


def _send(
    tools: Tools, key: str, store: InputStore, cluster: ClusterRow, account: str, wanted: Sequence[LackedInput]
) -> Report:
    report: Report = Counter()
    files = {needed: CachedFile(needed.sha256, needed.is_packed) for needed in wanted}
    there = tools.gateway.ask(cluster, account, AskCache(key, list(files.values())))
    sizes = dict(zip(wanted, there, strict=True))
    left = TURN
    for needed in wanted:
        if left <= 0:
            break
        held = sizes[needed]
        if held is not None:
            sent = _send_file(tools, key, store, cluster, needed, held, left)
            left -= sent - held
            report["bytes sent"] += max(0, sent - held)
            if sent < needed.size:
                break
            if not tools.gateway.ask(cluster, account, FinishFile(key, files[needed])):
                _put(tools, needed, 0)
                raise AnswerUnreadable(f"what came of {needed.sha256} was something else; it is sent again")
        _put(tools, needed, needed.size, is_there=True)
        report["files sent"] += 1
    return report


def _send_file(
    tools: Tools, key: str, store: InputStore, cluster: ClusterRow, needed: LackedInput, held: int, most: int
) -> int:
    """From where it is, at most so many bytes, or one piece more; give how many of its bytes are there then."""
    file, end = CachedFile(needed.sha256, needed.is_packed), held + most
    with store.open(needed.sha256, needed.size) as content:
        if not needed.size:
            tools.gateway.ask(cluster, needed.local_user, SendPiece(key, file, 0, b""))
        while held < min(needed.size, end):
            content.seek(held)
            piece = content.read(PIECE)
            now = tools.gateway.ask(cluster, needed.local_user, SendPiece(key, file, held, piece))
            if now <= held:
                raise AnswerUnreadable(f"of {needed.sha256} there are {now} bytes, after {held} and more were sent")
            held = now
    _put(tools, needed, held)
    return held


def _put(tools: Tools, needed: LackedInput, size: int, *, is_there: bool = False) -> None:
    place = CachedPlace(needed.cluster_id, needed.local_user, needed.sha256, needed.is_packed)
    with tools.database.begin() as conn:
        put_cached(conn, place, size, is_there=is_there)
