"""The operator declares clusters, enables and disables them, and says which account runs whose jobs."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_operator import close_events
from cigri.flow.anyone_to_resources import mark_changed
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, Drain, UserMapping
from cigri.tables.resources import Discovery, Queue


def put_cluster(conn: Connection, name: str, config: Mapping[str, Any]) -> bool:
    """Declare a cluster, or change the configuration of a declared one; True when it is new.

    A new one has its default queue; the nodes of a changed one are looked at again.
    """
    known = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == name))
    statement = insert(Cluster).values(name=name, config=dict(config))
    cluster_id = conn.execute(
        statement.on_conflict_do_update(
            index_elements=[Cluster.c.name],
            set_={"config": statement.excluded.config, "failures": 0, "blocked_until": None, "visited_at": None},
        ).returning(Cluster.c.id)
    ).scalar_one()
    conn.execute(insert(Queue).values(cluster_id=cluster_id, name="", remote_name="").on_conflict_do_nothing())
    conn.execute(delete(Discovery).where(Discovery.c.cluster_id == cluster_id))
    mark_changed(conn)
    wake(conn)
    return known is None


def enable_cluster(conn: Connection, name: str, *, enabled: bool) -> None:
    """A disabled cluster gets no new jobs; those it has are watched to their end. Enabling forgives past failures.

    It also ends a drain.
    """
    cluster_id = _cluster(conn, name)
    values: dict[str, object] = {"is_enabled": enabled}
    if enabled:
        values |= {"failures": 0, "blocked_until": None, "visited_at": None}
        close_events(conn, ["CLUSTER_UNREACHABLE"], [f"cluster {name}"], "operator")
        conn.execute(delete(Drain).where(Drain.c.cluster_id == cluster_id))
    conn.execute(update(Cluster).where(Cluster.c.id == cluster_id).values(values))
    wake(conn)


def remove_cluster(conn: Connection, name: str) -> None:
    """Forget a cluster that no campaign has ever used; others can only be disabled."""
    cluster_id = _cluster(conn, name)
    used = conn.scalar(select(CampaignCluster.c.campaign_id).where(CampaignCluster.c.cluster_id == cluster_id).limit(1))
    if used is not None:
        raise NotFound(
            f"cluster {name} belongs to the history of campaigns (e.g. {used}): `cigri cluster disable {name}`"
        )
    conn.execute(delete(Cluster).where(Cluster.c.id == cluster_id))
    mark_changed(conn)


def map_user(conn: Connection, name: str, grid_user: str, local_user: str) -> None:
    """From now on the jobs of `grid_user` run as `local_user` on the cluster; empty: as the same name again."""
    cluster_id = _cluster(conn, name)
    if not local_user:
        conn.execute(
            delete(UserMapping).where(UserMapping.c.cluster_id == cluster_id, UserMapping.c.grid_user == grid_user)
        )
        return
    statement = insert(UserMapping).values(cluster_id=cluster_id, grid_user=grid_user, local_user=local_user)
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[UserMapping.c.cluster_id, UserMapping.c.grid_user],
            set_={"local_user": statement.excluded.local_user},
        )
    )


def _cluster(conn: Connection, name: str) -> int:
    cluster_id = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == name))
    if cluster_id is None:
        raise NotFound(f"no cluster {name}; `cigri cluster list` shows them")
    return cluster_id
