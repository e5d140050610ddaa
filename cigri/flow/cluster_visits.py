"""Visits: how it went to speak to a cluster; one that fails is left alone for a while.
Given by: killer, runner, stager, updator; taken by: killer, runner, stager, updator.
"""

from datetime import datetime

from sqlalchemy import Connection, and_, case, func, literal, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import pause_after
from cigri.estimates.backoff import ACCOUNTS_THAT_ARE_REFUSED, CLUSTERS_THAT_DO_NOT_ANSWER, LOGINS_THAT_ARE_REFUSED
from cigri.flow.clusters import ACCOUNT_REFUSALS, LOGIN_REFUSED, ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event


def put_success(conn: Connection, cluster: ClusterRow) -> None:
    """The cluster answers: past failures are healed."""
    healed = conn.execute(
        update(Cluster)
        .where(and_(Cluster.c.id == cluster.id, Cluster.c.failures > 0))
        .values(failures=0, blocked_until=None)
        .returning(Cluster.c.id)
    ).all()
    if healed:
        close_events(conn, ["CLUSTER_UNREACHABLE", "CLUSTER_ANSWER"], [f"cluster {cluster.name}"], "cigri")


def put_array_limit(conn: Connection, cluster: ClusterRow, largest: int, message: str) -> None:
    """The batch system takes no larger arrays: from now on `max_array` is at most that."""
    present = Cluster.c.config["max_array"].as_integer()
    learnt = conn.execute(
        update(Cluster)
        .where(Cluster.c.id == cluster.id, or_(present.is_(None), present > largest))
        .values(config=Cluster.c.config.op("||")(func.jsonb_build_object("max_array", largest)))
        .returning(Cluster.c.id)
    ).all()
    if learnt:
        text = f"max_array is now {largest}, which is all that the batch system takes: {message}"
        event = NewEvent("ARRAY_LIMIT", EventLevel.INFO, f"cluster {cluster.name}", text, cluster_id=cluster.id)
        put_events(conn, [event])


def put_failure(
    conn: Connection, cluster: ClusterRow, code: str, message: str, *, is_login_refused: bool = False
) -> None:
    """The cluster does not answer, not sensibly, or does not let us in, which is to be tried less often.

    It is paused, longer each time, and the operator is told.
    """
    pauses = LOGINS_THAT_ARE_REFUSED if is_login_refused else CLUSTERS_THAT_DO_NOT_ANSWER
    pause = pause_after(Cluster.c.failures + 1, pauses)
    conn.execute(
        update(Cluster)
        .where(Cluster.c.id == cluster.id)
        .values(
            failures=Cluster.c.failures + 1,
            blocked_until=func.now() + pause,
        )
    )
    subject = f"cluster {cluster.name}"
    put_events(conn, [NewEvent(code, EventLevel.ERROR, subject, message, cluster_id=cluster.id)])


def put_account_failure(
    conn: Connection, cluster: ClusterRow, user: str, message: str, *, is_login_refused: bool = False
) -> None:
    """An account of a cluster that answers gives no sense, or is not let in: the operator is told, and only the
    account's own jobs suffer. It is asked again after a pause, longer each time."""
    code, other = ACCOUNT_REFUSALS[::-1] if is_login_refused else ACCOUNT_REFUSALS
    close_events(conn, [other], [_account(cluster, user)], "cigri")
    put_events(conn, [NewEvent(code, EventLevel.ERROR, _account(cluster, user), message, cluster_id=cluster.id)])


def put_account_success(conn: Connection, cluster: ClusterRow, user: str) -> None:
    """The account gives sensible answers again: its event is closed, and it is asked at each visit."""
    close_events(conn, ACCOUNT_REFUSALS, [_account(cluster, user)], "cigri")


def list_refused(conn: Connection, cluster: ClusterRow) -> dict[str, bool]:
    """The accounts of a cluster that gave no sense when last asked, and whether their pause is over."""
    if not cluster.has_troubles:
        return {}
    is_open = and_(Event.c.code.in_(ACCOUNT_REFUSALS), Event.c.closed_at.is_(None), Event.c.cluster_id == cluster.id)
    first, last = _account(cluster, "\0").split("\0")
    refused = conn.execute(select(Event.c.subject, (_pause_end() <= func.now()).label("is_over")).where(is_open))
    return {row.subject.removeprefix(first).removesuffix(last): row.is_over for row in refused}


def is_account_paused(user: ColumnElement[str], cluster_id: int) -> ColumnElement[bool]:
    """Whether this account of a cluster is not to be asked yet."""
    name = select(Cluster.c.name).where(Cluster.c.id == cluster_id).scalar_subquery()
    paused = select(Event.c.id).where(
        Event.c.code.in_(ACCOUNT_REFUSALS),
        Event.c.subject == literal("account ") + user + " on " + name,
        Event.c.closed_at.is_(None),
        _pause_end() > func.now(),
    )
    return paused.exists()


def _pause_end() -> ColumnElement[datetime]:
    """When the pause of an account ends, from its open event; pauses double."""
    is_login = Event.c.code == LOGIN_REFUSED
    pause = case(
        (is_login, pause_after(Event.c.count, LOGINS_THAT_ARE_REFUSED)),
        else_=pause_after(Event.c.count, ACCOUNTS_THAT_ARE_REFUSED),
    )
    return Event.c.last_at + pause


def _account(cluster: ClusterRow, user: str) -> str:
    return f"account {user} on {cluster.name}"
