"""How clusters serve jobs: how fast they start them, and how many are about to end.
Read by: predictor, updator.

Every sample is bounded, so that a pass costs the same whatever the history.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import CTE, BigInteger, Connection, Integer, Subquery, and_, case, cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement, Label
from sqlalchemy.sql.selectable import LateralFromClause
from sqlalchemy.types import TypeEngine

from cigri.database import clock, rows
from cigri.database.typed_rows import read_all, read_by
from cigri.estimates.durations import LAST, SHORTEST, STEPS
from cigri.estimates.speeds import FEWEST
from cigri.flow.cluster_states import USAGE_PERIOD, minute_of
from cigri.settings.cluster import ClusterConfig, read_config
from cigri.states import JobKind, JobState, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, ClusterForecast, ClusterState, ClusterUsage
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task

SAMPLE = 500  # latest starts that are looked at
BURST = 10.0  # seconds over which starts are counted at the most; a visit sees those of several seconds at once
USUALLY = 0.9  # of the jobs are sent in that time
BRIEFEST_BURST = 1.0  # seconds; the clocks of clusters tell no less
UNIFORM = 3**0.5  # half the breadth, in deviations, of the durations that are thought possible
DEVIATION = 0.1  # of the duration of a task that ran before, as part of it
POLL_INTERVAL = float(ClusterConfig.model_fields["poll_interval"].default)
BRIEFEST = 0.1  # seconds; of what is shorter no more are expected to end


class ClusterService(NamedTuple):
    """A cluster of ours, last `looked_at` then, and what it did in the window; `cycle`, `at`: of the last forecast.

    start_rate: jobs per second, at its best from one look to the next, or in ten seconds; queue_delay: seconds, of
    jobs that found a core free and none before them, as last seen; `kills` by preemption in `core_seconds` of ours;
    cores that others have `taken` and `given` back in `usage_seconds`. `others`: cores that they have now; `swing`: the
    most that they took or gave back in a minute, `restless` the sum of the squares of that, and `drift` the sum, in the
    last `watched` seconds. `sending`: seconds from the choice of a job to its place in the queue, nine times in ten.
    """

    cluster_id: int
    config: ClusterConfig
    total: int
    free: int
    at: datetime | None
    cycle: float | None
    start_rate: float | None
    queue_delay: float | None
    kills: int
    core_seconds: float
    taken: float
    given: float
    usage_seconds: float
    others: int
    swing: int
    restless: float
    drift: float
    watched: float
    looked_at: datetime | None = None
    sending: float | None = None


class Ending(NamedTuple):
    """Cores of ours expected to be free again before the horizon, and the variance of that number."""

    cores: float
    variance: float


def list_cluster_services(
    conn: Connection, window: float, now: datetime | None = None, long_window: float = 3600.0
) -> dict[int, ClusterService]:
    """Every cluster that was visited, over the last `window` seconds; kills and the swing over `long_window`, for what
    comes now and then is to be remembered when it comes again.
    """
    since, long_since = clock(now) - timedelta(seconds=window), clock(now) - timedelta(seconds=long_window)
    delays, rates = _starts(since)
    kills = (
        select(func.count().label("n"))
        .where(Job.c.cluster_id == Cluster.c.id, Job.c.outcome == Outcome.PREEMPTED, Job.c.ended_at > long_since)
        .lateral()
    )
    usage = _usage(since, long_since)
    statement = (
        select(
            Cluster.c.id.label("cluster_id"),
            ClusterState.c.total,
            ClusterState.c.free,
            ClusterForecast.c.at,
            ClusterForecast.c.cycle,
            cast(rates.c.rate, DOUBLE_PRECISION).label("start_rate"),
            func.coalesce(delays.c.delay, ClusterForecast.c.queue_delay).label("queue_delay"),
            kills.c.n.label("kills"),
            *(_or_0(usage.c[name]) for name in ("core_seconds", "taken", "given", "usage_seconds")),
            (ClusterState.c.used - ClusterState.c.used_by_us).label("others"),
            func.coalesce(usage.c.swing, 0).label("swing"),
            *(_or_0(usage.c[name]) for name in ("restless", "drift", "watched")),
            ClusterState.c.at.label("looked_at"),
            cast(rates.c.sending, DOUBLE_PRECISION).label("sending"),
            Cluster.c.name,
            Cluster.c.config,
        )
        .join(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(ClusterForecast, ClusterForecast.c.cluster_id == Cluster.c.id)
        .outerjoin(rates, rates.c.id == Cluster.c.id)
        .outerjoin(delays, delays.c.id == Cluster.c.id)
        .join(kills, literal(True))
        .join(usage, literal(True))
    )
    services = read_all(conn, ClusterService, statement, config=lambda row: read_config(row.name, row.config))
    return {one.cluster_id: one for one in services if one.config is not None}  # those that can be read


def _or_0(figure: ColumnElement[Any]) -> Label[float]:
    return cast(func.coalesce(figure, 0.0), DOUBLE_PRECISION).label(figure.key)


def list_endings(conn: Connection, horizons: Mapping[int, float], now: datetime | None = None) -> dict[int, Ending]:
    """Per cluster, for the seconds to its horizon, from the ages of the jobs that run there; none: no job runs.

    A job ends in the time left with the probability that durations spread evenly around their mean give it; of jobs
    shorter than the horizon several follow each other on a core. Before the first end, a job lasts once more its age,
    and those of a campaign end together or not, as whatever is not known of one is not known of the others.
    The only task of a job that ran before lasts as long as then.
    """
    columns: dict[str, TypeEngine[Any]] = {"cluster_id": BigInteger(), "seconds": DOUBLE_PRECISION()}
    horizon = rows("horizons", columns, list(horizons.items()))
    tasks = select(Attempt.c.position.label("n"), Attempt.c.task_id).where(Attempt.c.job_id == Job.c.id)
    last = tasks.order_by(Attempt.c.position.desc()).limit(1).lateral()
    part = CampaignCluster
    count = cast(func.coalesce(last.c.n, 1), DOUBLE_PRECISION)
    mean = case((part.c.done > 0, func.greatest(part.c.seconds / func.greatest(part.c.done, 1), BRIEFEST)))
    sums = part.c.squares - part.c.seconds**2 / func.greatest(part.c.done, 1)
    sampled = func.sqrt(func.greatest(sums, 0.0) / func.greatest(part.c.done - 1, 1))
    deviation = case((part.c.done > 1, sampled), else_=mean)
    age = func.greatest(func.extract("epoch", clock(now) - Job.c.started_at) - Job.c.halted_seconds, 0.0)
    known = _known(last)
    jobs = (
        select(
            Job.c.cluster_id,
            Job.c.campaign_id,
            Job.c.width,
            cast(age, DOUBLE_PRECISION).label("age"),
            Job.c.walltime,
            func.coalesce(known, mean * count).label("mean"),
            func.coalesce(known * DEVIATION, deviation * func.sqrt(count)).label("deviation"),
            horizon.c.seconds.label("left"),
        )
        .join(horizon, horizon.c.cluster_id == Job.c.cluster_id)
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .join(last, literal(True), isouter=True)
        .where(Job.c.state == JobState.RUNNING, Job.c.halted_since.is_(None), Job.c.started_at.is_not(None))
        .where(Job.c.kind == JobKind.TASKS)
        .subquery()
    )
    ends = _ends(jobs.c.age, jobs.c.left, jobs.c.mean, jobs.c.deviation, jobs.c.walltime)
    about = (jobs.c.cluster_id, jobs.c.campaign_id, jobs.c.mean, jobs.c.deviation)
    expected = select(*about, cast(jobs.c.width, DOUBLE_PRECISION).label("width"), ends.label("ends")).subquery()
    ending = _ending_of_campaigns(expected).c
    cores = cast(func.sum(ending.cores), DOUBLE_PRECISION).label("cores")
    variance = cast(func.sum(ending.known + ending.unknown), DOUBLE_PRECISION).label("variance")
    return read_by(conn, "cluster_id", Ending, select(ending.cluster_id, cores, variance).group_by(ending.cluster_id))


def _ending_of_campaigns(expected: Subquery) -> Subquery:
    """By cluster: cores, and the variance by jobs that are known to end each by itself, and by others."""
    one = expected.c
    spread = case((one.ends <= 1, 1 - one.ends), else_=func.least(func.power(one.deviation / one.mean, 2.0), 1.0))
    each = func.sum(func.power(one.width, 2.0) * one.ends * spread).filter(one.mean.is_not(None))
    together = func.power(func.sum(one.width * func.sqrt(one.ends * (1 - one.ends))).filter(one.mean.is_(None)), 2.0)
    variances = func.coalesce(each, 0.0).label("known"), func.coalesce(together, 0.0).label("unknown")
    cores = func.sum(one.width * one.ends).label("cores")
    return select(one.cluster_id, cores, *variances).group_by(one.cluster_id, one.campaign_id).subquery()


def _known(last: LateralFromClause) -> ColumnElement[float]:
    """Seconds of a job of one task that ran before; others are not looked up. Speeds: cigri/estimates/speeds.py."""
    part = CampaignCluster.c
    is_measured = and_(part.known >= FEWEST, part.known >= part.done, part.expected > 0)
    slowness = case((is_measured, part.seconds / func.nullif(part.expected, 0.0)), else_=1.0 / part.speed)
    expected = select(Task.c.expected).where(Task.c.id == last.c.task_id).scalar_subquery()
    return case((and_(last.c.n == 1, or_(is_measured, part.speed.is_not(None))), func.nullif(expected * slowness, 0.0)))


def list_ages(
    conn: Connection, campaign_ids: Sequence[int], now: datetime | None = None
) -> dict[int, dict[int, list[int]]]:
    """How long the tasks of these campaigns run already: by campaign and cluster, counted as durations are.

    A job of several tasks is older than the one that it runs: it is left out.
    """
    age = func.greatest(func.extract("epoch", clock(now) - Job.c.started_at) - Job.c.halted_seconds, 0.0)
    place = bin_in_sql(cast(age, DOUBLE_PRECISION))
    is_one_of_several = select(Attempt.c.job_id).where(Attempt.c.job_id == Job.c.id, Attempt.c.position > 1).exists()
    statement = (
        select(Job.c.campaign_id, Job.c.cluster_id, place, func.count())
        .where(Job.c.campaign_id.in_(campaign_ids), Job.c.state == JobState.RUNNING, Job.c.kind == JobKind.TASKS)
        .where(Job.c.halted_since.is_(None), Job.c.started_at.is_not(None), ~is_one_of_several)
        .group_by(Job.c.campaign_id, Job.c.cluster_id, place)
    )
    found: dict[int, dict[int, list[int]]] = {}
    for campaign_id, cluster_id, bin_, jobs in conn.execute(statement):
        ages = found.setdefault(campaign_id, {}).setdefault(cluster_id, [])
        ages += [0] * (bin_ + 1 - len(ages))
        ages[bin_] = jobs
    return found


def bin_in_sql(seconds: ColumnElement[float]) -> ColumnElement[int]:
    """The bin of a duration (cigri/estimates/durations.py)."""
    steps = func.floor(STEPS * func.ln(func.greatest(seconds, SHORTEST) / SHORTEST) / math.log(2.0) + 1e-9)
    return case((seconds < SHORTEST, 0), else_=func.least(1 + cast(steps, Integer), LAST))


def _starts(since: ColumnElement[datetime]) -> tuple[Subquery, Subquery]:
    """Of each cluster's latest starts: the delay; the rate, and how long it took to send them."""
    started = (
        select(Job.c.id.label("job_id"), Job.c.width, Job.c.started_at, Job.c.submitted_at, Job.c.created_at)
        .where(Job.c.cluster_id == Cluster.c.id, Job.c.started_at > since)
        .order_by(Job.c.started_at.desc())
        .limit(SAMPLE)
        .lateral()
    )
    waited = func.greatest(func.extract("epoch", started.c.started_at - started.c.submitted_at), 0.0)
    minute = minute_of(started.c.submitted_at)
    before = (Cluster.c.id, minute)
    cores = func.sum(started.c.width).over(partition_by=before, order_by=(started.c.submitted_at, started.c.job_id))
    starts = (
        select(
            Cluster.c.id,
            started.c.started_at,
            started.c.submitted_at,
            _burst().label("burst"),
            func.extract("epoch", started.c.submitted_at - started.c.created_at).label("sending"),
            waited.label("waited"),
            (cores <= ClusterUsage.c.free).label("has_found_core"),
        )
        .select_from(Cluster)
        .join(started, literal(True))
        .outerjoin(ClusterUsage, and_(ClusterUsage.c.cluster_id == Cluster.c.id, ClusterUsage.c.at == minute))
        .outerjoin(ClusterForecast, ClusterForecast.c.cluster_id == Cluster.c.id)
        .cte()
    )
    delays = _delays(starts, since)
    number = func.floor(func.extract("epoch", starts.c.started_at) / starts.c.burst)
    counts = select(starts.c.id, starts.c.burst, func.count().label("n"))
    bursts = counts.group_by(starts.c.id, starts.c.burst, number).subquery()
    rates = select(bursts.c.id, func.max(bursts.c.n / bursts.c.burst).label("rate")).group_by(bursts.c.id).subquery()
    usual = func.percentile_cont(USUALLY).within_group(starts.c.sending)
    sent = select(starts.c.id, usual.label("sending")).group_by(starts.c.id).subquery()
    both = select(rates.c.id, rates.c.rate, sent.c.sending).join(sent, sent.c.id == rates.c.id)
    return delays, both.subquery()


