"""One run of what may come: the modules on a small grid, until the campaigns that may be submitted have ended."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from random import Random
from typing import NamedTuple

from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.grid_snapshot import put_picture
from cigri.flow.submissions import put_campaign
from cigri.flow.views.laboratory import count_left, list_ended_tasks
from cigri.formats.units import DAY
from cigri.settings.sections import Settings
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.front_end import SimulatedFrontEnd
from modules.laboratory.cluster.simulated_jobs import SimulatedTask
from modules.laboratory.simulation_loop import SimulationLoop
from modules.laboratory.whatif import local_load
from modules.laboratory.whatif.plan import SimulationPlan
from modules.laboratory.whatif.small_grid import SmallCluster, SmallGrid
from modules.laboratory.without_inputs import without_inputs

WARM_UP = 5.0  # seconds before the submission, in which others take their cores
FARTHEST_FUTURE = 366.0 * DAY  # seconds; what has not ended then does not end
FEWEST_DONE = 0.05  # of a campaign's tasks, from which its end can be told when the run is cut short


class SimulatedOutcome(NamedTuple):
    """How a campaign went: seconds from submission to its end, None when there was none; core-seconds by cluster.

    `error`: deviations by which durations were off in this run.

    `is_cut`: it was stopped before all its tasks were done, and the rest is thought to go as these did.
    """

    end: float | None
    work: Mapping[str, float]
    tasks: Mapping[str, int]
    is_cut: bool = False
    error: float = 0.0


class SimulatedFuture(SimulationLoop):
    """`error`: deviations by which all that is known of durations is off; the database has the schema and no rows."""

    def __init__(
        self,
        database: VirtualTimeDatabase,
        settings: Settings,
        plan: SimulationPlan,
        board: SmallGrid,
        luck: Random,
        error: float,
    ) -> None:
        self._plan, self._board, self._luck, self._error = plan, board, luck, error
        self._numbers: dict[int, int] = {}  # of the campaigns in the plan, by their numbers here
        start = plan.picture.at - timedelta(seconds=WARM_UP)
        sites = {
            plan.names[cluster_id]: SimulatedFrontEnd(
                _system(plan.names[cluster_id], hardware, luck), partial(self._task, cluster_id), start.timestamp()
            )
            for cluster_id, hardware in board.clusters.items()
        }
        super().__init__(database, _small(settings, plan), sites, start)

    def run(self, deadline: float, clock: Callable[[], float]) -> dict[int, SimulatedOutcome]:
        """By number of the plan; it is cut short when the clock shows `deadline`."""
        self.advance(WARM_UP)
        self._submit()
        while self._left() and self.now < FARTHEST_FUTURE and clock() < deadline:
            begun = self.now
            self.cycle()
            self.advance(max(begun + self._plan.scale.pause(self.cycles, begun), self.now))
        return {number: self._outcome(campaign_id, number) for campaign_id, number in self._ordered()}

    def _submit(self) -> None:
        with self.database.begin() as conn:
            put_picture(conn, self._board.rows, self._board.left)
            ids = {campaign_id: campaign_id for campaign_id in self._board.left}
            for number, order in self._board.orders.items():
                after = [each._replace(required_id=ids[each.required_id]) for each in order.after]
                ids[number] = put_campaign(conn, without_inputs(order.campaign), range(order.tasks), after=after)
            self._numbers = {campaign_id: number for number, campaign_id in ids.items()}

    def _ordered(self) -> list[tuple[int, int]]:
        return [pair for pair in self._numbers.items() if pair[1] in self._plan.orders]

    def _left(self) -> int:
        with self.database.begin() as conn:
            return sum(count_left(conn, campaign_id) for campaign_id, _ in self._ordered())

    def _task(self, cluster_id: int, campaign_id: int, task: int) -> SimulatedTask:
        """Each task has a luck of its own, wherever and whenever it runs."""
        number = self._numbers[campaign_id]
        luck = Random(f"{self._error} {number} {task}")
        work, together = self._plan.works[number], self._plan.scale.together[number]
        return SimulatedTask(work.durations.draw(cluster_id, luck, self._error, together))

    def _outcome(self, campaign_id: int, number: int) -> SimulatedOutcome:
        work, scale = self._plan.works[number], self._plan.scale
        ids = {name: cluster_id for cluster_id, name in self._plan.names.items()}
        with self.database.begin() as conn:
            ended = [task for task in list_ended_tasks(conn) if task.campaign_id == campaign_id]
            left = count_left(conn, campaign_id)
        seconds: dict[str, float] = defaultdict(float)
        for task in ended:
            seconds[task.cluster] += task.seconds * work.widths[ids[task.cluster]]
        real = work.tasks / max(1, len(ended))  # for each simulated task
        factor = real / scale.together[number]
        coarse = (scale.together[number] - 1) * work.durations.mean / 2  # the last round of large tasks is less full
        last = max((task.ended for task in ended), default=self._plan.picture.at)
        return SimulatedOutcome(
            _end((last - self._plan.picture.at).total_seconds() - coarse, len(ended), left, self.now),
            {name: simulated * factor for name, simulated in seconds.items()},
            Counter(task.cluster for task in ended),
            left > 0 and self.now < FARTHEST_FUTURE,
            self._error,
        )


def _end(last: float, done: int, left: int, now: float) -> float | None:
    """Of a campaign that was cut short, what is left takes as long as it took so far."""
    if not left:
        return last
    if done < FEWEST_DONE * (done + left) or now >= FARTHEST_FUTURE:
        return None
    return last * (done + left) / done


def _system(name: str, hardware: SmallCluster, luck: Random) -> SimulatedBatchSystem:
    return SimulatedBatchSystem(
        name, hardware.machine, local_load.jobs(hardware.used), hardware.faults, luck.getrandbits(32)
    )


def _small(settings: Settings, plan: SimulationPlan) -> Settings:
    """Numbers of jobs, as small as the grid; what changes nothing in a run is done once."""
    policy = settings.policy
    counts = {name: plan.scale.count(getattr(policy, name)) for name in ("scouts", "handful", "first_jobs")}
    small = {**counts, "stake": policy.stake / plan.scale.cores}
    never = {
        "discovery": FARTHEST_FUTURE,
        "refresh": FARTHEST_FUTURE,
    }  # the resources of simulated clusters stay as they are
    changed = {
        "policy": policy.model_copy(update=small),
        "resources": settings.resources.model_copy(update=never),
        "forecast": settings.forecast.model_copy(update={"history": FARTHEST_FUTURE}),
    }
    return settings.model_copy(update=changed)
