"""What everybody leaves for the predictor: how each campaign goes on each of its clusters."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, Subquery, and_, case, cast, delete, func, select, text
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB, insert

from cigri.database import clock
from cigri.flow.predictor_to_metascheduler import NewForecast
from cigri.states import OPEN_CAMPAIGNS, BatchState, CampaignType, JobState, TaskState
from cigri.tables.campaigns import Bucket, BucketAverage, Campaign, CampaignCluster, Completion, Forecast
from cigri.tables.clusters import ClusterForecast
from cigri.tables.jobs import Batch, Job
from cigri.tables.tasks import REMAINS, Task, TaskCount

COUNTED = ("n", "known", "expected")
FIGURES = ("throughput", "mean", "deviation", "remaining", "median", "p95", "keep", "send", "submitted")
"""What the present forecast says of a campaign on a cluster, besides `ratio`, `free` and `memory`."""
NOTHING: Mapping[str, float] = MappingProxyType({})


class Progress(NamedTuple):
    """A campaign on one cluster: totals of successful tasks, those of the window, and what is there now.

    `window_seconds` reaches back to the first completion in the window, at most its length. `durations`:
    cigri/durations.py. `submitted` jobs since the last pass;
    `ratio`, `free`, `memory` are those of the last forecast; `algorithm`: as the campaign wants it there, or empty.
    `guess`: seconds that a task takes there, as its user thinks; `average`: as the moving averages of its buckets say.
    Of the remaining tasks `known` took `expected` seconds in all when they last succeeded, and one of them `longest`.
    `speed` of the cluster in earlier campaigns; `done_known` of the done tasks were expected to take `done_expected`
    seconds: cigri/speeds.py.
    `doubted` tasks are done, but may have to be done again; `again`: attempts after which a task was not done.
    `replicates`: at its end tasks may be begun a second time. `before`: the present forecast.
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


def list_progress(conn: Connection, window: float, now: datetime | None = None) -> list[Progress]:
    """Every open campaign on each of its clusters."""
    part = CampaignCluster
    recent, live, sent, left, averages = _recent(window, now), _live(), _sent(), _remaining(), _averages()
    statement = (
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.done,
            part.c.seconds,
            part.c.squares,
            cast(func.coalesce(recent.c.tasks, 0), BigInteger),
            cast(func.least(func.coalesce(recent.c.seconds, 0.0), window), DOUBLE_PRECISION),
            func.coalesce(live.c.running, 0),
            func.coalesce(live.c.waiting, 0),
            cast(func.coalesce(left.c.n, 0), BigInteger),
            part.c.durations,
            cast(part.c.settings["walltime"].as_integer(), DOUBLE_PRECISION),
            cast(func.coalesce(sent.c.jobs, 0), BigInteger),
            Forecast.c.ratio,
            Forecast.c.free,
            func.nullif(Forecast.c.memory, cast({}, JSONB), type_=JSONB).label("memory"),  # an empty one costs, too
            func.coalesce(part.c.settings["algorithm"].astext, ""),
            cast(part.c.settings["duration"].as_integer(), DOUBLE_PRECISION),
            averages.c.seconds,
            cast(func.coalesce(left.c.known, 0), BigInteger),
            func.coalesce(left.c.expected, 0.0),
            left.c.longest,
            part.c.speed,
            part.c.known,
            part.c.expected,
            part.c.doubted,
            part.c.failed + part.c.resubmitted,
            and_(Campaign.c.max_replicas.is_not(None), Campaign.c.type == CampaignType.DEFAULT),
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
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS))
        .order_by(part.c.campaign_id, part.c.cluster_id)
    )
    return [_progress(row) for row in conn.execute(statement).all()]


def _progress(row: Row[*tuple[Any, ...]]) -> Progress:
    memory = row.memory or NOTHING
    before = None
    if row.ratio is not None:
        about = {"ratio": row.ratio, "free": row.free, "memory": memory}
        figures = dict(zip(FIGURES, row[-len(FIGURES) :], strict=True))
        before = NewForecast(campaign_id=row.campaign_id, cluster_id=row.cluster_id, eta=None, **about, **figures)
    kept = Progress._fields.index("memory")
    return Progress._make((*row[:kept], memory, *row[kept + 1 : -len(FIGURES)], before))


def add_up_counts(conn: Connection, longest: int = 200) -> None:
    """Replace the counts of campaigns that have gathered many rows by their sum; it changes no total."""
    many = select(TaskCount.c.campaign_id).group_by(TaskCount.c.campaign_id).having(func.count() > longest)
    gone = delete(TaskCount).where(TaskCount.c.campaign_id.in_(many))
    count = TaskCount.c
    added = gone.returning(count.campaign_id, count.state, count.n, count.known, count.expected).cte("added")
    totals = (func.sum(added.c[name]) for name in COUNTED)
    sums = select(added.c.campaign_id, added.c.state, *totals).group_by(added.c.campaign_id, added.c.state)
    conn.execute(insert(TaskCount).from_select(["campaign_id", "state", *COUNTED], sums))


def _recent(window: float, now: datetime | None) -> Subquery:
    """What was done in the window."""
    since = clock(now) - timedelta(seconds=window)
    return (
        select(
            Completion.c.campaign_id,
            Completion.c.cluster_id,
            func.sum(Completion.c.tasks).label("tasks"),
            func.extract("epoch", clock(now) - func.min(Completion.c.minute)).label("seconds"),
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
    """Of the buckets of a campaign on a cluster, each with its weight."""
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
