"""The metascheduler reads what campaigns want and makes offers; campaign schedulers take them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import CTE, BigInteger, Connection, Subquery, and_, case, cast, delete, func, insert, or_, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import clock
from cigri.flow.runner_to_anyone import is_there
from cigri.flow.user_to_anyone import is_share_held
from cigri.speeds import FEWEST
from cigri.states import WAITING_JOBS, BatchState, CampaignState, CampaignType, JobState, StepState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Forecast
from cigri.tables.clusters import ClusterForecast
from cigri.tables.grid import Project
from cigri.tables.jobs import Batch, Job
from cigri.tables.policy import Offer as OfferRow
from cigri.tables.tasks import Task, TaskCount

LARGEST = 2**31 - 1
ALMOST = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999
SENDINGS = 200  # latest batches, from which the time of a submission is taken


class Claim(NamedTuple):
    """A campaign that wants some clusters, and has got nothing for `waited` seconds.

    `eta`: its forecast end, as it is published; `pressure`: seconds of the critical path to it. `own_priority`: among
    the campaigns of its user only.
    """

    campaign_id: int
    type: CampaignType
    user: str
    project: str
    priority: int
    waited: float
    eta: datetime | None
    pressure: float
    clusters: tuple[int, ...] = ()
    own_priority: int = 0


class Want(NamedTuple):
    """A campaign that could use a cluster: `width` cores a job, `live` jobs of its own there now.

    `waiting` tasks that any cluster may take; `ratio` jobs per core as forecast; `is_on_trial` after too many failures
    or doubts; `bound` tasks that wait for this very cluster, which has their checkpoints. As forecast: `keep` jobs stay
    waiting behind what can start at once, None: as the cluster is configured; `send` are sent whatever is free, None:
    as the rest allows. `proven`: tasks that succeeded there, those of the same command
    in earlier campaigns with FEWEST, and jobs that have run for a while.

    `mean`: seconds that a task takes there, if one has succeeded; `delay`: seconds that a job waits there even if cores
    are free; `hazard`: kills per core-second. `spare`: tasks in jobs that may have another attempt, on free cores only.
    `sending`: seconds from the order to submit a batch to its acceptance, files of its tasks included; `shunned`: of
    `waiting`, those that failed there last. `queued`: of `live`, those that do not run; its tasks are in `buckets`.
    """

    campaign_id: int
    cluster_id: int
    type: CampaignType
    width: int
    max_jobs: int | None
    live: int
    waiting: int
    ratio: float
    is_on_trial: bool
    bound: int = 0
    keep: int | None = None
    send: int | None = None
    proven: int = 0
    mean: float | None = None
    delay: float = 0.0
    hazard: float = 0.0
    spare: int = 0
    sending: float = 0.0
    shunned: int = 0
    queued: int = 0
    buckets: int = 1

    @property
    def waits(self) -> bool:
        """Is there more to be given to it than what is left over?"""
        return self.waiting > 0 or self.bound > 0 or not self.spare


class Offer(NamedTuple):
    """Cores of a cluster that a campaign may use in this cycle, with at most `jobs` jobs; rank 0 goes first.

    `at_once` of the jobs can start at once; of each of its buckets at most `most_queued` may wait there.
    """

    campaign_id: int
    cluster_id: int
    cores: int
    jobs: int
    rank: int
    at_once: int = LARGEST
    most_queued: int = LARGEST


class TakenOffer(NamedTuple):
    """As forecast, `startable` jobs start at once. `replica_budget`, `max_replicas` None: no task is replicated.

    `at_once`, `most_queued`: those of the offer.
    """

    campaign_id: int
    cluster_id: int
    jobs: int
    width: int
    walltime: int
    scheduler: str
    type: CampaignType
    startable: int | None = None
    replica_budget: float | None = None
    max_replicas: int | None = None
    at_once: int = LARGEST
    most_queued: int = LARGEST


def has_open_campaigns(conn: Connection) -> bool:
    """Is there any campaign in treatment?"""
    treated = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT)
    return conn.scalar(treated.limit(1)) is not None


def list_claims(
    conn: Connection, wants: Sequence[Want], now: datetime | None = None, *, everybody: bool = False
) -> list[Claim]:
    """The campaigns that want something, in the order of submission; or all in treatment, these without clusters."""
    clusters: dict[int, list[int]] = defaultdict(list)
    for want in wants:
        clusters[want.campaign_id].append(want.cluster_id)
    waited = func.extract("epoch", clock(now) - func.coalesce(Campaign.c.served_at, Campaign.c.submitted_at))
    found = conn.execute(
        select(
            Campaign.c.id,
            Campaign.c.type,
            Campaign.c.grid_user,
            func.coalesce(Project.c.name, ""),
            Campaign.c.priority,
            cast(waited, DOUBLE_PRECISION),
            Forecast.c.published,
            func.coalesce(Forecast.c.pressure, 0.0),
            Campaign.c.own_priority,
        )
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .order_by(Campaign.c.id)
    )
    wanted = [row for row in found if everybody or row.id in clusters]
    return [Claim._make((*row[:-1], tuple(clusters[row.id]), row.own_priority)) for row in wanted]


def list_wants(
    conn: Connection, errors: int, same_cluster: float, now: datetime | None = None, scouting: float = 30.0
) -> list[Want]:
    """In the order of submission; `errors` is the number of failures in a row that puts a campaign on trial.

    A task waits `same_cluster` seconds for the cluster of its checkpoint; a job that has run for `scouting` seconds
    counts as proven.
    """
    part = CampaignCluster
    bound = _bound(same_cluster, now)
    elsewhere = (
        select(func.sum(bound.c.n)).where(bound.c.campaign_id == part.c.campaign_id).correlate(part).scalar_subquery()
    )
    is_replicated = and_(Campaign.c.max_replicas.is_not(None), Campaign.c.type == CampaignType.DEFAULT)
    waiting = _tasks(TaskState.WAITING).subquery("waiting")
    assigned = _tasks(TaskState.ASSIGNED).where(is_replicated).subquery("assigned")
    spare = cast(func.coalesce(assigned.c.n * Campaign.c.max_replicas, 0), BigInteger)
    live, shunned, sending, buckets = _live(scouting, now), _shunned(), _sending(), _buckets()
    statement = (
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            Campaign.c.type,
            part.c.width,
            part.c.max_jobs,
            func.coalesce(live.c.n, 0),
            cast(func.coalesce(waiting.c.n, 0) - func.coalesce(elsewhere, 0), BigInteger),
            func.coalesce(Forecast.c.ratio, 1.0 / part.c.width),
            or_(part.c.errors >= errors, and_(part.c.doubted_below.is_not(None), part.c.done == 0)),
            func.coalesce(bound.c.n, 0),
            Forecast.c.keep,
            Forecast.c.send,
            part.c.done + func.coalesce(live.c.old, 0) + case((part.c.speed.is_not(None), FEWEST), else_=0),
            Forecast.c.mean,
            func.coalesce(ClusterForecast.c.queue_delay, 0.0),
            func.coalesce(ClusterForecast.c.hazard, 0.0),
            spare,
            func.coalesce(sending.c.seconds, 0.0),
            func.coalesce(shunned.c.n, 0),
            func.coalesce(live.c.queued, 0),
            cast(func.coalesce(buckets.c.n, 1), BigInteger),
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(waiting, waiting.c.campaign_id == part.c.campaign_id)
        .outerjoin(assigned, assigned.c.campaign_id == part.c.campaign_id)
        .outerjoin(live, _is_share(live.c))
        .outerjoin(bound, _is_share(bound.c))
        .outerjoin(Forecast, _is_share(Forecast.c))
        .outerjoin(ClusterForecast, ClusterForecast.c.cluster_id == part.c.cluster_id)
        .outerjoin(sending, sending.c.cluster_id == part.c.cluster_id)
        .outerjoin(shunned, _is_share(shunned.c))
        .outerjoin(buckets, buckets.c.campaign_id == part.c.campaign_id)
        .where(
            Campaign.c.state == CampaignState.IN_TREATMENT,
            or_(waiting.c.n > 0, spare > 0),
            part.c.prologue.in_((StepState.NONE, StepState.DONE)),
            ~is_share_held(part.c.campaign_id, part.c.cluster_id),
            or_(part.c.blocked_until.is_(None), part.c.blocked_until <= clock(now)),
            part.c.sink_since.is_(None),
        )
        .order_by(part.c.campaign_id, part.c.cluster_id)
    )
    return [Want._make(row) for row in conn.execute(statement)]


def _tasks(state: TaskState) -> Select[int, int]:
    """So many tasks (`n`) of each campaign in treatment."""
    return (
        select(TaskCount.c.campaign_id, cast(func.sum(TaskCount.c.n), BigInteger).label("n"))
        .join(Campaign, and_(Campaign.c.id == TaskCount.c.campaign_id, Campaign.c.state == CampaignState.IN_TREATMENT))
        .where(TaskCount.c.state == state)
        .group_by(TaskCount.c.campaign_id)
    )


def _is_share(columns: Any) -> ColumnElement[bool]:
    """Does a row tell of this campaign on this cluster?"""
    part = CampaignCluster.c
    return and_(columns.campaign_id == part.campaign_id, columns.cluster_id == part.cluster_id)


def _bound(same_cluster: float, now: datetime | None) -> CTE:
    """Tasks that wait for the cluster of their checkpoint."""
    return (
        select(Task.c.campaign_id, Task.c.checkpoint_cluster_id.label("cluster_id"), func.count().label("n"))
        .where(Task.c.state == TaskState.WAITING, Task.c.checkpoint_cluster_id.is_not(None))
        .where(Task.c.stopped_at > clock(now) - timedelta(seconds=same_cluster))
        .group_by(Task.c.campaign_id, Task.c.checkpoint_cluster_id)
        .cte("bound")
    )


def _live(scouting: float, now: datetime | None) -> Subquery:
    """Jobs that have not ended, those of them that have run for a while, and those that wait for cores."""
    is_old = Job.c.started_at <= clock(now) - timedelta(seconds=scouting)
    is_queued = and_(Job.c.state.in_(WAITING_JOBS), is_there())
    counts = (
        func.count().label("n"),
        func.count().filter(is_old).label("old"),
        func.count().filter(is_queued).label("queued"),
    )
    return (
        select(Job.c.campaign_id, Job.c.cluster_id, *counts)
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.campaign_id, Job.c.cluster_id)
        .subquery()
    )


def _buckets() -> Subquery:
    """Of campaigns in treatment that have several."""
    return (
        select(Bucket.c.campaign_id, func.count().label("n"))
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state == CampaignState.IN_TREATMENT))
        .group_by(Bucket.c.campaign_id)
        .subquery()
    )


def _shunned() -> Subquery:
    """Waiting tasks that failed on a cluster, and may go to another."""
    return (
        select(Task.c.campaign_id, Task.c.failed_cluster_id.label("cluster_id"), func.count().label("n"))
        .where(Task.c.state == TaskState.WAITING, Task.c.failed_cluster_id.is_not(None))
        .where(Task.c.checkpoint_cluster_id.is_(None))
        .group_by(Task.c.campaign_id, Task.c.failed_cluster_id)
        .subquery()
    )


def _sending() -> Subquery:
    """The mean of the latest batches, by cluster."""
    batch = Batch.c
    latest = (
        select(batch.cluster_id, func.extract("epoch", batch.settled_at - batch.created_at).label("seconds"))
        .where(batch.state == BatchState.SUBMITTED)
        .order_by(batch.settled_at.desc())
        .limit(SENDINGS)
        .subquery()
    )
    mean = cast(func.avg(func.greatest(latest.c.seconds, 0.0)), DOUBLE_PRECISION).label("seconds")
    return select(latest.c.cluster_id, mean).group_by(latest.c.cluster_id).subquery()


def put_offers(conn: Connection, offers: Sequence[Offer], now: datetime | None = None) -> None:
    """Replace all offers of the last cycle."""
    conn.execute(delete(OfferRow))
    if offers:
        conn.execute(insert(OfferRow).values(at=clock(now)), [offer._asdict() for offer in offers])


def take_offers(conn: Connection) -> list[TakenOffer]:
    """Every offer, the first in rank first; an offer is taken once."""
    row = OfferRow.c
    about = (row.campaign_id, row.cluster_id, row.jobs, row.rank, row.at_once, row.most_queued)
    taken = conn.execute(delete(OfferRow).returning(*about))
    offers = {(row.campaign_id, row.cluster_id): row for row in taken}
    if not offers:
        return []
    part = CampaignCluster
    known = conn.execute(
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.settings["walltime"].as_integer().label("walltime"),
            Campaign.c.scheduler,
            Campaign.c.type,
            cast(func.floor(Forecast.c.ratio * Forecast.c.free + ALMOST), BigInteger).label("startable"),
            Campaign.c.replica_budget,
            Campaign.c.max_replicas,
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .where(part.c.campaign_id.in_({campaign_id for campaign_id, _ in offers}))
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .with_for_update(read=True, of=Campaign, skip_locked=True)  # nobody cancels it while its jobs are made
    )
    found = [(offers[key], row) for row in known if (key := (row.campaign_id, row.cluster_id)) in offers]
    found.sort(key=lambda pair: pair[0].rank)
    taken_offers = ((TakenOffer(one.campaign_id, one.cluster_id, offer.jobs, *one[2:]), offer) for offer, one in found)
    return [one._replace(at_once=offer.at_once, most_queued=offer.most_queued) for one, offer in taken_offers]
