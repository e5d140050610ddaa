"""Clusters: declared, changed, enabled and disabled by operators; whoever speaks to them reads how.
Given by: operator, updator, users; taken by: janitor, killer, operator, predictor, runner, stager, updator, users.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, case, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import interval, wake
from cigri.errors import ConfigError, NotFound
from cigri.flow.events import close_events
from cigri.flow.input_transfers import require_inputs
from cigri.flow.quarantines import has_failed, is_cluster_left_out, put_visit_failure
from cigri.flow.resource_documents import mark_changed
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, Drain, FrontEndStress, UserMapping
from cigri.tables.grid import Event
from cigri.tables.resources import Discovery, Queue

if TYPE_CHECKING:
    from cigri.settings.cluster_config import ClusterConfig


LEFT_ALONE = "CLUSTER_LEFT_ALONE"
ACCOUNT_REFUSED = "ACCOUNT_REFUSED"
LOGIN_REFUSED = "LOGIN_REFUSED"
ACCOUNT_REFUSALS = (ACCOUNT_REFUSED, LOGIN_REFUSED)
"""Codes of the events about an account: it gives no sense, or is not let in."""


class ClusterRow(NamedTuple):
    """`has_troubles`: it failed, or refused an account, and nobody has told of a success since.

    `has_failed`: the module that asks has failed there itself, and not done well since.
    """

    id: int
    name: str
    config: "ClusterConfig"
    is_enabled: bool
    has_troubles: bool = False
    has_failed: bool = False


def put_cluster(conn: Connection, name: str, config: Mapping[str, Any]) -> bool:
    """Declare a cluster, or change the configuration of a declared one; True when it is new.

    A new one has its default queue; the nodes of a changed one are looked at again.
    """
    old_id = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == name))
    statement = insert(Cluster).values(name=name, config=dict(config))
    of_before = dict.fromkeys(("blocked_until", "visited_at", "clock_skew"))
    cluster_id = conn.execute(
        statement.on_conflict_do_update(
            index_elements=[Cluster.c.name],
            set_={"config": statement.excluded.config, "failures": 0, **of_before},
        ).returning(Cluster.c.id)
    ).scalar_one()
    conn.execute(insert(Queue).values(cluster_id=cluster_id, name="", remote_name="").on_conflict_do_nothing())
    conn.execute(delete(Discovery).where(Discovery.c.cluster_id == cluster_id))
    mark_changed(conn)
    wake(conn)
    return old_id is None


def enable_cluster(conn: Connection, name: str, *, enabled: bool) -> None:
    """A disabled cluster gets no new jobs; those it has are watched to their end. Enabling forgives past failures.

    It also ends a drain.
    """
    cluster_id = _cluster(conn, name)
    values: dict[str, object] = {"is_enabled": enabled}
    if enabled:
        values |= {"failures": 0, "blocked_until": None, "visited_at": None}
        close_events(conn, ["CLUSTER_UNREACHABLE", LEFT_ALONE], [f"cluster {name}"], "operator")
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
    require_inputs(conn, cluster_id=cluster_id)
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


def list_clusters(conn: Connection, module: str, *, due_only: bool = False) -> list[ClusterRow]:
    """Clusters that are not paused after a failure, and that the module itself has not failed on a short while ago.

    `due_only`: and not visited too recently, for their pace. One whose configuration cannot be read is left out, and
    the operator is told.
    """
    refused = select(Event.c.id).where(
        Event.c.code.in_(ACCOUNT_REFUSALS), Event.c.closed_at.is_(None), Event.c.cluster_id == Cluster.c.id
    )
    has_troubles = or_(Cluster.c.failures > 0, refused.exists()).label("has_troubles")
    columns = Cluster.c.id, Cluster.c.name, Cluster.c.config, Cluster.c.is_enabled
    statement = select(*columns, has_troubles, has_failed(module).label("has_failed")).where(
        or_(Cluster.c.blocked_until.is_(None), Cluster.c.blocked_until <= func.now()),
        ~is_cluster_left_out(module),
    )
    if due_only:
        slowness = 1.0 / func.coalesce(FrontEndStress.c.pace, 1.0)
        statement = statement.outerjoin(FrontEndStress, FrontEndStress.c.cluster_id == Cluster.c.id)
        pause = interval(declared_poll_interval() * slowness)
        statement = statement.where(or_(Cluster.c.visited_at.is_(None), Cluster.c.visited_at + pause <= func.now()))
    clusters = []
    for row in conn.execute(statement.order_by(Cluster.c.id)).all():
        try:
            config = _config(row.name, row.config)
        except ConfigError as error:
            put_visit_failure(conn, module, row.id, row.name, str(error))
        else:
            clusters.append(ClusterRow(row.id, row.name, config, row.is_enabled, row.has_troubles, row.has_failed))
    return clusters


def list_every_cluster(conn: Connection) -> list[ClusterRow]:
    """All by id, also paused or disabled ones; whether they have troubles is not looked up. Raise ConfigError for a
    configuration that cannot be read."""
    clusters = conn.execute(
        select(Cluster.c.id, Cluster.c.name, Cluster.c.config, Cluster.c.is_enabled).order_by(Cluster.c.id)
    )
    return [ClusterRow(row.id, row.name, _config(row.name, row.config), row.is_enabled) for row in clusters]


def find_cluster(conn: Connection, name: str) -> ClusterRow | None:
    """Paused and disabled ones, too, without a look at their troubles; None: there is none of that name. Raise
    ConfigError when its configuration cannot be read."""
    row = conn.execute(
        select(Cluster.c.id, Cluster.c.name, Cluster.c.config, Cluster.c.is_enabled).where(Cluster.c.name == name)
    ).one_or_none()
    return ClusterRow(row.id, row.name, _config(row.name, row.config), row.is_enabled) if row else None


def put_clock_skew(conn: Connection, cluster_id: int, seconds: int) -> None:
    """By which the clock of its front-end is ahead of the database's; nothing is written where that is known."""
    is_new = Cluster.c.clock_skew.is_distinct_from(seconds)
    conn.execute(update(Cluster).where(Cluster.c.id == cluster_id, is_new).values(clock_skew=seconds))


def declared_poll_interval() -> ColumnElement[float]:
    """Seconds between two visits, in SQL: what is declared where that is a number, or else the usual."""
    from cigri.settings.cluster_config import ClusterConfig  # takes a moment, as below

    declared, usual = Cluster.c.config["poll_interval"], ClusterConfig.model_fields["poll_interval"].default
    return case((func.jsonb_typeof(declared) == "number", declared.as_float()), else_=float(usual))


def _config(name: str, values: dict[str, Any]) -> "ClusterConfig":
    from cigri.settings.cluster_config import (
        parse_config,  # takes a moment, and who only asks for accounts needs none of it
    )

    return parse_config(name, values)
