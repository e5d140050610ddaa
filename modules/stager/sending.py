"""Inputs on their way to one cluster: users in turn, many small files at once, and larger ones piece by piece."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cigri.errors import CigriError, TransportError, UnreadableOutput, is_login_refused
from cigri.flow.cluster_visits import list_refused, put_account_failure
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.input_transfers import CachedInputKey, MissingInput, put_cached, put_many_cached
from cigri.formats.units import MEGABYTE, as_size
from cigri.gateway.bandwidth_limits import PacedLine, piece_of, wait_turn
from cigri.gateway.requests import AppendToCache, ReadCacheState, SendFiles, VerifyCachedFile
from cigri.inputs.store import InputStore, StoredInputMissing, store_of
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel
from cigri.wrapper.cached_bundles import MOST_FILES, bundle
from cigri.wrapper.input_cache import CachedFile
from cigri.wrapper.stream_fetching import TAR_BLOCK

logger = logging.getLogger(__name__)

NOT_SENT, NO_ROOM = "INPUTS_NOT_SENT", "INPUTS_NO_ROOM"
DISK_WORDS = ("No space left", "Disk quota exceeded")
PIECE = 4 * MEGABYTE
LARGEST_PIECE = 32 * MEGABYTE  # of a file over a fast line, where each command is a pause
QUICK_PIECE = 0.5  # seconds; after one that took no longer the next may be twice as large
TURN = 256 * MEGABYTE  # bytes after which it is looked again what is to go first
LONGEST_TURN = 20.0  # seconds, where the line is slow
ASKED_AT_ONCE = 500  # files
SMALL = 65_536  # bytes of a file that travels in a bundle
CAREFUL = 16_384  # bytes of a bundle of files that were cut off before, and of a file in it: larger ones come in pieces
AGEING = 300.0  # seconds in which what waits comes to count half its size


class TransferLine(NamedTuple):
    """What one user's campaigns lack in one cache, in the order in which it is sent."""

    tools: PassContext
    key: str
    store: InputStore
    cluster: ClusterRow
    account: str
    wanted: Sequence[MissingInput]

    @property
    def limits(self) -> list[PacedLine]:
        """Of the way to the cluster, and of the grid's."""
        rates = {self.cluster.name: self.cluster.config.bandwidth, "": self.tools.settings.inputs.bandwidth}
        return [(self.tools.gateway.paces[name], rate * MEGABYTE) for name, rate in rates.items() if rate]


class InsufficientSpace(CigriError):
    """The disk of a cluster has too little left."""


def send_lacked(tools: PassContext, key: str, cluster: ClusterRow, lacked: Sequence[MissingInput]) -> PassReport:
    """What is lacked there: of each user a turn; what goes wrong with one of them holds up no other."""
    report: PassReport = Counter()
    by_user: dict[tuple[str, str], list[MissingInput]] = defaultdict(list)
    for needed in sorted(lacked, key=lambda one: (one.size / (1 + one.waited / AGEING), one.campaign_id, one.sha256)):
        by_user[needed.local_user, needed.grid_user].append(needed)
    store = store_of(tools.settings)
    with tools.database.read() as conn:
        refused = list_refused(conn, cluster)
    for (account, user), wanted in by_user.items():
        if not refused.get(account, True):
            continue
        subject = f"inputs of {user} on {cluster.name}"
        try:
            report.update(_send(TransferLine(tools, key, store, cluster, account, wanted)))
        except (TransportError, UnreadableOutput, StoredInputMissing, InsufficientSpace) as error:
            logger.warning("Cluster %s: inputs of %s were not sent: %s", cluster.name, user, error)
            ids = (wanted[0].campaign_id, cluster.id)
            with tools.database.begin() as conn:
                put_events(conn, [NewEvent(_code_of(error), EventLevel.WARNING, subject, str(error), *ids)])
                if is_login_refused(error):
                    put_account_failure(conn, cluster, account, str(error), is_login_refused=True)
        else:
            with tools.database.begin() as conn:
                close_events(conn, [NOT_SENT, NO_ROOM], [subject], "cigri")
    return report


def _code_of(error: Exception) -> str:
    """What the disk refuses is nobody's mistake on the way."""
    is_full = isinstance(error, InsufficientSpace) or any(words in str(error) for words in DISK_WORDS)
    return NO_ROOM if is_full else NOT_SENT


def _send(line: TransferLine) -> PassReport:
    """What was begun before is asked about first: nobody knows what came of it."""
    report: PassReport = Counter()
    begun = [needed for needed in line.wanted if needed.is_begun][:ASKED_AT_ONCE]
    files = [CachedFile(needed.sha256, needed.is_packed) for needed in begun]
    state = line.tools.gateway.request(line.cluster, line.account, ReadCacheState(line.key, files))
    held = dict(zip(begun, state.held, strict=True))
    there = [needed for needed, size in held.items() if size is None]
    _put_there(line, there)
    report["files sent"] += len(there)
    left = piece_of(TURN, [(pace, LONGEST_TURN * rate) for pace, rate in line.limits])
    lacked = [needed for needed in line.wanted if held.get(needed, 0 if not needed.is_begun else None) is not None]
    lacked, waiting = _with_room(line, lacked, held, state.free)
    for together in _bundles([needed for needed in lacked if _is_small(needed) and held.get(needed, 0) == 0]):
        if left > 0:
            left -= _send_bundle(line, together, report)
    for needed in lacked:
        size = held.get(needed, 0)
        if left > 0 and size is not None and (size or not _is_small(needed)):
            left -= _send_large(line, needed, size, left, report)
    if waiting and state.free is not None:
        size = sum(needed.size for needed in waiting)
        kept = line.tools.settings.inputs.leave_free
        raise InsufficientSpace(
            f"the disk of {line.account} on {line.cluster.name} has {as_size(state.free)} free: {len(waiting)} inputs "
            f"of {as_size(size)} wait; remove files there, or let less stay free (inputs.leave_free, {kept} MB)"
        )
    return report


