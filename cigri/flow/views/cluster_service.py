"""How clusters serve jobs: how fast they start them, and which run there, for how long already.
Read by: predictor, updator.

Every sample is bounded, so that a pass costs the same whatever the history. Figures are reckoned in PostgreSQL, each in
one function: of 500 starts on each of 100 clusters that took 0.4 to 0.9 s, and only to read these starts 0.6 to 0.9.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import CTE, BigInteger, Connection, Integer, Subquery, and_, case, cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement, Label
from sqlalchemy.sql.selectable import LateralFromClause, Select

from cigri.database import bound_id_list
from cigri.database.typed_rows import read_all
from cigri.estimates.durations import BINS_PER_DOUBLING, LAST_BIN, SHORTEST_DURATION
from cigri.estimates.speeds import FEWEST_FOR_SPEED
from cigri.flow.cluster_states import USAGE_PERIOD, minute_of
from cigri.flow.clusters import declared_poll_interval
from cigri.settings.cluster_config import ClusterConfig, read_config
from cigri.states import JobKind, JobState, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, ClusterRate, ClusterState, ClusterUsage
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task

SAMPLE = 500  # latest starts that are looked at
BURST = 10.0  # seconds over which starts are counted at the most; a visit sees those of several seconds at once
USUALLY = 0.9  # of the jobs are sent in that time
BRIEFEST_BURST = 1.0  # seconds; the clocks of clusters tell no less


class ClusterServiceCounts(NamedTuple):
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


class RunningJobProgress(NamedTuple):
    """A job that runs `tasks` tasks of a campaign one after the other, for `age` seconds, not counting when it stood.

    `before`: seconds that its only task takes at speed 1, if it ran before and something is known of the cluster's
    speed. Of its campaign there: the `seconds` of the tasks that are `done`, and their `squares`; `known` of them were
    expected to take `expected` seconds; `speed` of the cluster in earlier campaigns: cigri/estimates/speeds.py.
    """

    campaign_id: int
    cluster_id: int
    width: int
    age: float
    walltime: int
    tasks: int
    before: float | None
    done: int
    seconds: float
    squares: float
    known: int
    expected: float
    speed: float | None


def list_cluster_services(
    conn: Connection, window: float, long_window: float = 3600.0
) -> dict[int, ClusterServiceCounts]:
    """Every cluster that was visited, over the last `window` seconds; kills and the swing over `long_window`, for what
    comes now and then is to be remembered when it comes again.
    """
    statement = _services(window, long_window, SAMPLE)
    services = read_all(conn, ClusterServiceCounts, statement, config=lambda row: read_config(row.name, row.config))
    return {service.cluster_id: service for service in services if service.config is not None}  # those that can be read


@cache
def _services(window: float, long_window: float, most: int) -> Select[*tuple[Any, ...]]:
    since, long_since = func.now() - timedelta(seconds=window), func.now() - timedelta(seconds=long_window)
    starts = _starts(since, most)
    rates, sendings, delays = _start_rates(starts), _sendings(starts), _delays(starts, since, most)
    kills = (
        select(func.count().label("n"))
        .where(Job.c.cluster_id == Cluster.c.id, Job.c.outcome == Outcome.PREEMPTED, Job.c.ended_at > long_since)
        .lateral()
    )
    usage = _usage(since, long_since)
    return (
        select(
            Cluster.c.id.label("cluster_id"),
            ClusterState.c.total,
            ClusterState.c.free,
            ClusterRate.c.at,
            ClusterRate.c.cycle,
            cast(rates.c.rate, DOUBLE_PRECISION).label("start_rate"),
            func.coalesce(delays.c.delay, ClusterRate.c.queue_delay).label("queue_delay"),
            kills.c.n.label("kills"),
            *(_or_0(usage.c[name]) for name in ("core_seconds", "taken", "given", "usage_seconds")),
            (ClusterState.c.used - ClusterState.c.used_by_us).label("others"),
            func.coalesce(usage.c.swing, 0).label("swing"),
            *(_or_0(usage.c[name]) for name in ("restless", "drift", "watched")),
            ClusterState.c.at.label("looked_at"),
            cast(sendings.c.sending, DOUBLE_PRECISION).label("sending"),
            Cluster.c.name,
            Cluster.c.config,
        )
        .join(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(ClusterRate, ClusterRate.c.cluster_id == Cluster.c.id)
        .outerjoin(rates, rates.c.id == Cluster.c.id)
        .outerjoin(sendings, sendings.c.id == Cluster.c.id)
        .outerjoin(delays, delays.c.id == Cluster.c.id)
        .join(kills, literal(True))
        .join(usage, literal(True))
    )


def _or_0(figure: ColumnElement[Any]) -> Label[float]:
    return cast(func.coalesce(figure, 0.0), DOUBLE_PRECISION).label(figure.key)


def list_under_way(conn: Connection, cluster_ids: Iterable[int]) -> list[RunningJobProgress]:
    """Every job of tasks that runs on these clusters, and is not suspended."""
    return read_all(conn, RunningJobProgress, _under_way(), {"clusters": list(cluster_ids)})


@cache
def _under_way() -> Select[*tuple[Any, ...]]:
    part = CampaignCluster.c
    tasks = select(Attempt.c.position.label("n"), Attempt.c.task_id).where(Attempt.c.job_id == Job.c.id)
    last = tasks.order_by(Attempt.c.position.desc()).limit(1).lateral()
    has_speed = or_(part.known >= FEWEST_FOR_SPEED, part.speed.is_not(None))
    before = select(Task.c.expected).where(Task.c.id == last.c.task_id).scalar_subquery()
    return (
        select(
            Job.c.campaign_id,
            Job.c.cluster_id,
            Job.c.width,
            _age().label("age"),
            Job.c.walltime,
            func.coalesce(last.c.n, 1).label("tasks"),
            case((and_(last.c.n == 1, has_speed), before)).label("before"),  # others are not looked up
            *(part[name] for name in ("done", "seconds", "squares", "known", "expected", "speed")),
        )
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .join(last, literal(True), isouter=True)
        .where(Job.c.cluster_id.in_(bound_id_list("clusters")), Job.c.state == JobState.RUNNING)
        .where(Job.c.halted_since.is_(None), Job.c.started_at.is_not(None), Job.c.kind == JobKind.TASKS)
    )


def list_ages(conn: Connection, campaign_ids: Sequence[int]) -> dict[int, dict[int, list[int]]]:
    """How long the tasks of these campaigns run already: by campaign and cluster, counted as durations are.

    A job of several tasks is older than the one that it runs: it is left out.
    """
    counts: dict[int, dict[int, list[int]]] = {}
    for campaign_id, cluster_id, bin_, jobs in conn.execute(_ages(), {"campaigns": list(campaign_ids)}):
        ages = counts.setdefault(campaign_id, {}).setdefault(cluster_id, [])
        ages += [0] * (bin_ + 1 - len(ages))
        ages[bin_] = jobs
    return counts


@cache
def _ages() -> Select[*tuple[Any, ...]]:
    place = bin_in_sql(_age())
    is_one_of_several = select(Attempt.c.job_id).where(Attempt.c.job_id == Job.c.id, Attempt.c.position > 1).exists()
    return (
        select(Job.c.campaign_id, Job.c.cluster_id, place, func.count())
        .where(Job.c.campaign_id.in_(bound_id_list("campaigns")))
        .where(Job.c.state == JobState.RUNNING, Job.c.kind == JobKind.TASKS)
        .where(Job.c.halted_since.is_(None), Job.c.started_at.is_not(None), ~is_one_of_several)
        .group_by(Job.c.campaign_id, Job.c.cluster_id, place)
    )


def _age() -> ColumnElement[float]:
    age = func.extract("epoch", func.now() - Job.c.started_at) - Job.c.halted_seconds
    return cast(func.greatest(age, 0.0), DOUBLE_PRECISION)


def bin_in_sql(seconds: ColumnElement[float]) -> ColumnElement[int]:
    """The bin of a duration (cigri/estimates/durations.py)."""
    steps = func.floor(
        BINS_PER_DOUBLING * func.ln(func.greatest(seconds, SHORTEST_DURATION) / SHORTEST_DURATION) / math.log(2.0)
        + 1e-9
    )
    return case((seconds < SHORTEST_DURATION, 0), else_=func.least(1 + cast(steps, Integer), LAST_BIN))


def _starts(since: ColumnElement[datetime], most: int) -> CTE:
    """Each cluster's latest starts since then, `most` of them, with what the figures below are made of.

    `burst`, `sending`, `waited`: seconds. `has_found_core`: with what was submitted before in the same minute it needed
    no more cores than were free at the last visit before (cluster_usage).
    """
    started = (
        select(Job.c.id.label("job_id"), Job.c.width, Job.c.started_at, Job.c.submitted_at, Job.c.created_at)
        .where(Job.c.cluster_id == Cluster.c.id, Job.c.started_at > since)
        .order_by(Job.c.started_at.desc())
        .limit(most)
        .lateral()
    )
    waited = func.greatest(func.extract("epoch", started.c.started_at - started.c.submitted_at), 0.0)
    minute = minute_of(started.c.submitted_at)
    before = (Cluster.c.id, minute)
    cores = func.sum(started.c.width).over(partition_by=before, order_by=(started.c.submitted_at, started.c.job_id))
    return (
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
        .outerjoin(ClusterRate, ClusterRate.c.cluster_id == Cluster.c.id)
        .cte()
    )


def _start_rates(starts: CTE) -> Subquery:
    """Jobs per second: the most starts in a burst, over its length; time is cut into bursts, one behind the other.

    The best says what a batch system is able to start. That it starts less at other times is most often not its fault:
    there was nothing more to start, or no core.
    """
    number = func.floor(func.extract("epoch", starts.c.started_at) / starts.c.burst)
    counts = select(starts.c.id, starts.c.burst, func.count().label("n"))
    bursts = counts.group_by(starts.c.id, starts.c.burst, number).subquery()
    return select(bursts.c.id, func.max(bursts.c.n / bursts.c.burst).label("rate")).group_by(bursts.c.id).subquery()


def _sendings(starts: CTE) -> Subquery:
    """Seconds from a job's creation to its submission that USUALLY of the jobs do not exceed, between two as a line."""
    usual = func.percentile_cont(USUALLY).within_group(starts.c.sending)
    return select(starts.c.id, usual.label("sending")).group_by(starts.c.id).subquery()


