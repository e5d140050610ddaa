"""How each campaign goes on each of its clusters, for its forecast.
Read by: predictor.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, Select, Subquery, and_, case, cast, func, literal, select, text
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB

from cigri.database import bound_id_list
from cigri.database.typed_rows import read_all
from cigri.flow.forecasts import NewForecast
from cigri.states import LEFT_TO_DO, OPEN_CAMPAIGNS, BatchState, CampaignType, JobState
from cigri.tables.campaigns import Bucket, BucketAverage, Campaign, CampaignCluster, Completion, Forecast
from cigri.tables.clusters import ClusterRate
from cigri.tables.jobs import Batch, Job
from cigri.tables.tasks import REMAINS, Task, TaskCount

COUNTED = ("n", "known", "expected")

FIGURES = ("throughput", "mean", "deviation", "remaining", "median", "p95", "keep", "send", "submitted")
"""What the present forecast says of a campaign on a cluster, besides `ratio`, `free` and `memory`."""
NO_MEMORY: Mapping[str, float] = MappingProxyType({})


class CampaignProgress(NamedTuple):
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
    """Is there any campaign to be forecast: in treatment or paused?"""
    return conn.scalar(select(Campaign.c.id).where(Campaign.c.state.in_(OPEN_CAMPAIGNS)).limit(1)) is not None


def list_progress(conn: Connection, window: float, besides: Collection[int] = ()) -> list[CampaignProgress]:
    """Every open campaign but those of `besides` on each of its clusters, by both ids; `window` in seconds."""
    parameters = {"besides": list(besides)}
    return read_all(
        conn,
        CampaignProgress,
        _progress(window),
        parameters,
        memory=lambda row: row.memory or NO_MEMORY,
        before=_before,
    )


@cache
def _progress(window: float) -> Select[*tuple[Any, ...]]:
    part = CampaignCluster
    recent, live, sent, left, averages = _recent(window), _live(), _sent(), _remaining(), _averages()
    return (
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
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.id.not_in(bound_id_list("besides")))
        .order_by(part.c.campaign_id, part.c.cluster_id)
    )


def _before(row: Row[*tuple[Any, ...]]) -> NewForecast | None:
    """The present forecast of the cluster, as it was put last; None: there is none."""
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
    """Tasks done in the window, and the seconds over which they are spread; throughput is the one over the other.

    Completions are counted minute by minute (table completions), so the seconds reach from the beginning of the first
    minute with a completion until now: a campaign that began to end tasks within the window is not taken for slower
    than it is. It is assumed that the rate is steady since then.
    """
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
    """Jobs that have not ended: those that run, and all others, from chosen to queued."""
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
    """Jobs of batches that clusters accepted since the last pass of the predictor (the latest cluster forecast).

    No row before the first pass: nothing is known yet of what was sent in between.
    """
    return (
        select(Batch.c.campaign_id, Batch.c.cluster_id, func.sum(Batch.c.size).label("jobs"))
        .where(Batch.c.state == BatchState.SUBMITTED)
        .where(Batch.c.settled_at >= select(func.max(ClusterRate.c.at)).scalar_subquery())
        .group_by(Batch.c.campaign_id, Batch.c.cluster_id)
        .subquery()
    )


def _averages() -> Subquery:
    """Seconds that a task takes on a cluster: sum(seconds x weight) / sum(weight) over the campaign's buckets.

    Each bucket has a moving average of its durations, and as weight their number, at most WEIGHT of
    cigri/estimates/durations.py. It is assumed that the tasks that remain are spread over the buckets as those that
    were done.
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
    """Tasks that are left to do, by campaign: `n`, and those of them that succeeded in an earlier campaign.

    `known` of them took `expected` seconds in all at speed 1, by the counts that triggers keep; `longest`, of the
    longest of them, is looked up in an index where any is known. It is assumed that a task takes as long as it did
    last (flow/task_durations.py).
    """
    left = (
        select(TaskCount.c.campaign_id, *(func.sum(TaskCount.c[name]).label(name) for name in COUNTED))
        .join(Campaign, and_(Campaign.c.id == TaskCount.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(TaskCount.c.state.in_(LEFT_TO_DO))
        .group_by(TaskCount.c.campaign_id)
        .subquery()
    )
    longest = (
        select(func.max(Task.c.expected))
        .where(Task.c.campaign_id == left.c.campaign_id, text(REMAINS))
        .scalar_subquery()
    )
    return select(left, case((left.c.known > 0, longest)).label("longest")).subquery()
