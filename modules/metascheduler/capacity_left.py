"""What is left in one cycle of clusters and tasks, and what keeps a campaign from more of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil, inf
from typing import NamedTuple

from cigri.estimates.completion import expected_seconds
from cigri.estimates.plausible import LARGEST_INTEGER
from cigri.flow.ceilings import Ceilings, Left
from cigri.flow.offers import Offer
from cigri.flow.views.rooms import Room
from cigri.flow.views.wants import Want
from cigri.states import CampaignType

DOUBLINGS_OF_TRUST = 20
STARTS = 2.0  # times what starts in a cycle may wait, so that no core idles where many jobs end between two cycles
AS_ONE = 16  # of the time of a task: cores that come free in such a part of it do so at the same time
FEW_ENDS = 3  # times the scouts are tried at once, where that is cheap, before anything is seen to run
SHORTEST_TASK = 1e-3  # seconds that a task is thought to take at least
ALMOST_A_CORE = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999


class Cluster:
    """Cores that a new job could have at once, and jobs that wait behind those that can start."""

    def __init__(self, room: Room) -> None:
        self.name, self.total, self.is_wide = room.name, room.total, room.is_wide
        self.running = room.running
        self.idle = float(max(0, room.free - room.waiting_cores))
        self.behind = _behind(room)
        self.pace, self.stress = room.pace, room.stress
        self.max_waiting = self.slowed(room.config.max_waiting) or 1
        self.queue = self.max_waiting - room.waiting
        self.given = 0
        self.starting = room.waiting - self.behind
        self._behind_of = {asked: min(jobs, self.behind) for asked, jobs in room.queued.items()}
        self.keep = self.longest_keep = self.slowed(room.config.keep_waiting)
        starts = min(float(LARGEST_INTEGER), max(0.0, STARTS * room.starts))
        most_queued = max(room.config.n_max_queued_jobs, ceil(starts))
        self.most_queued = self.slowed(most_queued) or 1
        self.is_sent = False

    @property
    def is_open(self) -> bool:
        """May it take any job that is no test?"""
        return self.queue > 0 and (self.is_sent or self.idle > ALMOST_A_CORE or self.longest_keep > self.behind)

    def hear(self, want: Want) -> None:
        """What is forecast may open a cluster that is full as it is configured."""
        self.is_sent |= want.send is not None
        self.longest_keep = max(self.longest_keep, self.slowed(want.keep or 0))

    def room(self, want: Want, given: int) -> int:
        """Jobs that can start at once, and those that are kept waiting behind them; or what is forecast to be sent."""
        if want.send is not None:
            return self.slowed(want.send) - given
        keep = self.keep if want.keep is None else self.slowed(want.keep)
        return self.startable(want.ratio) + max(0, keep - self.behind)

    def behind_of(self, asked: Sequence[int]) -> int:
        """Jobs of all campaigns that ask for this and wait for cores, as far as they make up those that wait here."""
        return sum([self._behind_of.get(one, 0) for one in asked])

    def most_behind(self, asked: Sequence[int]) -> int:
        """Jobs of all campaigns that ask for this and may wait for cores."""
        return min(self.most_queued * len(asked), self.max_waiting)

    def places(self, asked: Sequence[int]) -> int:
        """Jobs that ask for this and may come to wait for cores, besides those that do."""
        most, behind = self.most_queued, self._behind_of
        return sum([max(0, most - behind.get(one, 0)) for one in asked])

    def keep_waiting(self, asked: Sequence[int], jobs: int) -> None:
        """So many jobs more wait for cores; which of its buckets they are of is its scheduler's choice later on."""
        for one in asked:
            taken = jobs if one == asked[-1] else min(jobs, self.places((one,)))
            self._behind_of[one] = self._behind_of.get(one, 0) + taken
            jobs -= taken

    def slowed(self, number: int) -> int:
        """As many as may be under stress."""
        return number if self.pace >= 1.0 else int(number * self.pace)

    def wait(self, mean: float) -> float:
        """Seconds until one more job that waits has a core, if as many as run now end in `mean` seconds."""
        return (self.behind + 1) * mean / max(1, self.running)

    def take(self, jobs: int, ratio: float) -> None:
        at_once = min(jobs, self.startable(ratio))
        self.idle = max(0.0, self.idle - at_once / ratio)
        self.behind += jobs - at_once
        self.queue -= jobs
        self.given += jobs

    def startable(self, ratio: float) -> int:
        """Jobs that could start at once."""
        return int(self.idle * ratio + ALMOST_A_CORE)


