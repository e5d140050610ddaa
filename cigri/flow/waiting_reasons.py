"""Waiting reasons: what batch systems say of jobs of ours that wait; those that wait in vain go elsewhere.
Given by: updator; taken by: predictor, updator, users.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement

from cigri.api_models.pending_reasons import WaitingJobs
from cigri.database import pause_after
from cigri.database.typed_rows import read_all
from cigri.estimates.backoff import JOBS_THAT_CANNOT_START
from cigri.flow.clusters import ClusterRow
from cigri.flow.error_budgets import JOBS_STUCK
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.kill_requests import request_kills
from cigri.flow.views.job_destinations import is_closed
from cigri.flow.views.unwanted_jobs import may_move
from cigri.formats.units import as_utc
from cigri.states import EventLevel, JobState, KillReason, StepState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, ClusterState
from cigri.tables.jobs import Job
from cigri.tables.sharing import WaitingReason


class WaitingGroup(NamedTuple):
    """Jobs of an account of which its batch system says the same: `said` in its words, `meaning` in ours.

    `is_stuck`: they wait for what does not come by itself. `starts_at`: when the first of them is to start.
    """

    campaign_id: int
    said: str
    meaning: str
    is_stuck: bool
    jobs: int
    starts_at: datetime | None


class StuckJobs(NamedTuple):
    """Jobs of a campaign that wait in vain, and what is said of most of them."""

    job_ids: Sequence[int]
    said: str
    meaning: str


class QueueOutlook(NamedTuple):
    """Of a campaign of which nothing runs: when its first job is to start, if batch systems say so.

    `is_stuck`: all its jobs that are there wait in vain.
    """

    starts_at: datetime | None
    is_stuck: bool


class _ToldHere(NamedTuple):
    cluster: str
    said: str
    meaning: str
    is_stuck: bool
    jobs: int
    starts_at: datetime | None
    since: datetime


def list_waiting_groups(conn: Connection, cluster_id: int) -> dict[str, list[WaitingGroup]]:
    """Those that are known of a cluster, by account."""
    of_cluster = select(WaitingReason).where(WaitingReason.c.cluster_id == cluster_id)
    known: dict[str, list[WaitingGroup]] = defaultdict(list)
    for row in conn.execute(of_cluster):
        group = WaitingGroup(row.campaign_id, row.said, row.meaning, row.is_stuck, row.jobs, row.starts_at)
        known[row.local_user].append(group)
    return dict(known)


def list_waiting_reasons(conn: Connection, campaign_id: int) -> dict[str, list[WaitingJobs]]:
    """Of one campaign, by cluster; those that do not pass come first, then those of most jobs."""
    reason = WaitingReason.c
    statement = (
        select(Cluster.c.name.label("cluster"), *(reason[name] for name in WaitingJobs._fields))
        .join(Cluster, Cluster.c.id == reason.cluster_id)
        .where(reason.campaign_id == campaign_id)
        .order_by(Cluster.c.name, reason.is_stuck.desc(), reason.jobs.desc(), reason.said, reason.local_user)
    )
    by_cluster: dict[str, list[WaitingJobs]] = defaultdict(list)
    for told in read_all(conn, _ToldHere, statement):
        values = told._asdict()
        by_cluster[values.pop("cluster")].append(WaitingJobs(**values))
    return dict(by_cluster)


def list_queue_outlooks(conn: Connection) -> dict[int, QueueOutlook]:
    """What batch systems say of campaigns of which jobs wait, and none runs or is about to be sent."""
    reason = WaitingReason.c
    others = Job.c.state.in_((JobState.TO_LAUNCH, JobState.LAUNCHING, JobState.RUNNING))
    is_under_way = select(Job.c.id).where(Job.c.campaign_id == reason.campaign_id, others).exists()
    statement = (
        select(reason.campaign_id, func.min(reason.starts_at), func.bool_and(reason.is_stuck))
        .where(~is_under_way)
        .group_by(reason.campaign_id)
    )
    return {id: QueueOutlook(starts_at, is_stuck) for id, starts_at, is_stuck in conn.execute(statement)}


def put_waiting_groups(
    conn: Connection, cluster: ClusterRow, user: str, groups: Sequence[WaitingGroup], before: Sequence[WaitingGroup]
) -> None:
    """Replace those of an account; each is known for as long as its batch system goes on saying it.

    Of campaigns of which nothing waits in vain any more, and that were not set aside for it, the event is closed.
    """
    here = and_(WaitingReason.c.cluster_id == cluster.id, WaitingReason.c.local_user == user)
    present = {(group.campaign_id, group.said) for group in groups}
    gone = [group for group in before if (group.campaign_id, group.said) not in present]
    if gone:
        is_gone = or_(
            *(and_(WaitingReason.c.campaign_id == one.campaign_id, WaitingReason.c.said == one.said) for one in gone)
        )
        conn.execute(delete(WaitingReason).where(here, is_gone))
    if groups:
        rows = [{"cluster_id": cluster.id, "local_user": user, "since": func.now(), **one._asdict()} for one in groups]
        new = insert(WaitingReason).values(rows)
        changed = {name: new.excluded[name] for name in ("meaning", "is_stuck", "jobs", "starts_at")}
        conn.execute(
            new.on_conflict_do_update(index_elements=["cluster_id", "local_user", "campaign_id", "said"], set_=changed)
        )
    freed = {one.campaign_id for one in before if one.is_stuck} - {one.campaign_id for one in groups if one.is_stuck}
    if freed:
        _end(conn, cluster, freed)


def move_stuck(
    conn: Connection, cluster: ClusterRow, stuck: Mapping[int, StuckJobs], moves: int, *, is_news: bool
) -> int:
    """Take back, by campaign, jobs that wait in vain, and that another of its clusters can take; give their number.

    The campaign leaves this cluster alone for a while then. Where there is no other they go on waiting, which is told
    once. `moves`: how often a task may be taken out of queues.
    """
    moved = 0
    for campaign_id, jobs in sorted(stuck.items()):
        movable = _movable(conn, cluster.id, jobs.job_ids, moves)
        taken = request_kills(conn, movable, KillReason.CANNOT_START, "updator")
        moved += taken
        if not taken and not is_news:
            continue
        what_next = "none of its other clusters can take them, so they go on waiting"
        if taken:
            again = _set_aside(conn, campaign_id, cluster.id)
            what_next = (
                f"they are taken back for its other clusters, and none is sent there until {as_utc(again)}, then one "
                "at a time until one works; `gridevents --fix` tries at once"
            )
        message = (
            f"{len(jobs.job_ids)} of its jobs wait there for what does not come by itself: "
            f"{f'{jobs.meaning} ({jobs.said})' if jobs.meaning else jobs.said}; {what_next}"
        )
        subject = f"campaign {campaign_id} on {cluster.name}"
        put_events(conn, [NewEvent(JOBS_STUCK, EventLevel.ERROR, subject, message, campaign_id, cluster.id)])
    return moved


def _movable(conn: Connection, cluster_id: int, job_ids: Sequence[int], moves: int) -> Sequence[int]:
    """Jobs of tasks that still wait and that another cluster of their campaign is open for, whoever is served first."""
    part = CampaignCluster.alias("other")
    other = (
        select(part.c.cluster_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .join(ClusterState, ClusterState.c.cluster_id == part.c.cluster_id)
        .where(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id != cluster_id)
        .where(or_(part.c.blocked_until.is_(None), part.c.blocked_until <= func.now()))
        .where(part.c.sink_since.is_(None), part.c.prologue != StepState.FAILED)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0, ~is_closed(Job.c.bucket_id, part.c.cluster_id))
        .correlate(Job)
    )
    waiting = Job.c.id.in_(job_ids), Job.c.state == JobState.SUBMITTED
    return conn.scalars(select(Job.c.id).where(*waiting, may_move(moves), other.exists()).order_by(Job.c.id)).all()


def _set_aside(conn: Connection, campaign_id: int, cluster_id: int) -> datetime:
    """No jobs of the campaign are sent there for a while, longer each time in a row."""
    part = CampaignCluster
    pause = pause_after(part.c.strikes + 1, JOBS_THAT_CANNOT_START)
    aside = update(part).where(_is(campaign_id, cluster_id))
    values = {"strikes": part.c.strikes + 1, "blocked_until": func.greatest(func.now() + pause, part.c.blocked_until)}
    until: datetime | None = conn.execute(aside.values(values).returning(part.c.blocked_until)).scalar_one()
    assert until is not None
    return until


def _end(conn: Connection, cluster: ClusterRow, campaign_ids: Collection[int]) -> None:
    part = CampaignCluster.c
    at_rest = select(part.campaign_id).where(
        part.cluster_id == cluster.id, part.campaign_id.in_(campaign_ids), part.strikes == 0
    )
    subjects = [f"campaign {campaign_id} on {cluster.name}" for campaign_id in conn.scalars(at_rest)]
    close_events(conn, [JOBS_STUCK], subjects, "cigri")


def _is(campaign_id: int, cluster_id: int) -> ColumnElement[bool]:
    return and_(CampaignCluster.c.campaign_id == campaign_id, CampaignCluster.c.cluster_id == cluster_id)
