"""What each campaign wants of each of its clusters.
Read by: metascheduler.

Whatever there is less of than of campaigns on clusters is read by itself: joined to each of them it would be looked up
for each of them, in an order that the planner chooses by what it thinks of tables that were filled a moment ago.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, case, cast, func, or_, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.selectable import Select

from cigri.database.typed_rows import read_all, read_by
from cigri.estimates.speeds import FEWEST_FOR_SPEED
from cigri.flow.ceilings import CampaignClusterKey
from cigri.flow.holds import list_held
from cigri.flow.task_places import count_furnished
from cigri.flow.views.cluster_delays import NO_DELAYS, list_delays
from cigri.flow.views.job_destinations import only_waiting
from cigri.flow.views.queued_jobs import list_asked
from cigri.flow.views.running_jobs import is_active
from cigri.states import WAITING_JOBS, CampaignState, CampaignType, JobState, StepState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.grid import Project
from cigri.tables.jobs import Job
from cigri.tables.tasks import Task, TaskCount


class _LiveCounts(NamedTuple):
    """Jobs of a share that have not ended, those of them that have run for a while, and those that wait for cores.

    And waiting tasks that are `bound` to the cluster, or `shunned` there.
    """

    jobs: int = 0
    proven: int = 0
    queued: int = 0
    bound: int = 0
    shunned: int = 0


NO_JOBS = _LiveCounts()


class PendingCampaign(NamedTuple):
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


class BegunCampaign(NamedTuple):
    """Tasks of a campaign that do not wait any more, and those of them that are in jobs now."""

    user: str
    begun: int
    live: int


class ClusterDemand(NamedTuple):
    """A campaign that could use a cluster: `width` cores a job, `live` jobs of its own there now.

    `waiting` tasks that any cluster may take; `ratio` jobs per core as forecast; `is_on_probation` after too many
    failures or doubts; `pinned` tasks that wait for this very cluster, which has their checkpoints. As forecast:
    `keep_waiting` jobs stay waiting behind what can start at once, None: as the cluster is configured; `send_now` are
    sent whatever is free, None: as the rest allows. `successes`: tasks that succeeded there, those of the same command
    in earlier campaigns with FEWEST_FOR_SPEED, and jobs that have run for a while.

    `mean`: seconds that a task takes there, if one has succeeded; `delay`: seconds that a job waits there even if cores
    are free; `hazard`: kills per core-second. `replicable`: tasks in jobs that may have another attempt, on free cores
    only. `submit_seconds`: seconds from the order to submit a batch to its acceptance, files of its tasks included;
    `avoiding`: of `waiting`, those that failed there last. `queued`: of `live`, those that do not run.
    `request_hashes`: what its waiting tasks ask the batch system for, one number for each bucket
    (views/queued_jobs.py).

    Those of one `equivalence_group`, which is not 0, are of the same cluster, for campaigns without jobs or tasks of
    their own there, and differ in nothing but these: in campaign, type, waiting, spare and asked.
    """

    campaign_id: int
    cluster_id: int
    type: CampaignType
    width: int
    max_jobs: int | None
    live: int
    waiting: int
    ratio: float
    is_on_probation: bool
    pinned: int = 0
    keep_waiting: int | None = None
    send_now: int | None = None
    successes: int = 0
    mean: float | None = None
    delay: float = 0.0
    hazard: float = 0.0
    replicable: int = 0
    submit_seconds: float = 0.0
    avoiding: int = 0
    queued: int = 0
    request_hashes: tuple[int, ...] = (0,)
    equivalence_group: int = 0

    @property
    def waits(self) -> bool:
        """Is there more to be given to it than what is left over?"""
        return self.waiting > 0 or self.pinned > 0 or not self.replicable


class _TaskCounts(NamedTuple):
    """Of a campaign: those that wait for any cluster, and those in jobs that may have another attempt.

    What those that wait ask for, one number for each bucket, beside the settings on a cluster. `have_inputs`: each of
    them waits for the cluster where its own inputs are.
    """

    type: CampaignType
    waiting: int
    spare: int
    asked: tuple[int, ...] = ()
    have_inputs: bool = False


class _AlikeCampaigns(NamedTuple):
    """Campaigns of which the same is known on a cluster."""

    campaign_ids: list[int]
    cluster_id: int
    width: int
    max_jobs: int | None
    ratio: float
    is_on_trial: bool
    keep: int | None
    send: int | None
    proven: int
    mean: float | None
    asked: int


def has_open_campaigns(conn: Connection) -> bool:
    """Is there any campaign in treatment?"""
    treated = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT)
    return conn.scalar(treated.limit(1)) is not None


def list_pending_campaigns(
    conn: Connection, wants: Sequence[ClusterDemand], *, everybody: bool = False
) -> list[PendingCampaign]:
    """The campaigns that want something, in the order of submission; or all in treatment, these without clusters."""
    clusters: dict[int, list[int]] = defaultdict(list)
    for want in wants:
        clusters[want.campaign_id].append(want.cluster_id)
    waited = func.extract("epoch", func.now() - func.coalesce(Campaign.c.served_at, Campaign.c.submitted_at))
    statement = (
        select(
            Campaign.c.id.label("campaign_id"),
            Campaign.c.type,
            Campaign.c.grid_user.label("user"),
            func.coalesce(Project.c.name, "").label("project"),
            Campaign.c.priority,
            cast(waited, DOUBLE_PRECISION).label("waited"),
            Forecast.c.published.label("eta"),
            func.coalesce(Forecast.c.pressure, 0.0).label("pressure"),
            Campaign.c.own_priority,
        )
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .order_by(Campaign.c.id)
    )
    claims = read_all(conn, PendingCampaign, statement, clusters=lambda row: tuple(clusters.get(row.campaign_id, ())))
    return [claim for claim in claims if everybody or claim.clusters]


def list_begun(conn: Connection) -> dict[int, BegunCampaign]:
    """By campaign, of those in treatment."""
    count, campaign = TaskCount.c, Campaign.c
    begun = func.sum(count.n).filter(count.state.not_in((TaskState.BLOCKED, TaskState.WAITING)))
    live = func.sum(count.n).filter(count.state == TaskState.ASSIGNED)
    statement = (
        select(
            campaign.id,
            campaign.grid_user.label("user"),
            cast(func.coalesce(begun, 0), BigInteger).label("begun"),
            cast(func.coalesce(live, 0), BigInteger).label("live"),
        )
        .join(TaskCount, count.campaign_id == campaign.id)
        .where(campaign.state == CampaignState.IN_TREATMENT, campaign.type == CampaignType.DEFAULT)
        .group_by(campaign.id)
    )
    return read_by(conn, "id", BegunCampaign, statement)


def list_cluster_demands(
    conn: Connection, errors: int, same_cluster: float, scouting: float = 30.0
) -> list[ClusterDemand]:
    """In the order of submission; `errors` is the number of failures in a row that puts a campaign on trial.

    A task waits `same_cluster` seconds for the cluster of its checkpoint; a job that has run for `scouting` seconds
    counts as proven.
    """
    stopped = _bound(conn, same_cluster)
    tasks, delays = _tasks(conn, stopped), list_delays(conn)
    furnished = [campaign_id for campaign_id, own_tasks in tasks.items() if own_tasks.have_inputs]
    live = _jobs_and_pinned(conn, scouting, stopped, furnished)
    held = list_held(conn)
    by_settings: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}
    wants = []
    for kind, alike in enumerate(read_all(conn, _AlikeCampaigns, _shares(errors)), start=1):
        campaign_ids, cluster_id, width, max_jobs, ratio, is_on_trial, keep, send, proven, mean, asked = alike
        delay, hazard, sending = delays.get(cluster_id, NO_DELAYS)
        for campaign_id in campaign_ids:
            share = campaign_id, cluster_id
            is_held = held and ((campaign_id, None) in held or share in held)
            if is_held or (own_tasks := tasks.get(campaign_id)) is None:
                continue
            type, waiting, spare, anywhere, have_inputs = own_tasks
            if (asked_here := by_settings.get((asked, anywhere))) is None:
                asked_here = by_settings[asked, anywhere] = tuple(asked ^ bucket for bucket in anywhere)
            jobs, proven_now, queued, bound, shunned = here = live.get(share, NO_JOBS)
            if have_inputs and not bound:
                continue
            wants.append(
                ClusterDemand(
                    campaign_id,
                    cluster_id,
                    type,
                    width,
                    max_jobs,
                    jobs,
                    waiting,
                    ratio,
                    is_on_trial,
                    bound,
                    keep,
                    send,
                    proven + proven_now,
                    mean,
                    delay,
                    hazard,
                    spare,
                    sending,
                    shunned,
                    queued,
                    asked_here,
                    kind if here is NO_JOBS else 0,
                )
            )
    return sorted(wants)


def _jobs_and_pinned(
    conn: Connection, scouting: float, stopped: Mapping[CampaignClusterKey, int], furnished: list[int]
) -> dict[CampaignClusterKey, _LiveCounts]:
    """Count the jobs of each campaign on each cluster, and the tasks that may run there only, or not there."""
    live = _live(conn, scouting)
    for share, number in stopped.items():
        live[share] = live.get(share, NO_JOBS)._replace(bound=number)
    for share, number in _shunned(conn).items():
        live[share] = live.get(share, NO_JOBS)._replace(shunned=number)
    for share, number in (count_furnished(conn, furnished) if furnished else {}).items():
        live[share] = live.get(share, NO_JOBS)._replace(bound=number)
    return live


def _tasks(conn: Connection, bound: Mapping[CampaignClusterKey, int]) -> dict[int, _TaskCounts]:
    """Of the campaigns in treatment that have something to do; those `bound` to a cluster wait for no other."""
    bound_anywhere, asked = Counter[int](), _asked(conn)
    for (campaign_id, _), number in bound.items():
        bound_anywhere[campaign_id] += number
    count, campaign = TaskCount.c, Campaign.c
    is_replicated = and_(campaign.max_replicas.is_not(None), campaign.type == CampaignType.DEFAULT)
    waiting = func.sum(count.n).filter(count.state == TaskState.WAITING)
    spare = func.sum(count.n).filter(count.state == TaskState.ASSIGNED, is_replicated) * campaign.max_replicas
    counts = conn.execute(
        select(
            campaign.id,
            campaign.type,
            campaign.tasks_have_inputs,
            cast(func.coalesce(waiting, 0), BigInteger).label("waiting"),
            cast(func.coalesce(spare, 0), BigInteger).label("spare"),
        )
        .join(TaskCount, count.campaign_id == campaign.id)
        .where(campaign.state == CampaignState.IN_TREATMENT)
        .group_by(campaign.id)
    )
    return {
        row.id: _TaskCounts(row.type, 0, 0, asked.get(row.id, ()), True)
        if row.tasks_have_inputs
        else _TaskCounts(row.type, row.waiting - bound_anywhere.get(row.id, 0), row.spare, asked.get(row.id, ()))
        for row in counts.all()
        if row.waiting > 0 or row.spare > 0
    }


@cache
def _shares(errors: int) -> Select[*tuple[Any, ...]]:
    """Campaigns in treatment on clusters that may be used for them now; those of which the same is known as one row."""
    part, forecast = CampaignCluster.c, Forecast.c
    each = (
        select(
            part.campaign_id,
            part.cluster_id,
            part.width,
            part.max_jobs,
            func.coalesce(forecast.ratio, 1.0 / part.width).label("ratio"),
            or_(
                part.errors >= errors,
                part.failed_sends > 0,
                part.idle_deaths > 1,
                and_(part.doubted_below.is_not(None), part.done == 0),
            ).label("is_on_trial"),
            forecast.keep,
            forecast.send,
            (part.done + case((part.speed.is_not(None), FEWEST_FOR_SPEED), else_=0)).label("proven"),
            forecast.mean,
            part.asked,
        )
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .outerjoin(Forecast, and_(forecast.campaign_id == part.campaign_id, forecast.cluster_id == part.cluster_id))
        .where(
            Campaign.c.state == CampaignState.IN_TREATMENT,
            part.prologue.in_((StepState.NONE, StepState.DONE)),
            or_(part.blocked_until.is_(None), part.blocked_until <= func.now()),
            part.sink_since.is_(None),
            ~part.lacks_inputs,
            ~part.outputs_wait,
        )
        .subquery()
    )
    campaign_id, *columns = each.c
    return select(func.array_agg(campaign_id).label("campaign_ids"), *columns).group_by(*columns)


def _live(conn: Connection, scouting: float) -> dict[CampaignClusterKey, _LiveCounts]:
    is_old = Job.c.started_at <= func.now() - timedelta(seconds=scouting)
    is_queued = and_(Job.c.state.in_(WAITING_JOBS), is_active())
    shares = conn.execute(
        select(
            Job.c.campaign_id,
            Job.c.cluster_id,
            func.count().label("jobs"),
            func.count().filter(is_old).label("proven"),
            func.count().filter(is_queued).label("queued"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.campaign_id, Job.c.cluster_id)
    )
    return {(row.campaign_id, row.cluster_id): _LiveCounts(row.jobs, row.proven, row.queued) for row in shares}


def _bound(conn: Connection, same_cluster: float) -> dict[CampaignClusterKey, int]:
    """Tasks that wait for the cluster of their checkpoint."""
    shares = conn.execute(
        select(Task.c.campaign_id, Task.c.checkpoint_cluster_id, func.count())
        .where(Task.c.state == TaskState.WAITING, Task.c.checkpoint_cluster_id.is_not(None))
        .where(Task.c.stopped_at > func.now() - timedelta(seconds=same_cluster))
        .group_by(Task.c.campaign_id, Task.c.checkpoint_cluster_id)
    )
    return {(campaign_id, cluster_id): number for campaign_id, cluster_id, number in shares if cluster_id is not None}


def _shunned(conn: Connection) -> dict[CampaignClusterKey, int]:
    """Waiting tasks that failed on a cluster, and may go to another.

    That they continue nowhere is no condition: with it the index of all tasks that wait would do as well, and be read.
    """
    may_go = func.count().filter(Task.c.checkpoint_cluster_id.is_(None))
    shares = conn.execute(
        select(Task.c.campaign_id, Task.c.failed_cluster_id, may_go)
        .where(Task.c.state == TaskState.WAITING, Task.c.failed_cluster_id.is_not(None))
        .group_by(Task.c.campaign_id, Task.c.failed_cluster_id)
    )
    return {(campaign_id, cluster_id): number for campaign_id, cluster_id, number in shares if cluster_id and number}


def _asked(conn: Connection) -> dict[int, tuple[int, ...]]:
    """Of each campaign in treatment, what the jobs of its tasks that wait ask for beside its settings on a cluster."""
    asked = list_asked(conn)
    buckets = only_waiting(conn, {campaign_id: list(by_bucket) for campaign_id, by_bucket in asked.items()})
    return {
        campaign_id: tuple([asked[campaign_id][bucket_id] for bucket_id in bucket_ids])
        for campaign_id, bucket_ids in buckets.items()
    }
