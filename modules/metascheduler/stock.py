"""What is left in one cycle of clusters and tasks, and what keeps a campaign from more of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cigri.flow.metascheduler_to_campaign_schedulers import Want
from cigri.flow.updator_to_metascheduler import Room
from cigri.states import CampaignType

ALMOST = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999


class Cluster:
    """Cores that a new job could have at once, and jobs that wait behind those that can start."""

    def __init__(self, room: Room) -> None:
        self.idle = float(max(0, room.free - room.waiting_cores))
        self.behind = _behind(room)
        self.queue = room.config.max_waiting - room.waiting
        self.keep = self.longest_keep = room.config.keep_waiting
        self.is_sent = False

    @property
    def is_open(self) -> bool:
        """May it take any job that is no test?"""
        return self.queue > 0 and (self.is_sent or self.idle > ALMOST or self.longest_keep > self.behind)

    def hear(self, want: Want) -> None:
        """What is forecast may open a cluster that is full as it is configured."""
        self.is_sent |= want.send is not None
        self.longest_keep = max(self.longest_keep, want.keep or 0)

    def room(self, want: Want, given: int) -> int:
        """Jobs that can start at once, and those that are kept waiting behind them; or what is forecast to be sent."""
        if want.send is not None:
            return want.send - given
        keep = self.keep if want.keep is None else want.keep
        return self._startable(want.ratio) + max(0, keep - self.behind)

    def take(self, jobs: int, ratio: float) -> None:
        at_once = min(jobs, self._startable(ratio))
        self.idle = max(0.0, self.idle - at_once / ratio)
        self.behind += jobs - at_once
        self.queue -= jobs

    def _startable(self, ratio: float) -> int:
        return int(self.idle * ratio + ALMOST)


class Stock:
    """All that can be given away; `take` says what was."""

    def __init__(self, rooms: Sequence[Room], wants: Iterable[Want]) -> None:
        self.clusters = {room.cluster_id: Cluster(room) for room in rooms}
        self.wants: dict[int, dict[int, Want]] = defaultdict(dict)
        for want in wants:
            self.wants[want.campaign_id][want.cluster_id] = want
            if want.cluster_id in self.clusters:
                self.clusters[want.cluster_id].hear(want)
        self.tasks = {campaign_id: next(iter(mine.values())).waiting for campaign_id, mine in self.wants.items()}
        self.given: dict[tuple[int, int], int] = {}
        self._open = [cluster_id for cluster_id, cluster in self.clusters.items() if cluster.is_open]

    def open_to(self, campaign_id: int, clusters: Sequence[int]) -> list[Want]:
        """What the campaign wants of those that are not full yet; a test is not asked for room."""
        mine = self.wants[campaign_id]
        if next(iter(mine.values())).type is CampaignType.TEST:
            return [mine[cluster] for cluster in self.clusters if cluster in mine]
        some = mine if len(clusters) == len(mine) else set(clusters)
        return [mine[cluster] for cluster in self._open if cluster in some and cluster in mine]

    def most(self, want: Want) -> int:
        """Jobs that the campaign may still be given there."""
        cluster, given = self.clusters[want.cluster_id], self._given(want)
        most = min(self.tasks[want.campaign_id] + max(0, want.bound - given), cluster.queue)
        if most <= 0:
            return 0
        live = want.live + given
        if want.type is CampaignType.TEST:  # one task per cluster, whether or not a core is free
            return min(most, 1 - live)
        most = min(most, cluster.room(want, given))
        if want.max_jobs is not None:
            most = min(most, want.max_jobs - live)
        if want.is_on_trial:
            most = min(most, 1 - live)
        return most

    def take(self, want: Want, jobs: int) -> None:
        """Tasks that wait for this very cluster go first."""
        given = self._given(want)
        self.tasks[want.campaign_id] -= max(0, jobs - max(0, want.bound - given))
        self.given[want.campaign_id, want.cluster_id] = given + jobs
        cluster = self.clusters[want.cluster_id]
        cluster.take(jobs, want.ratio)
        if not cluster.is_open and want.cluster_id in self._open:
            self._open.remove(want.cluster_id)

    def _given(self, want: Want) -> int:
        return self.given.get((want.campaign_id, want.cluster_id), 0)


def _behind(room: Room) -> int:
    """Of the waiting jobs, those that find no free core, if all are of the mean width."""
    excess = room.waiting_cores - room.free
    if excess <= 0:
        return 0
    return min(room.waiting, -(-excess * room.waiting // room.waiting_cores))
