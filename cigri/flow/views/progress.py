"""How each campaign goes on each of its clusters, for its forecast.
Read by: predictor.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, Subquery, and_, case, cast, func, literal, select, text
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB
from sqlalchemy.sql.elements import ColumnElement, Label

from cigri.database import among
from cigri.database.typed_rows import read_all
from cigri.flow.forecasts import NewForecast
from cigri.states import OPEN_CAMPAIGNS, BatchState, CampaignType, JobState, TaskState
from cigri.tables.campaigns import Bucket, BucketAverage, Campaign, CampaignCluster, Completion, Forecast
from cigri.tables.clusters import ClusterForecast
from cigri.tables.jobs import Batch, Job
from cigri.tables.tasks import REMAINS, Task, TaskCount

COUNTED = ("n", "known", "expected")

FIGURES = ("throughput", "mean", "deviation", "remaining", "median", "p95", "keep", "send", "submitted")
"""What the present forecast says of a campaign on a cluster, besides `ratio`, `free` and `memory`."""
NO_MEMORY: Mapping[str, float] = MappingProxyType({})


class Progress(NamedTuple):
    """A campaign on one cluster: totals of successful tasks, those of the window, and what is there now.

    `window_seconds` reaches back to the first completion in the window, at most its length. `durations`:
    cigri/estimates/durations.py. `submitted` jobs since the last pass;
    `ratio`, `free`, `memory` are those of the last forecast; `algorithm`: as the campaign wants it there, or empty.
    `guess`: seconds that a task takes there, as its user thinks; `average`: as the moving averages of its buckets say.
    Of the remaining tasks `known` took `expected` seconds in all when they last succeeded, and one of them `longest`.
    `speed` of the cluster in earlier campaigns; `done_known` of the done tasks were expected to take `done_expected`
    seconds: cigri/estimates/speeds.py.
    `doubted` tasks are done, but may have to be done again; `again`: attempts after which a task was not done.
    `replicates`: at its end tasks may be begun a second time. `before`: the present forecast. So many campaigns are
    `alike`, of which this is the first.
    """

    campaign_id: int
    cluster_id: int
    width: int
    done: int
    seconds: float
    squares: float
    window_tasks: int
    window_seconds: float
    running: int
    waiting: int
    remaining: int
    durations: Sequence[int] = ()
    walltime: float = 0.0
    submitted: int = 0
    ratio: float | None = None
    free: int | None = None
    memory: Mapping[str, float] = MappingProxyType({})
    algorithm: str = ""
    guess: float | None = None
    average: float | None = None
    known: int = 0
    expected: float = 0.0
    longest: float | None = None
    speed: float | None = None
    done_known: int = 0
    done_expected: float = 0.0
    doubted: int = 0
    again: int = 0
    replicates: bool = False
    before: NewForecast | None = None
    alike: int = 1


def is_any_open(conn: Connection) -> bool:
    """Is there any campaign to be forecast?"""
    return conn.scalar(select(Campaign.c.id).where(Campaign.c.state.in_(OPEN_CAMPAIGNS)).limit(1)) is not None


def list_progress(conn: Connection, window: float, besides: Collection[int] = ()) -> list[Progress]:
    """Every open campaign on each of its clusters, `besides` some."""
    part = CampaignCluster
    recent, live, sent, left, averages = _recent(window), _live(), _sent(), _remaining(), _averages()
    statement = (
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.done,
            part.c.seconds,
            part.c.squares,
            cast(func.coalesce(recent.c.tasks, 0), BigInteger).label("window_tasks"),
            cast(func.least(func.coalesce(recent.c.seconds, 0.0), window), DOUBLE_PRECISION).label("window_seconds"),
            func.coalesce(live.c.running, 0).label("running"),
            func.coalesce(live.c.waiting, 0).label("waiting"),
            cast(func.coalesce(left.c.n, 0), BigInteger).label("remaining"),
            part.c.durations,
            cast(part.c.settings["walltime"].as_integer(), DOUBLE_PRECISION).label("walltime"),
            cast(func.coalesce(sent.c.jobs, 0), BigInteger).label("submitted"),
            Forecast.c.ratio,
            Forecast.c.free,
            func.coalesce(part.c.settings["algorithm"].astext, "").label("algorithm"),
            cast(part.c.settings["duration"].as_integer(), DOUBLE_PRECISION).label("guess"),
            averages.c.seconds.label("average"),
            cast(func.coalesce(left.c.known, 0), BigInteger).label("known"),
            func.coalesce(left.c.expected, 0.0).label("expected"),
            left.c.longest,
            part.c.speed,
            part.c.known.label("done_known"),
            part.c.expected.label("done_expected"),
            part.c.doubted,
            (part.c.failed + part.c.resubmitted).label("again"),
            and_(Campaign.c.max_replicas.is_not(None), Campaign.c.type == CampaignType.DEFAULT).label("replicates"),
            literal(1, BigInteger).label("alike"),
            func.nullif(Forecast.c.memory, cast({}, JSONB), type_=JSONB).label("memory"),  # an empty one costs, too
            *(Forecast.c[name].label(f"before_{name}") for name in FIGURES),
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(recent, and_(recent.c.campaign_id == part.c.campaign_id, recent.c.cluster_id == part.c.cluster_id))
        .outerjoin(live, and_(live.c.campaign_id == part.c.campaign_id, live.c.cluster_id == part.c.cluster_id))
        .outerjoin(sent, and_(sent.c.campaign_id == part.c.campaign_id, sent.c.cluster_id == part.c.cluster_id))
        .outerjoin(left, left.c.campaign_id == part.c.campaign_id)
        .outerjoin(
            averages, and_(averages.c.campaign_id == part.c.campaign_id, averages.c.cluster_id == part.c.cluster_id)
        )
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS), part.c.campaign_id.not_in(among(besides)))
        .order_by(part.c.campaign_id, part.c.cluster_id)
    )
    return read_all(conn, Progress, statement, memory=lambda row: row.memory or NO_MEMORY, before=_before)


def list_alike(conn: Connection) -> dict[int, dict[int, int]]:
    """Open campaigns of which no job was ever made: by the first of those that differ only in how many tasks they have,
    the others, with the tasks that each has left.
    """
    asked, told, left = _asked(), _told(), _remaining()
    alike = (
        select(
            func.array_agg(asked.c.campaign_id).label("ids"),
            func.array_agg(cast(left.c.n, BigInteger)).label("remaining"),
        )
        .join(left, left.c.campaign_id == asked.c.campaign_id)
        .outerjoin(told, told.c.campaign_id == asked.c.campaign_id)
        .where(left.c.n > 0, left.c.known == 0, told.c.fewest.is_not_distinct_from(told.c.most))
        .group_by(asked.c.shape, asked.c.replicates, told.c.shape, told.c.most == left.c.n)
        .having(func.count() > 1)
    )
    found = {}
    for row in conn.execute(alike):
        remaining = dict(sorted(zip(row.ids, row.remaining, strict=True)))
        first = next(iter(remaining))
        del remaining[first]
        found[first] = remaining
    return found


def _asked() -> Subquery:
    """Of campaigns without jobs, all that their forecasts go by besides the clusters and the number of tasks."""
    part, campaign = CampaignCluster.c, Campaign.c
    settings = (part.settings[name] for name in ("walltime", "algorithm", "duration"))
    shape = _shape(part.cluster_id, part.width, part.speed, *settings)
    has_jobs = select(Job.c.id).where(Job.c.campaign_id == campaign.id).exists()
    replicates = and_(campaign.max_replicas.is_not(None), campaign.type == CampaignType.DEFAULT)
    return (
        select(part.campaign_id, func.bool_or(replicates).label("replicates"), shape)
        .join(Campaign, campaign.id == part.campaign_id)
        .where(campaign.state.in_(OPEN_CAMPAIGNS), ~has_jobs)
        .group_by(part.campaign_id)
        .having(func.bool_and(and_(part.done == 0, part.failed == 0, part.resubmitted == 0, part.doubted == 0)))
        .subquery()
    )


def _told() -> Subquery:
    """Of each campaign the present forecasts, and of how many tasks they are."""
    forecast = Forecast.c
    shape = _shape(*(forecast[name] for name in NewForecast._fields[1:] if name != "remaining"))
    fewest, most = func.min(forecast.remaining).label("fewest"), func.max(forecast.remaining).label("most")
    is_open = and_(Campaign.c.id == forecast.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    each = select(forecast.campaign_id, shape, fewest, most).join(Campaign, is_open)
    return each.group_by(forecast.campaign_id).subquery()


def _shape(*about: ColumnElement[Any]) -> Label[int]:
    """One number for what rows say, one of which is of each cluster: two of 2^64 are the same by chance alone."""
    return func.bit_xor(func.hash_record_extended(func.row(*about), 0), type_=BigInteger).label("shape")


def _before(row: Row[*tuple[Any, ...]]) -> NewForecast | None:
    if row.ratio is None:
        return None
    return NewForecast(
        campaign_id=row.campaign_id,
        cluster_id=row.cluster_id,
        ratio=row.ratio,
        throughput=row.before_throughput,
        mean=row.before_mean,
        deviation=row.before_deviation,
        remaining=row.before_remaining,
        eta=None,
        median=row.before_median,
        p95=row.before_p95,
        keep=row.before_keep,
        send=row.before_send,
        memory=row.memory or NO_MEMORY,
        submitted=row.before_submitted,
        free=row.free,
    )


def _recent(window: float) -> Subquery:
    """What was done in the window."""
    since = func.now() - timedelta(seconds=window)
    return (
        select(
            Completion.c.campaign_id,
            Completion.c.cluster_id,
            func.sum(Completion.c.tasks).label("tasks"),
            func.extract("epoch", func.now() - func.min(Completion.c.minute)).label("seconds"),
        )
        .where(Completion.c.minute > since)
        .group_by(Completion.c.campaign_id, Completion.c.cluster_id)
        .subquery()
    )


def _live() -> Subquery:
    """Jobs that have not ended."""
    return (
        select(
            Job.c.campaign_id,
            Job.c.cluster_id,
            func.count().filter(Job.c.state == JobState.RUNNING).label("running"),
            func.count().filter(Job.c.state != JobState.RUNNING).label("waiting"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.campaign_id, Job.c.cluster_id)
        .subquery()
    )


def _sent() -> Subquery:
    """Jobs sent since the last pass of the predictor."""
    return (
        select(Batch.c.campaign_id, Batch.c.cluster_id, func.sum(Batch.c.size).label("jobs"))
        .where(Batch.c.state == BatchState.SUBMITTED)
        .where(Batch.c.settled_at >= select(func.max(ClusterForecast.c.at)).scalar_subquery())
        .group_by(Batch.c.campaign_id, Batch.c.cluster_id)
        .subquery()
    )


def _averages() -> Subquery:
    """Seconds that a task takes on a cluster: sum(seconds x weight) / sum(weight) over the campaign's buckets.

    Of each the moving average, and of how many durations it is, at most (cigri/estimates/durations.py). It is thought
    that the tasks that remain are spread over the buckets as those that were done.
    """
    mean = func.sum(BucketAverage.c.seconds * BucketAverage.c.weight) / func.sum(BucketAverage.c.weight)
    return (
        select(Bucket.c.campaign_id, BucketAverage.c.cluster_id, cast(mean, DOUBLE_PRECISION).label("seconds"))
        .join(Bucket, Bucket.c.id == BucketAverage.c.bucket_id)
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .group_by(Bucket.c.campaign_id, BucketAverage.c.cluster_id)
        .subquery()
    )


def _remaining() -> Subquery:
    """Tasks that are not done yet, and what is known of them."""
    states = TaskState.WAITING, TaskState.ASSIGNED
    left = (
        select(TaskCount.c.campaign_id, *(func.sum(TaskCount.c[name]).label(name) for name in COUNTED))
        .join(Campaign, and_(Campaign.c.id == TaskCount.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(TaskCount.c.state.in_(states))
        .group_by(TaskCount.c.campaign_id)
        .subquery()
    )
    longest = (
        select(func.max(Task.c.expected))
        .where(Task.c.campaign_id == left.c.campaign_id, text(REMAINS))
        .scalar_subquery()
    )
    return select(left, case((left.c.known > 0, longest)).label("longest")).subquery()
