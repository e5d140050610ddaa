"""The home of the grid: its database, and the key in the names that it leaves on clusters.
Given by: operator; taken by: janitor, killer, operator, runner, stager, updator, users.

A database that was copied or restored has another identity, or lies at another place: two grids would then take the
jobs of one for their own.
"""

import secrets

from sqlalchemy import Connection, cast, column, func, select, table, update
from sqlalchemy.dialects.postgresql import OID

from cigri.errors import DatabaseCopied
from cigri.flow.clusters import LEFT_ALONE
from cigri.flow.events import NewEvent, put_events
from cigri.flow.withdrawals import withdraw_all
from cigri.settings.sections import JobSettings
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Grid
from cigri.tables.jobs import Batch

FOR_EVER = func.make_interval(100)  # years
KEY_BYTES = 3
NOT_OURS = "this grid is a copy: its original has this job"


def require_grid_identity(conn: Connection, place: str) -> None:
    """Raise DatabaseCopied unless the grid lives in this database; one that lived nowhere yet does from now on.

    `place` is where the database lies, "" when that is not known.
    """
    lived = conn.execute(select(Grid.c.identity, Grid.c.place)).one()
    if lived.identity is None:
        put_home(conn, place)
        return
    identity = _identity(conn)
    if lived.identity != identity or (lived.place and place and lived.place != place):
        there, here = (f"{where or 'a PostgreSQL of the site'}" for where in (lived.place, place))
        raise DatabaseCopied(f"{there} (database {lived.identity})", f"{here} (database {identity})")
    if place and not lived.place:
        put_home(conn, place)


def put_home(conn: Connection, place: str) -> None:
    """The grid lives here from now on."""
    conn.execute(update(Grid).values(identity=_identity(conn), place=place))


def put_detached(conn: Connection, place: str, limits: JobSettings) -> int:
    """Make this a grid of its own that leaves all clusters alone until they are enabled; give the number of jobs that
    it leaves to the grid it is a copy of.
    """
    put_home(conn, place)
    conn.execute(update(Grid).values(key=secrets.token_hex(KEY_BYTES)))
    alone = {"is_enabled": False, "failures": 1, "blocked_until": func.now() + FOR_EVER}
    clusters = conn.execute(update(Cluster).values(alone).returning(Cluster.c.id, Cluster.c.name)).all()
    put_events(
        conn,
        [
            NewEvent(
                LEFT_ALONE,
                EventLevel.WARNING,
                f"cluster {cluster.name}",
                f"this grid is a copy, and leaves the cluster alone until `cigri cluster enable {cluster.name}`",
                cluster_id=cluster.id,
            )
            for cluster in clusters
        ],
    )
    return withdraw_all(conn, NOT_OURS, limits)


def _identity(conn: Connection) -> str:
    """Made of the identities of the server, of the database in it, and of a table, which a restore makes anew."""
    server = select(column("system_identifier")).select_from(func.pg_control_system()).scalar_subquery()
    databases = table("pg_database", column("oid"), column("datname"))
    here = select(databases.c.oid).where(databases.c.datname == func.current_database()).scalar_subquery()
    identity: str = conn.execute(
        select(func.concat_ws("/", server, here, cast(func.to_regclass(Grid.name), OID)))
    ).scalar_one()
    return identity


def put_grid_key(conn: Connection, key: str) -> bool:
    """False: jobs were sent under the present key, and would not be found again under another."""
    is_used = select(Batch.c.id).exists()
    return bool(conn.execute(update(Grid).where(~is_used).values(key=key).returning(Grid.c.key)).all())


def grid_key(conn: Connection) -> str:
    """The short key of this grid in the names it leaves on clusters."""
    return conn.execute(select(Grid.c.key)).scalar_one()
