"""What each figure of a simulation is: its name, unit, definition, target, and where it stands in the results."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from modules.laboratory.evaluation.results import CampaignResults, ClusterResults, SimulationResults, UserResults


class MetricDefinition(NamedTuple):
    """`target` is what we want of our own scheduler: at least (`above`) or at most so much."""

    key: str
    title: str
    unit: str
    definition: str
    target: float | None = None
    above: bool = False

    def is_met(self, value: float | None) -> bool | None:
        """None: there is no target, or no value."""
        if value is None or self.target is None:
            return None
        return value >= self.target if self.above else value <= self.target


class MetricValue(NamedTuple):
    """A figure of one thing (all, a cluster, a campaign, a user), at a time if it is a series."""

    figure: MetricDefinition
    of: str
    name: str
    at: float | None
    value: float | None


HARVESTED = MetricDefinition(
    "harvested_share",
    "Idle core-seconds harvested",
    "share",
    "Core-seconds that our jobs held, over those of cores that were up, idle of local jobs, and wanted by tasks.",
    0.95,
    above=True,
)
HARVESTABLE = MetricDefinition(
    "harvestable", "Harvestable", "core-seconds", "The core-seconds that could have been harvested."
)
AVOIDABLE = MetricDefinition(
    "avoidable_share",
    "Wasted by avoidable kills",
    "share",
    "Core-seconds of work lost to kills of our own, to too short walltimes, and to kills of jobs for which as many "
    "cores stayed free on another cluster, or on a cluster that had lost more than half of our work in the quarter of "
    "an hour before; over the core-seconds that our jobs held.",
    0.02,
)
UNAVOIDABLE = MetricDefinition(
    "unavoidable_share",
    "Wasted by other kills",
    "share",
    "Core-seconds of work lost to all other kills, over the core-seconds that our jobs held.",
)
WASTED = MetricDefinition(
    "wasted", "Wasted by kills", "core-seconds", "Work lost to kills, avoidable or not, that had to be done again."
)
SPENT_ON_LOST = MetricDefinition(
    "lost_share",
    "Spent on attempts that lost",
    "share",
    "Core-seconds of attempts that lost against another one at the same task (replicas, or what they replaced), over "
    "the core-seconds that our jobs held.",
)
DELAY = MetricDefinition(
    "local_delay_share",
    "Delay of local jobs",
    "share",
    "Sum of the seconds that local jobs started later than without the grid, over the sum of their run times.",
    0.01,
)
MEAN_DELAY = MetricDefinition(
    "local_delay_mean", "Mean delay of a local job", "seconds", "The same sum of delays, over the number of local jobs."
)
MAKESPAN = MetricDefinition("makespan", "Makespan", "seconds", "From the first submission to the end of the last task.")
BOUND = MetricDefinition(
    "bound",
    "Clairvoyant bound",
    "seconds",
    "The makespan, had every idle core been used from the submission on by one who knew the future; none is shorter.",
)
STRETCH = MetricDefinition(
    "makespan_over_bound", "Makespan over the bound", "times", "Makespan over the clairvoyant bound.", 1.1
)
BLIND = MetricDefinition(
    "makespan_over_blind",
    "Makespan over list scheduling",
    "times",
    "Makespan over that of one who knows no duration and no local job to come, but loses no time: the first task in "
    "line starts as soon as a core is idle, on the fastest cluster; local jobs take the cores of the youngest.",
    1.1,
)
SLOWDOWN = MetricDefinition(
    "bounded_slowdown",
    "Bounded slowdown",
    "times",
    "Of a task: time from submission to end over its run time, which counts as at least 10 s; at least 1. The mean "
    "over a user's tasks that ended.",
)
JAIN = MetricDefinition(
    "jain",
    "Fairness (Jain)",
    "index",
    "Jain's index of the core-seconds that users got over their fair share of what was given, the mean over the cycles "
    "in which several wanted something: 1 when all got their share, 1/n when one of n got all.",
    0.95,
    above=True,
)
TEST_MEDIAN = MetricDefinition(
    "test_latency_median",
    "Test campaigns begin within, median",
    "seconds",
    "From the submission of a test campaign to the start of its last task: the median.",
)
TEST_NINETIETH = MetricDefinition("test_latency_90", "90 % of them within", "seconds", "The same: the 90th percentile.")
TEST_LONGEST = MetricDefinition("test_latency_longest", "The slowest one", "seconds", "The same: the longest.")
ERROR = MetricDefinition(
    "eta_error",
    "Error of the expected end",
    "share",
    "Distance of the foretold from the true end, over the life of the campaign: the mean over campaigns that ended, "
    "by the part of their life that had passed.",
)
CALIBRATION = MetricDefinition(
    "calibration",
    "True ends within the 90 % interval",
    "share",
    "The share of a campaign's forecasts whose 90 % interval held its true end: the mean over campaigns.",
    0.90,
    above=True,
)
WIDTH = MetricDefinition(
    "interval_width",
    "Width of the 90 % interval",
    "times",
    "The width of the interval over the time that was truly left until the end: the median over a campaign's "
    "forecasts, the mean over campaigns that ended. An interval that is too wide says nothing.",
)
REMOTE_COMMANDS = MetricDefinition("commands", "Remote commands", "commands", "Commands sent to clusters' front-ends.")
WAITING = MetricDefinition(
    "waiting", "Jobs waiting", "jobs", "Jobs of ours in the queue of the cluster, from this time on."
)

SUMMARY_FIGURES: tuple[tuple[MetricDefinition, Callable[[SimulationResults], float | None]], ...] = (
    (HARVESTED, lambda results: results.grid.harvested_share),
    (AVOIDABLE, lambda results: results.grid.avoidable_share),
    (UNAVOIDABLE, lambda results: results.grid.unavoidable_share),
    (WASTED, lambda results: results.grid.wasted),
    (SPENT_ON_LOST, lambda results: results.grid.lost_share),
    (DELAY, lambda results: results.grid.delay_share),
    (MEAN_DELAY, lambda results: results.grid.mean_delay),
    (MAKESPAN, lambda results: results.makespan),
    (BOUND, lambda results: results.bound),
    (STRETCH, lambda results: results.stretch),
    (BLIND, lambda results: results.over_blind),
    (JAIN, lambda results: results.jain),
    (TEST_MEDIAN, lambda results: results.tests.median if results.tests else None),
    (TEST_NINETIETH, lambda results: results.tests.ninetieth if results.tests else None),
    (TEST_LONGEST, lambda results: results.tests.longest if results.tests else None),
    (CALIBRATION, lambda results: results.expectation.calibration),
    (WIDTH, lambda results: results.expectation.width),
    (REMOTE_COMMANDS, lambda results: results.grid.commands),
)
CLUSTER_FIGURES: tuple[tuple[MetricDefinition, Callable[[ClusterResults], float | None]], ...] = (
    (HARVESTED, lambda cluster: cluster.harvested_share),
    (HARVESTABLE, lambda cluster: cluster.harvestable),
    (AVOIDABLE, lambda cluster: cluster.avoidable_share),
    (UNAVOIDABLE, lambda cluster: cluster.unavoidable_share),
    (WASTED, lambda cluster: cluster.wasted),
    (DELAY, lambda cluster: cluster.delay_share),
    (MEAN_DELAY, lambda cluster: cluster.mean_delay),
    (REMOTE_COMMANDS, lambda cluster: cluster.commands),
)
CAMPAIGN_FIGURES: tuple[tuple[MetricDefinition, Callable[[CampaignResults], float | None]], ...] = (
    (MAKESPAN, lambda campaign: campaign.makespan),
    (BOUND, lambda campaign: campaign.bound),
    (STRETCH, lambda campaign: campaign.stretch),
)
OF_USER: tuple[tuple[MetricDefinition, Callable[[UserResults], float | None]], ...] = (
    (SLOWDOWN, lambda user: user.slowdown),
)


def values(results: SimulationResults) -> Iterator[MetricValue]:
    """Every figure of the report, the summary first."""
    for figure, value in SUMMARY_FIGURES:
        yield MetricValue(figure, "all", "", None, value(results))
    for point in results.expectation.errors:
        yield MetricValue(ERROR, "all", "", point.at, point.value)
    for cluster in results.clusters:
        yield from (
            MetricValue(figure, "cluster", cluster.name, None, value(cluster)) for figure, value in CLUSTER_FIGURES
        )
    for campaign in results.campaigns:
        yield from (
            MetricValue(figure, "campaign", campaign.name, None, value(campaign)) for figure, value in CAMPAIGN_FIGURES
        )
    for user in results.users:
        yield from (MetricValue(figure, "user", user.name, None, value(user)) for figure, value in OF_USER)
    for cluster in results.clusters:
        yield from (MetricValue(WAITING, "cluster", cluster.name, point.at, point.value) for point in cluster.waiting)
