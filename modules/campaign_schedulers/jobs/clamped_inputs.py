"""What was measured of a campaign and its clusters, made finite and not negative: odd figures make no failure; pure."""

from cigri.estimates.clamping import LARGEST_PLAUSIBLE, known_speed, known_within, within
from cigri.flow.tasks import Backlog
from cigri.flow.views.job_sizing import DurationStatistics, JobSizingStatistics, LiveJobTotals
from cigri.flow.views.stragglers import Straggler


def plausible_ground(ground: DurationStatistics) -> DurationStatistics:
    """A speed that is none is not known: None."""
    return ground._replace(
        duration_sum=within(ground.duration_sum, LARGEST_PLAUSIBLE),
        delay=within(ground.delay),
        hazard=within(ground.hazard),
        speed=known_speed(ground.speed),
        expected=within(ground.expected, LARGEST_PLAUSIBLE),
        cycle=within(ground.cycle),
    )


def plausible_try(live: Straggler) -> Straggler:
    """What is not known stays None: it has not begun to run, or wait, or never ran before."""
    ran, waited, expected = known_within(live.run_seconds), known_within(live.wait_seconds), known_within(live.expected)
    return live._replace(run_seconds=ran, wait_seconds=waited, expected=expected)


def plausible_backlog(backlog: Backlog) -> Backlog:
    """The sum of seconds may be larger than the longest one."""
    return backlog._replace(expected=within(backlog.expected, LARGEST_PLAUSIBLE), longest=within(backlog.longest))


def plausible_crew(crew: LiveJobTotals) -> LiveJobTotals:
    """`ran` is a sum over all its jobs."""
    return crew._replace(ran=within(crew.ran, LARGEST_PLAUSIBLE))


def plausible_pace(pace: JobSizingStatistics) -> JobSizingStatistics:
    """Sums of seconds and of their squares may be larger than single times."""
    return pace._replace(
        duration_sum=within(pace.duration_sum, LARGEST_PLAUSIBLE),
        duration_square_sum=within(pace.duration_square_sum, LARGEST_PLAUSIBLE),
        starts=[within(start) for start in pace.starts],
        job_seconds=within(pace.job_seconds, LARGEST_PLAUSIBLE),
        under_way=within(pace.under_way, LARGEST_PLAUSIBLE),
        cycle=within(pace.cycle),
    )
