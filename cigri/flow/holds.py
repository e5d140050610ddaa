"""Holds: a campaign, its share of a cluster, or a job that its user wants to stand still.
Given by: operator, users; taken by: killer, metascheduler, portal, runner, users.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.errors import CigriError, NotFound
from cigri.flow.campaigns import own_campaign
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.views.ownership import is_own
from cigri.identity.callers import Caller
from cigri.states import OPEN_CAMPAIGNS, EventLevel, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster, Hold
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job

HALT_PROBLEMS = ("HOLD_PROBLEM", "SUSPEND_PROBLEM", "RELEASE_PROBLEM", "RESUME_PROBLEM")


class HoldEffect(NamedTuple):
    """Jobs that a wish concerns on one cluster: in its queue, and running."""

    cluster: str
    config: dict[str, Any]
    waiting: int
    running: int


class _HoldTarget(NamedTuple):
    """What a wish is about, as in the table."""

    campaign_id: int
    cluster_id: int | None = None
    job_id: int | None = None

    @property
    def name(self) -> str:
        return f"job {self.job_id}" if self.job_id is not None else f"campaign {self.campaign_id}"


def hold_campaign(
    conn: Connection, campaign_id: int, caller: Caller, *, cluster: str = "", waiting_only: bool = False
) -> list[HoldEffect]:
    """Let a campaign of the caller's, or its share of a cluster, stand still; `waiting_only`: but for what runs."""
    state = own_campaign(conn, campaign_id, caller)
    if state not in OPEN_CAMPAIGNS:
        raise CigriError(f"campaign {campaign_id} is {state}: there is nothing to hold")
    target = _HoldTarget(campaign_id, _cluster_id(conn, campaign_id, cluster))
    return _hold(conn, target, caller.user, waiting_only)


def hold_job(conn: Connection, job_id: int, caller: Caller, *, waiting_only: bool = False) -> list[HoldEffect]:
    """Let one job of the caller's stand still; another attempt at its tasks is not concerned."""
    return _hold(conn, _own_job(conn, job_id, caller), caller.user, waiting_only)


def resume_campaign(conn: Connection, campaign_id: int, caller: Caller, *, cluster: str = "") -> list[HoldEffect]:
    """Withdraw every wish about the campaign, whoever had it, or the one about its share of a cluster."""
    state = own_campaign(conn, campaign_id, caller)
    if state not in OPEN_CAMPAIGNS:
        raise CigriError(f"campaign {campaign_id} is {state}: there is nothing to resume")
    cluster_id = _cluster_id(conn, campaign_id, cluster)
    if cluster_id is not None:
        _refuse_beside_larger(conn, _HoldTarget(campaign_id, cluster_id))
    return _resume(conn, _HoldTarget(campaign_id, cluster_id), caller.user)


def resume_job(conn: Connection, job_id: int, caller: Caller) -> list[HoldEffect]:
    """Withdraw the wish about one job; that about its whole campaign is not for single jobs."""
    target = _own_job(conn, job_id, caller)
    _refuse_beside_larger(conn, target)
    return _resume(conn, target, caller.user)


def list_held(conn: Connection) -> set[tuple[int, int | None]]:
    """Campaigns and clusters that are to stand still; cluster None: all of them."""
    wishes = conn.execute(select(Hold.c.campaign_id, Hold.c.cluster_id).where(Hold.c.job_id.is_(None)))
    return {(campaign_id, cluster_id) for campaign_id, cluster_id in wishes}


def is_campaign_held() -> ColumnElement[bool]:
    """Is the campaign in the statement around this to stand still as a whole?"""
    wish = select(Hold.c.id).where(Hold.c.campaign_id == Campaign.c.id)
    return wish.where(Hold.c.cluster_id.is_(None), Hold.c.job_id.is_(None)).correlate(Campaign).exists()


def is_job_held() -> ColumnElement[bool]:
    """Is the job in the statement around this to stand still, in the state it is in?"""
    here = or_(Hold.c.cluster_id.is_(None), Hold.c.cluster_id == Job.c.cluster_id)
    this = or_(Hold.c.job_id.is_(None), Hold.c.job_id == Job.c.id)
    wish = select(Hold.c.id).where(Hold.c.campaign_id == Job.c.campaign_id, here, this)
    return wish.where(or_(Job.c.state != JobState.RUNNING, ~Hold.c.waiting_only)).correlate(Job).exists()


def _hold(conn: Connection, target: _HoldTarget, user: str, waiting_only: bool) -> list[HoldEffect]:
    conn.execute(delete(Hold).where(_is(target)))
    conn.execute(insert(Hold).values(**target._asdict(), waiting_only=waiting_only, asked_at=func.now(), asked_by=user))
    return _tell(conn, target, user, "HELD", f"{target.name} held by {user}")