def _burst() -> ColumnElement[float]:
    """Seconds: those between two looks, as far as they are known, for what starts in a wave does so between two.

    The longer of the cluster's own interval and the grid's last cycle, from BRIEFEST_BURST to BURST.
    """
    look = func.greatest(declared_poll_interval(), func.coalesce(ClusterRate.c.cycle, BURST))
    return cast(func.least(func.greatest(look, BRIEFEST_BURST), BURST), DOUBLE_PRECISION)


def _delays(starts: CTE, since: ColumnElement[datetime], most: int) -> Subquery:
    """Seconds from submission to start where a core is free: the median, over batches, of the shortest wait in each.

    Of batches that were submitted while nothing waited, and of jobs that found cores free: the rest waits as long as we
    let it. The shortest of a batch is that of its first job, which waits for nothing but the batch system. What was
    submitted before the sample began is not in it as a whole.
    """
    first = func.min(starts.c.started_at).over(partition_by=starts.c.id)
    is_cut = func.count().over(partition_by=starts.c.id) >= most
    is_whole = and_(starts.c.submitted_at > since, or_(~is_cut, starts.c.submitted_at >= first))
    sample = select(starts, is_whole.label("is_whole")).subquery()
    batches = (
        select(
            sample.c.id,
            sample.c.submitted_at,
            func.min(sample.c.waited).filter(sample.c.has_found_core, sample.c.is_whole).label("delay"),
            func.max(sample.c.started_at).label("last"),
        )
        .group_by(sample.c.id, sample.c.submitted_at)
        .subquery()
    )
    earlier = func.max(batches.c.last).over(partition_by=batches.c.id, order_by=batches.c.submitted_at, rows=(None, -1))
    waits = select(batches.c.id, batches.c.delay, (earlier > batches.c.submitted_at).label("is_behind")).subquery()
    median = func.percentile_cont(0.5).within_group(waits.c.delay).filter(waits.c.is_behind.is_not(True))
    return select(waits.c.id, median.label("delay")).group_by(waits.c.id).subquery()


def _usage(since: ColumnElement[datetime], long_since: ColumnElement[datetime]) -> LateralFromClause:
    """From one minute of a cluster's history (cluster_usage) to the next: what others changed, and what we had.

    `core_seconds` of ours, each minute as at its visit. `taken`, `given`: cores that others took and gave back after
    `since`, in `usage_seconds`. In the longer time: `swing`, the most cores that they changed at once (a burst that
    came is expected to go as it came); `restless`, the sum of the squares of the changes; `drift`, their sum;
    `watched`, seconds. modules/predictor/local_load.py makes of these three how often that load jumps.
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