def _burst() -> ColumnElement[float]:
    """Seconds: those between two looks, as far as they are known, for what starts in a wave does so between two."""
    told = Cluster.c.config["poll_interval"]
    interval = case((func.jsonb_typeof(told) == "number", told.as_float()), else_=POLL_INTERVAL)
    look = func.greatest(interval, func.coalesce(ClusterForecast.c.cycle, BURST))
    return cast(func.least(func.greatest(look, BRIEFEST_BURST), BURST), DOUBLE_PRECISION)


def _delays(starts: CTE, since: ColumnElement[datetime]) -> Subquery:
    """Of what was submitted while nothing waited, and found cores free: the rest waits as long as we let it.

    What was submitted before the sample began is not in it as a whole.
    """
    first = func.min(starts.c.started_at).over(partition_by=starts.c.id)
    is_cut = func.count().over(partition_by=starts.c.id) >= SAMPLE
    is_whole = and_(starts.c.submitted_at > since, or_(~is_cut, starts.c.submitted_at >= first))
    known = select(starts, is_whole.label("is_whole")).subquery()
    batches = (
        select(
            known.c.id,
            known.c.submitted_at,
            func.min(known.c.waited).filter(known.c.has_found_core, known.c.is_whole).label("delay"),
            func.max(known.c.started_at).label("last"),
        )
        .group_by(known.c.id, known.c.submitted_at)
        .subquery()
    )
    earlier = func.max(batches.c.last).over(partition_by=batches.c.id, order_by=batches.c.submitted_at, rows=(None, -1))
    found = select(batches.c.id, batches.c.delay, (earlier > batches.c.submitted_at).label("is_behind")).subquery()
    median = func.percentile_cont(0.5).within_group(found.c.delay).filter(found.c.is_behind.is_not(True))
    return select(found.c.id, median.label("delay")).group_by(found.c.id).subquery()


