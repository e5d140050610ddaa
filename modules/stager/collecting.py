"""Outputs of tasks come from a cluster, each task's whole or not at all; what has come may be removed there."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing

from cigri.errors import CigriError, TransportError
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.parcels import (
    AwaitedParcel,
    CollectingCampaign,
    is_all_collected,
    list_awaited,
    put_collected,
    put_lost,
    put_tried,
)
from cigri.formats.id_ranges import as_ranges
from cigri.formats.units import MEGABYTE
from cigri.identity.file_sharing import sharing_of
from cigri.outputs.assembling import OutputAssembler
from cigri.outputs.downloading import OutputDownloader, PendingTaskFiles, TaskWithOutputs
from cigri.outputs.store import destination_of
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel
from modules.stager.abandoned_outputs import is_larger, tell_lost
from modules.stager.cluster_files import ClusterFiles, TransferTurn, TransferTurnEnded
from modules.stager.store_room import StoreRoom

logger = logging.getLogger(__name__)

NOT_COLLECTED = "OUTPUTS_NOT_COLLECTED"
TURN_OF_CLUSTER = 256 * MEGABYTE  # bytes after which others have their turn
TURN_OF_CAMPAIGN = 64 * MEGABYTE
PARCELS_AT_ONCE = 500  # tasks
TRIES = 3  # after so many a parcel that is not all there is given up
SHOWN_IN_THE_WAY = 10


def collect_outputs(
    tools: PassContext, key: str, shares: Sequence[CollectingCampaign], cluster: ClusterRow
) -> PassReport:
    """Each campaign in turn; one that cannot have its outputs leaves the others alone."""
    report: PassReport = Counter()
    for share in shares:
        if report["bytes collected"] >= TURN_OF_CLUSTER:
            break
        subject = f"outputs of campaign {share.campaign_id} on {cluster.name}"
        try:
            report.update(_Collector(tools, key, cluster, share).collect())
        except (CigriError, OSError) as error:
            logger.warning("Cluster %s: outputs of campaign %s: %s", cluster.name, share.campaign_id, error)
            ids = (share.campaign_id, share.cluster_id)
            with tools.database.begin() as conn:
                put_events(conn, [NewEvent(NOT_COLLECTED, EventLevel.WARNING, subject, str(error), *ids)])
            if isinstance(error, TransportError):
                break
        else:
            with tools.database.begin() as conn:
                close_events(conn, [NOT_COLLECTED], [subject], "cigri")
    return report


class _Collector:
    """Of one campaign on one cluster."""

    def __init__(self, tools: PassContext, key: str, cluster: ClusterRow, share: CollectingCampaign) -> None:
        self._tools, self._key, self._cluster, self._share = tools, key, cluster, share
        self._destination, self._is_delivered = destination_of(tools.settings, share.campaign_id, share.user, share.to)
        largest = tools.settings.outputs.largest
        self._most = min(share.most or largest, largest) * MEGABYTE
        self._store_room = StoreRoom(tools, share)
        self._in_the_way: list[int] = []
        self.report: PassReport = Counter()

    def collect(self) -> PassReport:
        """The oldest first. Raise what keeps others from coming, too, or where something is in their way."""
        shared = sharing_of(self._share.mode, self._share.group) if self._is_delivered else None
        with closing(OutputAssembler(self._destination, self._share.campaign_id, shared)) as landing:
            behind = None
            while self.report["bytes collected"] < TURN_OF_CAMPAIGN:
                with self._tools.database.begin() as conn:
                    parcels = list_awaited(conn, self._share, PARCELS_AT_ONCE, behind)
                if not parcels:
                    break
                behind = parcels[-1]
                self._collect(landing, parcels)
            with self._tools.database.begin() as conn:
                is_all_here = is_all_collected(conn, self._share.campaign_id)
            if is_all_here:
                landing.tidy()
        if self._in_the_way:
            first = self._destination.place(self._in_the_way[0])
            others = as_ranges(sorted(self._in_the_way), SHOWN_IN_THE_WAY)
            raise CigriError(f"{first} was not made by this campaign, so it stays: move it (tasks {others})")
        return self.report

    def _collect(self, landing: OutputAssembler, parcels: Sequence[AwaitedParcel]) -> None:
        self._give_up([parcel for parcel in parcels if is_larger(parcel, self._most)])
        parcels = [parcel for parcel in parcels if not is_larger(parcel, self._most)]
        standing = landing.standing([parcel.number for parcel in parcels])
        here, coming = [], []
        for parcel in parcels:
            stands = standing.get(parcel.number)
            if stands is None or stands.attempt not in (None, parcel.attempt):
                coming.append(parcel)
            elif stands.attempt == parcel.attempt:
                here.append(parcel)
            else:
                self._in_the_way.append(parcel.number)
        self._put_collected(here)
        for together in _batches(coming):
            if self._is_delivered:
                landing.require_room(sum(parcel.bytes for parcel in together))
                self._bring(landing, together)
            else:
                self._store(landing, together)

    def _store(self, landing: OutputAssembler, parcels: Sequence[AwaitedParcel]) -> None:
        """As many as their user may have in the store; raise StorageFull for the others."""
        fitting = self._store_room.require_room(landing, parcels)
        if fitting:
            self._bring(landing, fitting)
        if len(fitting) < len(parcels):
            raise self._store_room.refused(parcels[len(fitting)])

    def _bring(self, landing: OutputAssembler, parcels: Sequence[AwaitedParcel]) -> None:
        """Parcels of one account."""
        tasks = {p.number: TaskWithOutputs(p.number, p.attempt, p.files, p.bytes) for p in parcels}
        for task in tasks.values():
            landing.begin(task)
        source = ClusterFiles(self._tools.gateway, self._cluster, self._key, self._share.campaign_id, parcels)
        awaited = [PendingTaskFiles(task, {}) for task in tasks.values()]
        turn = TransferTurn(TURN_OF_CLUSTER)
        try:
            OutputDownloader(source, landing, turn).bring(awaited)
        except TransferTurnEnded:
            self.report["bytes collected"] += turn.bytes
            return
        whole = [a.number for a in awaited if a.is_whole and landing.is_whole(tasks[a.number])]
        landing.settle([tasks[number] for number in whole])
        came = [parcel for parcel in parcels if parcel.number in set(whole)]
        self._put_collected(came)
        self._put_lacking([parcel for parcel in parcels if parcel.number not in set(whole)])

    def _put_collected(self, parcels: Sequence[AwaitedParcel]) -> None:
        keep = float(self._share.keep or 0)
        with self._tools.database.begin() as conn:
            news = put_collected(conn, parcels, keep, is_delivered=self._is_delivered)
        self.report["tasks collected"] += news
        self.report["bytes collected"] += sum(parcel.bytes for parcel in parcels)

    def _put_lacking(self, parcels: Sequence[AwaitedParcel]) -> None:
        """What is not all there is looked for again, and then given up."""
        self._give_up([parcel for parcel in parcels if parcel.tries + 1 >= TRIES])
        with self._tools.database.begin() as conn:
            put_tried(conn, parcels)

    def _give_up(self, parcels: Sequence[AwaitedParcel]) -> None:
        if not parcels:
            return
        with self._tools.database.begin() as conn:
            self.report["tasks whose outputs are given up"] += put_lost(conn, parcels)
            tell_lost(conn, self._share, self._cluster, self._most)


def _batches(parcels: Sequence[AwaitedParcel]) -> Iterator[Sequence[AwaitedParcel]]:
    """Those of one account that are not too much for one turn."""
    by_account: dict[str, list[AwaitedParcel]] = defaultdict(list)
    for parcel in parcels:
        by_account[parcel.local_user].append(parcel)
    for those in by_account.values():
        together: list[AwaitedParcel] = []
        for parcel in those:
            if together and sum(one.bytes for one in together) + parcel.bytes > TURN_OF_CAMPAIGN:
                yield together
                together = []
            together.append(parcel)
        yield together
