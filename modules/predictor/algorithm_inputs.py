"""What an algorithm is told of a campaign on a cluster, from what was measured of both; pure."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from cigri.estimates.clamping import within
from cigri.flow.forecasts import NewClusterRates
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.flow.views.cluster_service import ClusterServiceCounts
from cigri.formats.units import HOUR
from cigri.settings.cluster_config import ClusterConfig, visit_interval
from modules.predictor.algorithms import AlgorithmInputs
from modules.predictor.campaign_estimates import deviation, mean
from modules.predictor.clamped_inputs import plausible_ending, plausible_pace, plausible_progress
from modules.predictor.freed_cores import FreedCores

FIRST_CYCLE = 10.0  # seconds, before two forecasts have been made
LONGEST_CYCLE = 600.0  # after a longer pause the cycle is what it was before
UNHARMED = 1.0 * HOUR  # core-seconds without a kill that are granted to a cluster, so that the first kill is no verdict


class ClusterServiceRates(NamedTuple):
    """How a cluster serves us: as in the table `cluster_forecasts`, with its configuration and cores."""

    measured: NewClusterRates
    config: ClusterConfig
    total: int
    free: int
    cycle: float
    others: int
    swing: int
    restless: float
    drift: float
    watched: float
    is_news: bool = True
    usual_sending: float = 0.0

    @property
    def look(self) -> float:
        """Seconds between two looks at the cluster: every so many cycles."""
        return visit_interval(self.cycle, self.config.poll_interval)

    @property
    def horizon(self) -> float:
        """Seconds until jobs that are sent after the next look can start."""
        return self.look + self.sending + (self.measured.queue_delay or 0.0)

    @property
    def sending(self) -> float:
        """Seconds to send a job; what takes longer than from one look to the next waits for something else."""
        return min(self.usual_sending, self.look)


def measure(pace: ClusterServiceCounts, now: datetime) -> ClusterServiceRates:
    """Rates per second of what was counted in the window, and kills per core-second.

    hazard = kills / (core-seconds of ours + UNHARMED): the mean of a Poisson rate by Bayes, if kills come at random, to
    each core alike, and none came in UNHARMED core-seconds before.
    """
    pace = plausible_pace(pace)
    cycle = _cycle(pace, now)
    seconds = pace.usage_seconds
    measured = NewClusterRates(
        pace.cluster_id,
        round(cycle, 1),
        pace.start_rate,
        pace.queue_delay,
        within(pace.taken / seconds) if seconds > 0 else None,
        within(pace.given / seconds) if seconds > 0 else None,
        pace.kills / (pace.core_seconds + UNHARMED),
    )
    seen = (pace.others, pace.swing, pace.restless, pace.drift, pace.watched)
    is_news = pace.at is None or pace.looked_at is None or pace.looked_at > pace.at
    return ClusterServiceRates(measured, pace.config, pace.total, pace.free, cycle, *seen, is_news, pace.sending or 0.0)


def build_algorithm_inputs(
    part: CampaignProgress, service: ClusterServiceRates | None, endings: Mapping[int, FreedCores]
) -> AlgorithmInputs:
    """Of a cluster that was never visited only the campaign's own figures are known."""
    part = plausible_progress(part)
    of_campaign = AlgorithmInputs(
        width=part.width,
        running=part.running,
        waiting=part.waiting,
        submitted=part.submitted,
        ratio=part.ratio,
        free_before=part.free,
        mean=mean(part),
        deviation=deviation(part),
        walltime=part.walltime,
        memory=part.memory,
    )
    if service is None:
        return of_campaign
    measured = service.measured
    ending = plausible_ending(endings[part.cluster_id]) if part.cluster_id in endings else None
    return of_campaign._replace(
        total=service.total,
        free=service.free,
        keep_waiting=service.config.keep_waiting,
        max_waiting=service.config.max_waiting,
        cycle=service.cycle,
        visit_interval=service.look,
        sending=service.sending,
        start_rate=measured.start_rate,
        queue_delay=measured.queue_delay,
        arrivals=measured.arrivals or 0.0,
        releases=measured.releases or 0.0,
        hazard=measured.hazard or 0.0,
        others=service.others,
        largest_load_change=service.swing,
        load_change_square_sum=service.restless,
        net_load_change=service.drift,
        observed_seconds=service.watched,
        is_fresh=service.is_news,
        ending=ending.cores if ending else (0.0 if part.done else None),
        ending_deviation=math.sqrt(ending.variance) if ending else 0.0,
    )


def _cycle(pace: ClusterServiceCounts, now: datetime) -> float:
    """Seconds between two forecasts: half of it from the past, so that one long pass does not double it."""
    before = pace.cycle or FIRST_CYCLE
    passed = (now - pace.at).total_seconds() if pace.at else 0.0
    if not 0 < passed <= LONGEST_CYCLE:
        return before
    return passed if pace.cycle is None else (before + passed) / 2