class Scouts(NamedTuple):
    """How many jobs try a cluster for a new campaign: `jobs`, and more where they cost less than `stake` core-seconds.

    What fails after `seconds` is found by no scout, as jobs that run then count as proven. As long as no task has
    succeeded anywhere, most failures come at once: besides the first few no more than run. No `jobs`: any number try.
    """

    jobs: int = 0
    stake: float = 0.0
    seconds: float = inf

    def most(self, want: Want) -> int:
        """Live jobs that the campaign may have there, by what has succeeded of it."""
        if not self.jobs:
            return LARGEST_INTEGER
        seconds = self.seconds if want.mean is None else min(self.seconds, want.mean)
        cheap = min(LARGEST_INTEGER, self.stake / (max(seconds, SHORTEST_TASK) * want.width))
        if want.mean is None:
            cheap = min(cheap, FEW_ENDS * self.jobs + max(0, want.live - want.queued))
        return max(self.jobs << min(want.proven, DOUBLINGS_OF_TRUST), int(cheap))


ANY_NUMBER = Scouts()


class Stock:
    """All that can be given away; `take` says what was."""

    def __init__(
        self, rooms: Sequence[Room], wants: Iterable[Want], ceilings: Ceilings, scouts: Scouts = ANY_NUMBER
    ) -> None:
        self._scouts = scouts
        self.ceilings = Left(ceilings)
        self.clusters = {room.cluster_id: Cluster(room) for room in rooms}
        self.reserved: dict[int, int] = {}  # cluster: campaign
        self._shortest: dict[int, float | None] = {}
        self.wants: dict[int, dict[int, Want]] = defaultdict(dict)
        self.parallel: list[Want] = []
        by_campaign, clusters = self.wants, self.clusters
        for want in wants:  # this loop is most of what sharing a large grid costs
            by_campaign[want.campaign_id][want.cluster_id] = want
            if want.width > 1:
                self.parallel.append(want)
            if (want.keep is not None or want.send is not None) and want.cluster_id in clusters:
                clusters[want.cluster_id].hear(want)
        of_campaigns = {campaign_id: next(iter(mine.values())) for campaign_id, mine in self.wants.items()}
        self.tasks = {campaign_id: want.waiting for campaign_id, want in of_campaigns.items()}
        self.spares = {campaign_id: want.spare for campaign_id, want in of_campaigns.items() if want.spare}
        self.given: dict[tuple[int, int], int] = {}
        self._given_cores: dict[int, int] = defaultdict(int)
        self._behind: dict[tuple[int, int], int] = defaultdict(int)  # of those given, jobs that wait for cores
        self._open = dict.fromkeys(cluster_id for cluster_id, cluster in self.clusters.items() if cluster.is_open)
        self._crowded: set[tuple[int, Sequence[int], float]] = set()

    def open_to(self, campaign_id: int, clusters: Sequence[int]) -> list[Want]:
        """What the campaign wants of those that are not full yet, the emptiest first; a test is not asked for room.

        Where there was no place for one that asks for the same, there is none for the rest of the cycle.
        """
        mine = self.wants[campaign_id]
        if self._is_test(campaign_id):
            return [mine[cluster]._replace(shunned=0) for cluster in self.clusters if cluster in mine]
        some = mine if len(clusters) == len(mine) else set(clusters)
        wants = [mine[cluster] for cluster in self._open if cluster in some and cluster in mine]
        if crowded := self._crowded:
            return [want for want in wants if (want.cluster_id, want.asked, want.ratio) not in crowded]
        return wants

    def has_room_for(self, campaign_id: int) -> bool:
        """Is any cluster not full yet? A test is not asked for room."""
        return bool(self._open) or self._is_test(campaign_id)

    def _is_test(self, campaign_id: int) -> bool:
        return next(iter(self.wants[campaign_id].values())).type is CampaignType.TEST

    def idle(self, clusters: Iterable[int]) -> float:
        """Free cores of those of these clusters that are not full yet."""
        return sum(self.clusters[cluster].idle for cluster in clusters if cluster in self._open)

    def is_served(self, campaign_id: int) -> bool:
        """Has it been given all its tasks, and has none that wait for one cluster?"""
        return self.tasks[campaign_id] <= 0 and not any(want.bound for want in self.wants[campaign_id].values())

    def seconds(self, want: Want) -> float:
        """Until one more job of the campaign is expected to end a task there; it grows as the cluster fills.

        A cluster that was not tried yet is as fast as the fastest. As long as nothing is known, a task takes 1.
        """
        cluster = self.clusters[want.cluster_id]
        mean = self._mean(want.campaign_id) if want.mean is None else want.mean
        if mean is None:
            return 0.0 if cluster.startable(want.ratio) else cluster.wait(1.0)
        delay = want.sending + want.delay
        if cluster.idle * want.ratio + ALMOST_A_CORE < 1.0:  # as startable says; this is asked most often
            delay += cluster.wait(mean)
        return expected_seconds(mean, delay, want.hazard * want.width)

    def _mean(self, campaign_id: int) -> float | None:
        """Seconds of its tasks where they are the shortest; None: nothing is known."""
        if campaign_id not in self._shortest:
            means = (want.mean for want in self.wants[campaign_id].values())
            self._shortest[campaign_id] = min((mean for mean in means if mean is not None), default=None)
        return self._shortest[campaign_id]

    def most(self, want: Want) -> int:
        """Jobs that the campaign may still be given there."""
        if want.cluster_id not in self._open and want.type is not CampaignType.TEST:
            return 0
        most = self._most_by_rights(want)
        if not most or want.type is CampaignType.TEST:  # it runs whether or not a core is free
            return most
        if (places := self.room_in_queue(want)) <= 0:
            self._crowded.add((want.cluster_id, want.asked, want.ratio))
            return 0
        return max(0, min(most, places, self.clusters[want.cluster_id].room(want, self.given_to(want))))

    def startable(self, want: Want) -> int:
        """Jobs of the campaign that could start there at once."""
        return self.clusters[want.cluster_id].startable(want.ratio)

    def next_few(self, want: Want) -> int:
        """Jobs that wait there for about the same time as one more does."""
        return max(1, self.clusters[want.cluster_id].running // AS_ONE)

    def may_wait(self, want: Want) -> int:
        """Jobs that may be sent there whether or not a core is free, if any are kept waiting there."""
        cluster = self.clusters[want.cluster_id]
        if want.type is CampaignType.TEST or not cluster.longest_keep:
            return 0
        return min(self._most_by_rights(want), self.room_in_queue(want))

    def room_in_queue(self, want: Want) -> int:
        """Jobs that may be sent to start at once, or to wait: only the best of its tasks are ever in a queue."""
        cluster = self.clusters[want.cluster_id]
        return cluster.startable(want.ratio) + cluster.places(want.asked)

    def most_spare(self, want: Want, tasks: int) -> int:
        """Jobs for second attempts at so many tasks: on free cores, once each task that waits has a place.

        A task that has a job there gets no other one there.
        """
        if want.cluster_id not in self._open or not self.is_served(want.campaign_id):
            return 0
        tasks = min(tasks, max(0, want.spare - want.live))
        return min(self._most_by_rights(want, tasks), self.clusters[want.cluster_id].startable(want.ratio))

    def _most_by_rights(self, want: Want, tasks: int | None = None) -> int:
        """If only there were cores; for the tasks that wait, unless it is said for how many."""
        given = self.given_to(want)
        if tasks is None:
            tasks = max(0, self.tasks[want.campaign_id] - want.shunned) + max(0, want.bound - given)
        most = min(tasks, self.clusters[want.cluster_id].queue)
        live, is_test = want.live + given, want.type is CampaignType.TEST
        if is_test or want.is_on_trial:  # one there
            most = min(most, 1 - live)
        if not is_test:
            most = min(most, self.most_scouts(want) - live)
            if want.max_jobs is not None:
                most = min(most, want.max_jobs - live)
        if (lowest := self.ceilings.lowest((want.campaign_id, want.cluster_id))) is not None:
            most = min(most, lowest[0])
        return max(0, most)

    def most_scouts(self, want: Want) -> int:
        """Live jobs that a campaign may have there, by what has succeeded of it."""
        return self._scouts.most(want)

    def take(self, want: Want, jobs: int) -> None:
        """Tasks that wait for this very cluster go first."""
        place = want.campaign_id, want.cluster_id
        given, cluster = self.given.get(place, 0), self.clusters[want.cluster_id]
        self.tasks[want.campaign_id] -= max(0, jobs - max(0, want.bound - given))
        self.given[place] = given + jobs
        self._given_cores[want.campaign_id] += jobs * want.width
        self.ceilings.take(place, jobs)
        before = cluster.behind
        cluster.take(jobs, want.ratio)
        if cluster.behind > before:
            self._behind[place] += cluster.behind - before
            cluster.keep_waiting(want.asked, cluster.behind - before)
        if not cluster.is_open:
            self._open.pop(want.cluster_id, None)

    def offers(self) -> list[Offer]:
        """What was given, the first in rank first."""
        return [
            Offer(
                *pair,
                jobs * self.wants[pair[0]][pair[1]].width,
                jobs,
                rank,
                jobs - self._behind[pair],
                self.clusters[pair[1]].most_queued,
                self.clusters[pair[1]].starting,
            )
            for rank, (pair, jobs) in enumerate(self.given.items())
        ]

    def held(self, campaign_id: int) -> int:
        """Cores of its jobs that live, wherever they are."""
        living = sum([want.live * want.width for want in self.wants[campaign_id].values()])
        return living + self._given_cores.get(campaign_id, 0)

    def reserve(self, campaign_id: int) -> bool:
        """Keep the free cores of one cluster for a job of several that finds too few anywhere, until there are enough.

        It is the cluster that lacks the fewest. False: there is no such job.
        """
        mine = self.wants[campaign_id].values()
        wide = [want for want in mine if want.width > 1 and want.cluster_id in self._open]
        short = [want for want in wide if self._lacks_cores(want)]
        if not short or any(self.given_to(want) for want in mine):
            return False
        best = min(short, key=lambda want: want.width - self.clusters[want.cluster_id].idle)
        del self._open[best.cluster_id]
        self.reserved[best.cluster_id] = campaign_id
        return True

    def _lacks_cores(self, want: Want) -> bool:
        cluster = self.clusters[want.cluster_id]
        if want.type is CampaignType.TEST or want.send is not None or want.width > cluster.total:
            return False
        return self._most_by_rights(want._replace(shunned=0)) > 0 and cluster.room(want, 0) == 0

    def is_special(self, campaign_id: int) -> bool:
        """Was it given anything in this cycle, or is it under a ceiling?"""
        return campaign_id in self._given_cores or self.ceilings.is_over(campaign_id)

    def given_to(self, want: Want) -> int:
        """Jobs in this cycle."""
        return self.given.get((want.campaign_id, want.cluster_id), 0)


def _behind(room: Room) -> int:
    """Of the waiting jobs, those that find no free core, if all are of the mean width."""
    excess = room.waiting_cores - max(0, room.free)
    if excess <= 0:
        return 0
    return min(room.waiting, -(-excess * room.waiting // room.waiting_cores))
