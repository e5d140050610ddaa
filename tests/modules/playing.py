"""Cycle after cycle of the sharing alone: clusters whose jobs end, campaigns that come, and who was served when."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cigri.flow.affinities_and_targets import Principal, UserAffinity
from cigri.flow.fair_share_usage import Consumption
from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType
from modules.metascheduler.policies import PolicyFacts, load
from modules.metascheduler.progressive_filling import share_clusters

START = datetime(2026, 3, 1, tzinfo=UTC)
CYCLE = 10.0  # seconds


@dataclass
class Player:
    """A campaign of tasks that last so many cycles."""

    id: int
    user: str
    tasks: int
    cycles: int
    since: int
    width: int = 1
    project: str = ""
    priority: int = 0
    served: int = 0
    eta: float | None = None  # seconds from the start
    longest: int = 0  # cycles it waited in a row
    jobs: list[tuple[int, int]] = field(default_factory=list)  # cycle of the end, cluster


@dataclass
class Play:
    """So many cores on each cluster, all the grid's."""

    cores: Sequence[int]
    settings: PolicySettings
    affinities: frozenset[UserAffinity] = frozenset()
    targets: dict[Principal, float] = field(default_factory=dict)
    players: list[Player] = field(default_factory=list)
    used: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    cycle: int = 0
    idle: int = 0  # core-cycles

    def add(self, user: str, tasks: int, cycles: int = 10, **about: object) -> Player:
        player = Player(len(self.players) + 1, user, tasks, cycles, self.cycle, **about)  # type: ignore[arg-type]
        player.served = self.cycle
        self.players.append(player)
        return player

    def run(self, cycles: int) -> Iterator[int]:
        """One cycle after the other; whoever plays may do something between two."""
        for _ in range(cycles):
            self._end_jobs()
            self._share()
            yield self.cycle
            self.cycle += 1

    def _share(self) -> None:
        free = self._free()
        wants = [want for player in self.players if player.tasks for want in self._wants(player)]
        rooms = [
            SchedulableCluster(k, f"c{k}", CONFIG, free[k], 0, 0, 0, cores)
            for k, cores in enumerate(self.cores, start=1)
        ]
        rooms.sort(key=lambda room: (-room.free, room.cluster_id))
        claims = [self._claim(player) for player in self.players if player.tasks]
        usage = {who: Consumption(used, used) for who, used in self.used.items()}
        facts = PolicyFacts(self.affinities, self.targets, usage)
        for offer in share_clusters(rooms, wants, claims, self.settings, load(self.settings.order), facts).offers():
            player = self.players[offer.campaign_id - 1]
            player.tasks -= offer.jobs
            player.jobs += [(self.cycle + player.cycles, offer.cluster_id)] * offer.jobs
            player.longest = max(player.longest, self.cycle - player.served)
            player.served = self.cycle
        for player in self.players:
            if player.tasks:
                player.longest = max(player.longest, self.cycle - player.served)
        self.idle += sum(self._free().values())

    def _wants(self, player: Player) -> Iterator[ClusterDemand]:
        for cluster in range(1, len(self.cores) + 1):
            live = sum(where == cluster for _, where in player.jobs)
            yield ClusterDemand(
                player.id,
                cluster,
                CampaignType.DEFAULT,
                player.width,
                None,
                live,
                player.tasks,
                1 / player.width,
                False,
            )

    def _claim(self, player: Player) -> PendingCampaign:
        waited = (self.cycle - player.served) * CYCLE
        eta = None if player.eta is None else START + timedelta(seconds=player.eta)
        about = (player.id, CampaignType.DEFAULT, player.user, player.project, player.priority)
        return PendingCampaign(*about, waited, eta, player.cycles * CYCLE, tuple(range(1, len(self.cores) + 1)))

    def _free(self) -> dict[int, int]:
        free = dict(enumerate(self.cores, start=1))
        for player in self.players:
            for _, cluster in player.jobs:
                free[cluster] -= player.width
        assert min(free.values()) >= 0
        return free

    def _end_jobs(self) -> None:
        for player in self.players:
            self.used[player.user, player.project] += len(player.jobs) * player.width * CYCLE
            player.jobs = [job for job in player.jobs if job[0] > self.cycle]


CONFIG = ClusterConfig(driver="local", keep_waiting=0, max_waiting=1000)
