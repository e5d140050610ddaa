"""What is left in one cycle of clusters and tasks, and what keeps a campaign from more of it.

Long form: docs/explanation/scheduling.md#how-much.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cigri.estimates.completion import expected_seconds
from cigri.flow.ceilings import Ceilings, RemainingCeilings
from cigri.flow.offers import NewOffer
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.states import CampaignType
from modules.metascheduler.canary_jobs import ANY_NUMBER, CanaryLimit
from modules.metascheduler.remaining_cluster_capacity import ALMOST_A_CORE, RemainingClusterCapacity

AS_ONE = 16  # parts of the time of a task: cores that come free within one of them do so at the same time


class RemainingCapacity:
    """All that can be given away; `allocate` says what was."""

    def __init__(
        self,
        rooms: Sequence[SchedulableCluster],
        wants: Iterable[ClusterDemand],
        ceilings: Ceilings,
        scouts: CanaryLimit = ANY_NUMBER,
    ) -> None:
        self._scouts = scouts
        self.ceilings = RemainingCeilings(ceilings)
        self.clusters = {room.cluster_id: RemainingClusterCapacity(room) for room in rooms}
        self.reserved: dict[int, int] = {}  # cluster: campaign
        self._shortest: dict[int, float | None] = {}
        self.wants: dict[int, dict[int, ClusterDemand]] = defaultdict(dict)
        self.parallel: list[ClusterDemand] = []
        by_campaign, clusters = self.wants, self.clusters
        for want in wants:  # this loop is most of what sharing a large grid costs
            by_campaign[want.campaign_id][want.cluster_id] = want
            if want.width > 1:
                self.parallel.append(want)
            if (want.keep_waiting is not None or want.send_now is not None) and want.cluster_id in clusters:
                clusters[want.cluster_id].apply_forecast(want)
        of_campaigns = {campaign_id: next(iter(wanted.values())) for campaign_id, wanted in self.wants.items()}
        self.tasks = {campaign_id: want.waiting for campaign_id, want in of_campaigns.items()}
        self.spares = {campaign_id: want.replicable for campaign_id, want in of_campaigns.items() if want.replicable}
        self.given: dict[tuple[int, int], int] = {}
        self._given_cores: dict[int, int] = defaultdict(int)
        self._behind: dict[tuple[int, int], int] = defaultdict(int)  # of those given, jobs that wait for cores
        self._open = dict.fromkeys(cluster_id for cluster_id, cluster in self.clusters.items() if cluster.is_open)
        self._crowded: set[tuple[int, Sequence[int], float]] = set()

    def open_to(self, campaign_id: int, clusters: Sequence[int]) -> list[ClusterDemand]:
        """What the campaign wants of those that are not full yet, the emptiest first; a test is not asked for room.

        Where there was no place for one that asks for the same, there is none for the rest of the cycle.
        """
        wanted = self.wants[campaign_id]
        if self._is_test(campaign_id):
            return [wanted[cluster]._replace(avoiding=0) for cluster in self.clusters if cluster in wanted]
        served = wanted if len(clusters) == len(wanted) else set(clusters)
        wants = [wanted[cluster] for cluster in self._open if cluster in served and cluster in wanted]
        if crowded := self._crowded:
            return [want for want in wants if (want.cluster_id, want.request_hashes, want.ratio) not in crowded]
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
        return self.tasks[campaign_id] <= 0 and not any(want.pinned for want in self.wants[campaign_id].values())

    def seconds(self, want: ClusterDemand) -> float:
        """Until one more job of the campaign is expected to end a task there; it grows as the cluster fills.

        With d seconds to send it, to start it, and where no core is free until one is (RemainingClusterCapacity.wait),
        and h kills per second of a job: e^(h mean) d + (e^(h mean) - 1) / h (cigri/estimates/completion.py). A cluster
        that was not tried yet is as fast as the fastest. As long as nothing is known, a task takes 1.
        """
        cluster = self.clusters[want.cluster_id]
        mean = self._mean(want.campaign_id) if want.mean is None else want.mean
        if mean is None:
            return 0.0 if cluster.startable(want.ratio) else cluster.queue_seconds(1.0)
        delay = want.submit_seconds + want.delay
        if cluster.idle * want.ratio + ALMOST_A_CORE < 1.0:  # as startable says; this is asked most often
            delay += cluster.queue_seconds(mean)
        return expected_seconds(mean, delay, want.hazard * want.width)

    def _mean(self, campaign_id: int) -> float | None:
        """Seconds of its tasks where they are the shortest; None: nothing is known."""
        if campaign_id not in self._shortest:
            means = (want.mean for want in self.wants[campaign_id].values())
            self._shortest[campaign_id] = min((mean for mean in means if mean is not None), default=None)
        return self._shortest[campaign_id]

    def max_jobs(self, want: ClusterDemand) -> int:
        """Jobs that the campaign may still be given there."""
        if want.cluster_id not in self._open and want.type is not CampaignType.TEST:
            return 0
        most = self._most_by_rights(want)
        if not most or want.type is CampaignType.TEST:  # it runs whether or not a core is free
            return most
        if (places := self.room_in_queue(want)) <= 0:
            self._crowded.add((want.cluster_id, want.request_hashes, want.ratio))
            return 0
        return max(0, min(most, places, self.clusters[want.cluster_id].room(want, self.given_to(want))))

    def startable(self, want: ClusterDemand) -> int:
        """Jobs of the campaign that could start there at once."""
        return self.clusters[want.cluster_id].startable(want.ratio)

    def jobs_until_next_end(self, want: ClusterDemand) -> int:
        """Jobs that wait there for about the same time as one more does: running / AS_ONE.

        So many of those that run end within a sixteenth of the time of a task (RemainingClusterCapacity.wait).
        """
        return max(1, self.clusters[want.cluster_id].running // AS_ONE)

    def may_wait(self, want: ClusterDemand) -> int:
        """Jobs that may be sent there whether or not a core is free, if any are kept waiting there."""
        cluster = self.clusters[want.cluster_id]
        if want.type is CampaignType.TEST or not cluster.longest_keep:
            return 0
        return min(self._most_by_rights(want), self.room_in_queue(want))

    def room_in_queue(self, want: ClusterDemand) -> int:
        """Jobs that may be sent to start at once, or to wait: only the best of its tasks are ever in a queue."""
        cluster = self.clusters[want.cluster_id]
        return cluster.startable(want.ratio) + cluster.places(want.request_hashes)

    def most_spare(self, want: ClusterDemand, tasks: int) -> int:
        """Jobs for second attempts at so many tasks: on free cores, once each task that waits has a place.

        A task that has a job there gets no other one there.
        """
        if want.cluster_id not in self._open or not self.is_served(want.campaign_id):
            return 0
        tasks = min(tasks, max(0, want.replicable - want.live))
        return min(self._most_by_rights(want, tasks), self.clusters[want.cluster_id].startable(want.ratio))

    def _most_by_rights(self, want: ClusterDemand, tasks: int | None = None) -> int:
        """Jobs that it might be given there if only there were cores; for the tasks that wait, or for so many `tasks`.

        The least of these tasks, the cluster's `queue`, and what a test, a trial, scouts, max_jobs and ceilings let.
        """
        given = self.given_to(want)
        if tasks is None:
            tasks = max(0, self.tasks[want.campaign_id] - want.avoiding) + max(0, want.pinned - given)
        most = min(tasks, self.clusters[want.cluster_id].queue_places)
        live, is_test = want.live + given, want.type is CampaignType.TEST
        if is_test or want.is_on_probation:  # one there
            most = min(most, 1 - live)
        if not is_test:
            most = min(most, self.most_scouts(want) - live)
            if want.max_jobs is not None:
                most = min(most, want.max_jobs - live)
        if (lowest := self.ceilings.lowest((want.campaign_id, want.cluster_id))) is not None:
            most = min(most, lowest[0])
        return max(0, most)

    def most_scouts(self, want: ClusterDemand) -> int:
        """Live jobs that a campaign may have there, by what has succeeded of it."""
        return self._scouts.most(want)

    def allocate(self, want: ClusterDemand, jobs: int) -> None:
        """So many jobs are given to it there; they carry first the tasks that wait for this very cluster."""
        place = want.campaign_id, want.cluster_id
        given, cluster = self.given.get(place, 0), self.clusters[want.cluster_id]
        self.tasks[want.campaign_id] -= max(0, jobs - max(0, want.pinned - given))
        self.given[place] = given + jobs
        self._given_cores[want.campaign_id] += jobs * want.width
        self.ceilings.take(place, jobs)
        before = cluster.queued_behind
        cluster.take(jobs, want.ratio)
        if cluster.queued_behind > before:
            self._behind[place] += cluster.queued_behind - before
            cluster.keep_waiting(want.request_hashes, cluster.queued_behind - before)
        if not cluster.is_open:
            self._open.pop(want.cluster_id, None)

    def offers(self) -> list[NewOffer]:
        """What was given, the first in rank first: as it is handed over to campaign schedulers."""
        return [
            NewOffer(
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
        wants = self.wants[campaign_id].values()
        wide = [want for want in wants if want.width > 1 and want.cluster_id in self._open]
        short = [want for want in wide if self._lacks_cores(want)]
        if not short or any(self.given_to(want) for want in wants):
            return False
        best = min(short, key=lambda want: want.width - self.clusters[want.cluster_id].idle)
        del self._open[best.cluster_id]
        self.reserved[best.cluster_id] = campaign_id
        return True

    def _lacks_cores(self, want: ClusterDemand) -> bool:
        cluster = self.clusters[want.cluster_id]
        if want.type is CampaignType.TEST or want.send_now is not None or want.width > cluster.total:
            return False
        return self._most_by_rights(want._replace(avoiding=0)) > 0 and cluster.room(want, 0) == 0

    def is_special(self, campaign_id: int) -> bool:
        """Was it given anything in this cycle, or is it under a ceiling?"""
        return campaign_id in self._given_cores or self.ceilings.is_over(campaign_id)

    def given_to(self, want: ClusterDemand) -> int:
        """Jobs that the campaign was given there so far in this cycle."""
        return self.given.get((want.campaign_id, want.cluster_id), 0)
