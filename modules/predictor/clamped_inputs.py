"""What was measured of campaigns and clusters, made finite and not negative before anything is reckoned with it; pure.

So an odd figure (a clock that jumped, a sum that overflowed) spoils its own forecast only.
"""

from cigri.estimates.clamping import LARGEST_PLAUSIBLE, LARGEST_TIME, are_within, known_speed, known_within, within
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.flow.views.cluster_service import ClusterServiceCounts
from modules.predictor.freed_cores import FreedCores


def plausible_progress(part: CampaignProgress) -> CampaignProgress:
    """A guess of 0 seconds is no guess: None."""
    sums = part.seconds, part.squares, part.expected, part.done_expected
    times = part.window_seconds, part.walltime, part.guess or 0.0, part.average or 0.0, part.longest or 0.0
    speed = known_speed(part.speed)
    if are_within(sums, LARGEST_PLAUSIBLE) and are_within(times) and speed == part.speed:
        return part
    seconds, squares, expected, done_expected = (within(figure, LARGEST_PLAUSIBLE) for figure in sums)
    return part._replace(
        seconds=seconds,
        squares=squares,
        expected=expected,
        done_expected=done_expected,
        window_seconds=within(part.window_seconds),
        walltime=within(part.walltime),
        guess=known_within(part.guess) or None,
        average=known_within(part.average),
        longest=known_within(part.longest),
        speed=speed,
    )


def plausible_pace(pace: ClusterServiceCounts) -> ClusterServiceCounts:
    """What is not known stays None; only `drift`, a net change, may be below 0."""
    return pace._replace(
        cycle=known_within(pace.cycle),
        start_rate=known_within(pace.start_rate),
        queue_delay=known_within(pace.queue_delay),
        core_seconds=within(pace.core_seconds, LARGEST_PLAUSIBLE),
        taken=within(pace.taken, LARGEST_PLAUSIBLE),
        given=within(pace.given, LARGEST_PLAUSIBLE),
        usage_seconds=within(pace.usage_seconds),
        restless=within(pace.restless, LARGEST_PLAUSIBLE),
        drift=min(LARGEST_TIME, max(-LARGEST_TIME, pace.drift)),
        watched=within(pace.watched),
        sending=known_within(pace.sending),
    )


def plausible_ending(ending: FreedCores) -> FreedCores:
    """The variance, a sum of squares, may be larger than a count of cores."""
    return FreedCores(within(ending.cores), within(ending.variance, LARGEST_PLAUSIBLE))
