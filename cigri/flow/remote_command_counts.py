"""Command counts: remote commands of each module on each cluster since the grid began, their seconds, open sessions.
Given by: almighty, operator; taken by: portal, users.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Double, Text, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.types import TypeEngine

from cigri.api_models.metrics import RemoteCommandMetric
from cigri.database import values_table
from cigri.database.typed_rows import read_all
from cigri.tables.clusters import Cluster
from cigri.tables.grid import RemoteCommandCount


class RemoteCommandCosts(NamedTuple):
    """Remote commands on a cluster, answered or not, and the seconds that they took together."""

    commands: int
    seconds: float

    def __add__(self, more: object) -> "RemoteCommandCosts":
        assert isinstance(more, RemoteCommandCosts)
        return RemoteCommandCosts(self.commands + more.commands, self.seconds + more.seconds)


NOTHING = RemoteCommandCosts(0, 0.0)


def put_commands(conn: Connection, module: str, spent: Mapping[str, RemoteCommandCosts]) -> None:
    """Add these, by the names of clusters, to those before; a cluster that is gone counts nothing any more."""
    if not spent:
        return
    kinds: Mapping[str, TypeEngine[Any]] = {"cluster": Text(), "commands": BigInteger(), "seconds": Double()}
    new = values_table("new", kinds, sorted((name, *costs) for name, costs in spent.items()))
    count = RemoteCommandCount.c
    counts = insert(RemoteCommandCount).from_select(
        ["cluster_id", "module", "commands", "seconds"],
        select(Cluster.c.id, literal(module), new.c.commands, new.c.seconds).join(new, new.c.cluster == Cluster.c.name),
    )
    sums = {name: count[name] + counts.excluded[name] for name in ("commands", "seconds")}
    conn.execute(counts.on_conflict_do_update(index_elements=["cluster_id", "module"], set_=sums))


def put_sessions(conn: Connection, module: str, sessions: Mapping[str, int]) -> None:
    """The module has as many open, by the names of clusters on which it gave commands; on others none."""
    kinds: Mapping[str, TypeEngine[Any]] = {"cluster": Text(), "sessions": BigInteger()}
    told = values_table("told", kinds, sorted(sessions.items()))
    now = select(told.c.sessions).join(Cluster, Cluster.c.name == told.c.cluster)
    now = now.where(Cluster.c.id == RemoteCommandCount.c.cluster_id)
    number = func.coalesce(now.correlate(RemoteCommandCount).scalar_subquery(), 0)
    is_news = RemoteCommandCount.c.sessions != number
    conn.execute(
        update(RemoteCommandCount).where(RemoteCommandCount.c.module == module, is_news).values(sessions=number)
    )


def sessions_on(conn: Connection, cluster_id: int) -> dict[str, int]:
    """By the names of modules that had some open after their last pass."""
    count = RemoteCommandCount.c
    statement = select(count.module, count.sessions).where(count.cluster_id == cluster_id, count.sessions > 0)
    return {module: sessions for module, sessions in conn.execute(statement.order_by(count.module))}


def list_commands(conn: Connection) -> list[RemoteCommandMetric]:
    """Sorted by cluster and module."""
    count = RemoteCommandCount.c
    statement = (
        select(Cluster.c.name.label("cluster"), count.module, count.commands, count.seconds, count.sessions)
        .join(Cluster, Cluster.c.id == count.cluster_id)
        .order_by(Cluster.c.name, count.module)
    )
    return read_all(conn, RemoteCommandMetric, statement)
