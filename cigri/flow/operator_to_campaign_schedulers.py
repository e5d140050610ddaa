"""The operator declares limits and quotas, under which campaign schedulers make jobs."""

from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import wake
from cigri.errors import CigriError, NotFound
from cigri.flow.campaign_schedulers_to_metascheduler import EVERYBODY, Ceiling, live_use
from cigri.flow.operator_to_metascheduler import Subject, find_cluster_id
from cigri.states import OPEN_CAMPAIGNS, CeilingKind
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.policy import CampaignLimit, Limit, Quota


class LimitView(NamedTuple):
    name: str
    capacity: int
    used: int


class QuotaView(NamedTuple):
    """In cores; `cluster` None: on all together."""

    kind: str
    name: str
    cluster: str | None
    cores: int
    used: int | None


def put_limit(conn: Connection, name: str, capacity: int) -> None:
    """Declare a limit or change its capacity; jobs that live already keep what they have."""
    new = upsert(Limit).values(name=name, capacity=capacity)
    conn.execute(new.on_conflict_do_update(index_elements=["name"], set_={"capacity": new.excluded.capacity}))
    wake(conn)


def remove_limit(conn: Connection, name: str) -> None:
    """Only one that no open campaign asks for."""
    mine = CampaignLimit.c.limit_name == name
    asking = select(CampaignLimit.c.campaign_id).join(Campaign, Campaign.c.id == CampaignLimit.c.campaign_id)
    campaign = conn.scalar(asking.where(mine, Campaign.c.state.in_(OPEN_CAMPAIGNS)).limit(1))
    if campaign is not None:
        raise CigriError(f"open campaigns ask for {name} (e.g. {campaign}); give it another capacity instead")
    conn.execute(delete(CampaignLimit).where(mine))
    if not conn.execute(delete(Limit).where(Limit.c.name == name).returning(Limit.c.name)).all():
        raise NotFound(f"no limit {name}; `cigri limit list` shows them")


def list_limits(conn: Connection) -> list[LimitView]:
    """By name, with the tokens that live jobs have."""
    used = live_use(conn)
    found = conn.execute(select(Limit.c.name, Limit.c.capacity).order_by(Limit.c.name))
    return [LimitView(name, capacity, used.get(Ceiling(CeilingKind.LIMIT, name), 0)) for name, capacity in found]


def put_quota(conn: Connection, subject: Subject, cores: int, cluster: str = "") -> None:
    """The most cores of live jobs of a user or project, on one cluster or on all together."""
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    conn.execute(delete(Quota).where(_is(subject, cluster_id)))
    conn.execute(insert(Quota).values(**subject._asdict(), cluster_id=cluster_id, cores=cores))
    wake(conn)


def remove_quota(conn: Connection, subject: Subject, cluster: str = "") -> None:
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    if not conn.execute(delete(Quota).where(_is(subject, cluster_id)).returning(Quota.c.id)).all():
        raise NotFound(f"{subject.kind} {subject.name} has no such quota; `cigri quota list` shows them")
    wake(conn)


def list_quotas(conn: Connection) -> list[QuotaView]:
    """By kind, name and cluster; what everybody may have is in use by nobody in particular."""
    used = live_use(conn)
    found = conn.execute(
        select(Quota.c.kind, Quota.c.name, Quota.c.cluster_id, Cluster.c.name, Quota.c.cores)
        .outerjoin(Cluster, Cluster.c.id == Quota.c.cluster_id)
        .order_by(Quota.c.kind, Quota.c.name, Cluster.c.name)
    )
    views = []
    for kind, name, cluster_id, cluster, cores in found:
        mine = used.get(Ceiling(CeilingKind(kind), name, cluster_id), 0)
        views.append(QuotaView(kind, name, cluster, cores, None if name == EVERYBODY else mine))
    return views


def _is(subject: Subject, cluster_id: int | None) -> ColumnElement[bool]:
    here = Quota.c.cluster_id.is_not_distinct_from(cluster_id)
    return (Quota.c.kind == subject.kind) & (Quota.c.name == subject.name) & here