def _resume(conn: Connection, target: _HoldTarget, user: str) -> list[HoldEffect]:
    is_whole = target.cluster_id is None and target.job_id is None
    wishes = Hold.c.campaign_id == target.campaign_id if is_whole else _is(target)
    if not conn.execute(delete(Hold).where(wishes).returning(Hold.c.id)).all():
        raise CigriError(f"{target.name} is not held{' there' if target.cluster_id is not None else ''}")
    return _tell(conn, target, user, "RELEASED", f"{target.name} goes on by the wish of {user}")


def _tell(conn: Connection, target: _HoldTarget, user: str, code: str, message: str) -> list[HoldEffect]:
    """Note what is wished now, whatever stood in the way of the wish before; give the jobs it concerns."""
    shares = _shares(conn, target)
    subjects = [f"campaign {target.campaign_id} on {share.cluster}" for share in shares]
    close_events(conn, HALT_PROBLEMS, subjects, user)
    put_events(conn, [NewEvent(code, EventLevel.INFO, target.name, message, *target)])
    wake(conn)
    return shares


def _shares(conn: Connection, target: _HoldTarget) -> list[HoldEffect]:
    """The live jobs of the target on each cluster."""
    part = CampaignCluster
    is_here = and_(
        Job.c.campaign_id == part.c.campaign_id,
        Job.c.cluster_id == part.c.cluster_id,
        Job.c.state.in_((JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING)),
    )
    statement = (
        select(
            Cluster.c.name.label("cluster"),
            Cluster.c.config,
            func.count(Job.c.id).filter(Job.c.state != JobState.RUNNING).label("waiting"),
            func.count(Job.c.id).filter(Job.c.state == JobState.RUNNING).label("running"),
        )
        .select_from(part)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .outerjoin(Job, is_here)
        .where(part.c.campaign_id == target.campaign_id)
        .group_by(Cluster.c.id)
        .order_by(Cluster.c.name)
    )
    if target.cluster_id is not None:
        statement = statement.where(part.c.cluster_id == target.cluster_id)
    if target.job_id is not None:
        statement = statement.where(Job.c.id == target.job_id)
    return read_all(conn, HoldEffect, statement)


def _is(target: _HoldTarget) -> ColumnElement[bool]:
    """Exactly this wish, not a larger or a smaller one."""
    return and_(*(Hold.c[name].is_not_distinct_from(value) for name, value in target._asdict().items()))


def _refuse_beside_larger(conn: Connection, target: _HoldTarget) -> None:
    """Raise CigriError where the target stands still as a part of something larger, and goes on with that only."""
    larger = [_HoldTarget(target.campaign_id)]
    if target.job_id is not None:
        cluster_id = conn.execute(select(Job.c.cluster_id).where(Job.c.id == target.job_id)).scalar_one()
        larger.append(_HoldTarget(target.campaign_id, cluster_id))
    if _any(conn, larger):
        number = target.campaign_id
        raise CigriError(f"it is held with its campaign; `gridresume {number}` lets campaign {number} go on")


def _any(conn: Connection, targets: Sequence[_HoldTarget]) -> bool:
    return conn.scalar(select(Hold.c.id).where(or_(*map(_is, targets))).limit(1)) is not None


def _cluster_id(conn: Connection, campaign_id: int, name: str) -> int | None:
    if not name:
        return None
    part = CampaignCluster
    used = select(Cluster.c.name, Cluster.c.id).join(part, part.c.cluster_id == Cluster.c.id)
    cluster_ids: dict[str, int] = {
        row.name: row.id for row in conn.execute(used.where(part.c.campaign_id == campaign_id))
    }
    if name not in cluster_ids:
        raise NotFound(f"campaign {campaign_id} does not use cluster {name}; it uses {', '.join(sorted(cluster_ids))}")
    return cluster_ids[name]


def _own_job(conn: Connection, job_id: int, caller: Caller) -> _HoldTarget:
    """A live job of the caller's, its campaign locked."""
    campaign = select(Campaign.c.id).join(Job, Job.c.campaign_id == Campaign.c.id).where(Job.c.id == job_id)
    campaign_id = conn.scalar(campaign.where(is_own(caller)).with_for_update(of=Campaign))
    if campaign_id is None:
        raise NotFound(f"you have no job {job_id}; `gridstat` lists yours")
    if conn.scalar(select(Job.c.state).where(Job.c.id == job_id)) is JobState.ENDED:
        raise CigriError(f"job {job_id} has ended already")
    return _HoldTarget(campaign_id, None, job_id)