def _ends(
    age: ColumnElement[float],
    left: ColumnElement[float],
    mean: ColumnElement[float],
    deviation: ColumnElement[float],
    walltime: ColumnElement[int],
) -> ColumnElement[float]:
    """How many jobs end in `left` seconds where one runs that has this age."""
    longest = mean + UNIFORM * deviation
    return case(
        (mean <= left, left / mean),
        (age + left >= walltime, 1.0),
        (mean.is_(None), left / (left + age)),
        (age + left < mean - UNIFORM * deviation, 0.0),
        else_=func.least(left / func.greatest(longest - age, deviation, left), 1.0),
    )


def _usage(since: ColumnElement[datetime], long_since: ColumnElement[datetime]) -> LateralFromClause:
    """Core-seconds of ours; cores that others took and gave back `since` then, and in how many seconds; the most that
    they changed at once (a burst that came is expected to go as it came), sums of squares and of changes, seconds.
    """
    others = ClusterUsage.c.used - ClusterUsage.c.used_by_us
    change = others - func.lag(others).over(order_by=ClusterUsage.c.at)
    passed = func.extract("epoch", ClusterUsage.c.at - func.lag(ClusterUsage.c.at).over(order_by=ClusterUsage.c.at))
    seen = (
        select(ClusterUsage.c.at, ClusterUsage.c.used_by_us, change.label("change"), passed.label("passed"))
        .where(ClusterUsage.c.cluster_id == Cluster.c.id, ClusterUsage.c.at > long_since)
        .correlate(Cluster)
        .lateral()
    )
    is_recent = seen.c.at > since
    return select(
        (func.sum(seen.c.used_by_us) * USAGE_PERIOD).label("core_seconds"),
        func.sum(func.greatest(seen.c.change, 0)).filter(is_recent).label("taken"),
        func.sum(func.greatest(-seen.c.change, 0)).filter(is_recent).label("given"),
        func.sum(seen.c.passed).filter(is_recent).label("usage_seconds"),
        cast(func.max(func.abs(seen.c.change)), BigInteger).label("swing"),
        func.sum(seen.c.change * seen.c.change).label("restless"),
        func.sum(seen.c.change).label("drift"),
        func.sum(seen.c.passed).label("watched"),
    ).lateral()