def _with_room(
    line: TransferLine, lacked: Sequence[MissingInput], held: Mapping[MissingInput, int | None], free: int | None
) -> tuple[list[MissingInput], list[MissingInput]]:
    """Those that the disk can take, and those that it cannot. What was packed is there twice for a moment."""
    if free is None:
        return [*lacked], []
    room = free - line.tools.settings.inputs.leave_free * MEGABYTE
    parts: tuple[list[MissingInput], list[MissingInput]] = ([], [])
    for needed in lacked:
        own = (2 if needed.is_packed else 1) * needed.size - (held.get(needed) or 0)
        has_room = own <= max(0, room)
        room -= own if has_room else 0
        parts[not has_room].append(needed)
    return parts


def _is_small(needed: MissingInput) -> bool:
    return needed.size <= min(SMALL, CAREFUL if needed.is_begun else SMALL) and not needed.is_packed


def _bundles(wanted: Sequence[MissingInput]) -> Iterator[list[MissingInput]]:
    """In one command each; where a bundle was cut off before, the next ones are so small that some get there."""
    together, size = list[MissingInput](), 0
    for needed in sorted(wanted, key=lambda needed: not needed.is_begun):
        own = needed.size + 2 * TAR_BLOCK
        most = CAREFUL if needed.is_begun else PIECE
        if together and (len(together) >= MOST_FILES or size + own > most):
            yield together
            together, size = [], 0
        together.append(needed)
        size += own
    yield from [together] if together else []


def _send_bundle(line: TransferLine, together: Sequence[MissingInput], report: PassReport) -> int:
    """Many small files at once; give how many bytes they have."""
    with line.tools.database.begin() as conn:  # whatever becomes of it, it is looked for the next time
        put_many_cached(conn, {_place(line, needed): 0 for needed in together}, is_there=False)
    archive = bundle((needed.sha256, _content(line, needed)) for needed in together)
    wait_turn(len(archive), line.limits)
    order = SendFiles(line.key, [needed.sha256 for needed in together], archive)
    wrong = line.tools.gateway.request(line.cluster, line.account, order)
    right = [needed for needed in together if needed.sha256 not in wrong]
    _put_there(line, right)
    size = sum(needed.size for needed in together)
    report["bytes sent"] += size
    report["files sent"] += len(right)
    if wrong:
        raise UnreadableOutput(f"what came of {min(wrong)} was something else; it is sent again")
    return size


def _content(line: TransferLine, needed: MissingInput) -> bytes:
    with line.store.open(needed.sha256, needed.size) as content:
        return content.read()


def _send_large(line: TransferLine, needed: MissingInput, held: int, most: int, report: PassReport) -> int:
    """Give how many bytes were sent; when all are there they are verified."""
    sent = _send_pieces(line, needed, held, most)
    report["bytes sent"] += max(0, sent - held)
    if sent < needed.size:
        return sent - held
    file = CachedFile(needed.sha256, needed.is_packed)
    if not line.tools.gateway.request(line.cluster, line.account, VerifyCachedFile(line.key, file)):
        _put(line, needed, 0)
        raise UnreadableOutput(f"what came of {needed.sha256} was something else; it is sent again")
    _put_there(line, [needed])
    report["files sent"] += 1
    return sent - held


def _send_pieces(line: TransferLine, needed: MissingInput, held: int, most: int) -> int:
    """From where it is, at most so many bytes, or one piece more; give how many of its bytes are there then."""
    file, end, at_once = CachedFile(needed.sha256, needed.is_packed), held + most, PIECE
    with line.store.open(needed.sha256, needed.size) as content:
        if not needed.size:
            line.tools.gateway.request(line.cluster, line.account, AppendToCache(line.key, file, 0, b""))
        while held < min(needed.size, end):
            content.seek(held)
            piece = content.read(piece_of(at_once, line.limits))
            wait_turn(len(piece), line.limits)
            started = time.monotonic()
            now = line.tools.gateway.request(line.cluster, line.account, AppendToCache(line.key, file, held, piece))
            if now <= held:
                raise UnreadableOutput(f"of {needed.sha256} there are {now} bytes, after {held} and more were sent")
            held = now
            is_quick = time.monotonic() - started <= QUICK_PIECE
            at_once = min(2 * at_once, LARGEST_PIECE) if is_quick else PIECE
    _put(line, needed, held)
    return held


def _place(line: TransferLine, needed: MissingInput) -> CachedInputKey:
    return CachedInputKey(line.cluster.id, line.account, needed.sha256, needed.is_packed)


def _put(line: TransferLine, needed: MissingInput, size: int) -> None:
    with line.tools.database.begin() as conn:
        put_cached(conn, _place(line, needed), size, is_there=False)


def _put_there(line: TransferLine, files: Sequence[MissingInput]) -> None:
    with line.tools.database.begin() as conn:
        put_many_cached(conn, {_place(line, needed): needed.size for needed in files}, is_there=True)
