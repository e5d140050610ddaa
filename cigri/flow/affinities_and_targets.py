"""Precedence: whom operators want to go first, and where.
Given by: users; taken by: metascheduler, users.
"""

from typing import NamedTuple

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert

from cigri.api_models.policy import AffinityView
from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.errors import NotFound
from cigri.states import PrincipalKind
from cigri.tables.clusters import Cluster
from cigri.tables.sharing import Affinity as AffinityRow
from cigri.tables.sharing import Target


class UserAffinity(NamedTuple):
    """A user goes before others on a cluster."""

    grid_user: str
    cluster_id: int


class Principal(NamedTuple):
    """A user or a project."""

    kind: PrincipalKind
    name: str


def put_affinity(conn: Connection, user: str, cluster: str) -> bool:
    """False: it was declared before. Raise NotFound when there is no such cluster."""
    new = insert(AffinityRow).values(grid_user=user, cluster_id=find_cluster_id(conn, cluster))
    wake(conn)
    return bool(conn.execute(new.on_conflict_do_nothing().returning(AffinityRow.c.cluster_id)).all())


def remove_affinity(conn: Connection, user: str, cluster: str) -> None:
    """Raise NotFound when the user has none with the cluster, or there is no such cluster."""
    conditions = (AffinityRow.c.grid_user == user, AffinityRow.c.cluster_id == find_cluster_id(conn, cluster))
    if not conn.execute(delete(AffinityRow).where(*conditions).returning(AffinityRow.c.cluster_id)).all():
        raise NotFound(f"{user} has no affinity with {cluster}; `cigri affinity list` shows them")


def list_user_affinities(conn: Connection) -> frozenset[UserAffinity]:
    """All that are declared; they hold under the policy `affinity` only."""
    return frozenset(read_all(conn, UserAffinity, select(AffinityRow.c.grid_user, AffinityRow.c.cluster_id)))


def list_affinity_views(conn: Connection) -> list[AffinityView]:
    """Sorted by user, then by cluster."""
    named = select(AffinityRow.c.grid_user.label("user"), Cluster.c.name.label("cluster"))
    named = named.join(Cluster, Cluster.c.id == AffinityRow.c.cluster_id)
    return read_all(conn, AffinityView, named.order_by(AffinityRow.c.grid_user, Cluster.c.name))


def put_target(conn: Connection, subject: Principal, share: float) -> None:
    """`share` is what is due to the subject beside others, who have 1 without a target; it replaces an earlier one."""
    new = insert(Target).values(**subject._asdict(), share=share)
    conn.execute(new.on_conflict_do_update(index_elements=["kind", "name"], set_={"share": new.excluded.share}))
    wake(conn)


def remove_target(conn: Connection, subject: Principal) -> None:
    """The subject has 1 again, as without a target; raise NotFound when it had none."""
    conditions = (Target.c.kind == subject.kind, Target.c.name == subject.name)
    if not conn.execute(delete(Target).where(*conditions).returning(Target.c.name)).all():
        raise NotFound(f"{subject.kind} {subject.name} has no target; `cigri target list` shows them")


def list_targets(conn: Connection) -> dict[Principal, float]:
    """Sorted by kind and name; whoever is missing has 1."""
    targets = conn.execute(select(Target.c.kind, Target.c.name, Target.c.share).order_by(Target.c.kind, Target.c.name))
    return {Principal(kind, name): share for kind, name, share in targets}


def find_cluster_id(conn: Connection, name: str) -> int:
    """Raise NotFound when no cluster of that name is declared."""
    cluster_id = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == name))
    if cluster_id is None:
        raise NotFound(f"no cluster {name}; `cigri cluster list` shows them")
    return cluster_id
