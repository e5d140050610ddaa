"""What stands in the database of a CiGri 3: it is read in one snapshot, and nothing is written there."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import psycopg
from psycopg import errors, rows

from cigri.errors import ConfigError, DatabaseUnavailable

Connection = psycopg.Connection[Any]

WAITS_FOR_CONNECTION = 10  # seconds


class Cigri3Cluster(NamedTuple):
    """`host`: where an sshd answers, as CiGri 3 was told; None where it asked OAR's own server only."""

    name: str
    host: str | None
    batch: str
    properties: str | None
    is_enabled: bool


class Cigri3Account(NamedTuple):
    user: str
    cluster: str
    account: str


class Cigri3Priority(NamedTuple):
    user: str
    cluster: str
    priority: int


class Cigri3Campaign(NamedTuple):
    """`written`: the description as it was sent. `live`: jobs that are on clusters, or on the way there."""

    id: int
    user: str
    name: str
    is_open: bool
    is_paused: bool
    written: str
    tasks: int
    live: int


class Cigri3Task(NamedTuple):
    """One that is to be done; `has_failed`: its user has been told, and has not decided."""

    parameter: str
    has_failed: bool


class Cigri3Success(NamedTuple):
    parameter: str
    cluster: str
    seconds: float
    at: datetime


@contextmanager
def open_cigri3(url: str) -> Iterator[Connection]:
    """Raise DatabaseUnavailable when it does not answer, ConfigError when it is no CiGri 3's, or may not be read."""
    try:
        conn = psycopg.connect(url, connect_timeout=WAITS_FOR_CONNECTION)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"the database of CiGri 3 does not answer: {' '.join(str(error).split())}") from None
    except psycopg.ProgrammingError as error:
        raise ConfigError(f"--url: {' '.join(str(error).split())}") from None
    with conn:
        conn.read_only = True
        conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            yield conn
        except (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction) as error:
            raise ConfigError(f"this is no database of CiGri 3: {error.diag.message_primary}") from None
        except errors.InsufficientPrivilege as error:
            raise ConfigError(
                f"{error.diag.message_primary}; as its owner: GRANT SELECT ON ALL TABLES IN SCHEMA public TO ..."
            ) from None


def read_name(conn: Connection) -> str:
    return conn.info.dbname


def list_clusters(conn: Connection) -> list[Cigri3Cluster]:
    statement = """SELECT name, nullif(trim(ssh_host), '') AS host, batch::text AS batch,
        nullif(trim(properties), '') AS properties, coalesce(enabled, true) AS is_enabled FROM clusters ORDER BY id"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Cluster)) as cursor:
        return cursor.execute(statement).fetchall()


def list_accounts(conn: Connection) -> list[Cigri3Account]:
    """Of users who have another name on a cluster; what begins with `Bearer` is the token of a server, and no name."""
    statement = """SELECT m.grid_login AS "user", c.name AS cluster, m.cluster_login AS account
        FROM users_mapping m JOIN clusters c ON c.id = m.cluster_id
        WHERE m.cluster_login <> m.grid_login AND m.cluster_login NOT LIKE 'Bearer %' ORDER BY 1, 2"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Account)) as cursor:
        return cursor.execute(statement).fetchall()


def list_priorities(conn: Connection) -> list[Cigri3Priority]:
    statement = """SELECT u.grid_user AS "user", c.name AS cluster, u.priority
        FROM users_priority u JOIN clusters c ON c.id = u.cluster_id ORDER BY 1, 2"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Priority)) as cursor:
        return cursor.execute(statement).fetchall()


def list_campaigns(conn: Connection) -> list[Cigri3Campaign]:
    """All but those that were cancelled, in the order of their ids."""
    statement = """SELECT c.id, c.grid_user AS "user", coalesce(c.name, '') AS name,
            c.state <> 'terminated' AS is_open, c.state = 'paused' AS is_paused, coalesce(c.jdl, '') AS written,
            (SELECT count(*) FROM parameters p WHERE p.campaign_id = c.id AND p.id <> 0) AS tasks,
            (SELECT count(*) FROM jobs j WHERE j.campaign_id = c.id AND j.state NOT IN ('terminated', 'event')) AS live
        FROM campaigns c WHERE c.state <> 'cancelled' ORDER BY c.id"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Campaign)) as cursor:
        return cursor.execute(statement).fetchall()


def list_tasks(conn: Connection, campaign_id: int) -> list[Cigri3Task]:
    """Those that are still to be done, in the order in which they were handed over."""
    statement = """SELECT parameter, has_failed FROM (
            SELECT p.id, coalesce(p.param, '') AS parameter,
                EXISTS (SELECT FROM bag_of_tasks b WHERE b.param_id = p.id AND b.campaign_id = p.campaign_id) AS waits,
                EXISTS (SELECT FROM jobs j JOIN events e ON e.job_id = j.id AND e.state = 'open'
                    WHERE j.param_id = p.id AND j.campaign_id = p.campaign_id AND j.state = 'event') AS has_failed
            FROM parameters p WHERE p.campaign_id = %s AND p.id <> 0
        ) AS task WHERE waits OR has_failed ORDER BY id"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Task)) as cursor:
        return cursor.execute(statement, (campaign_id,)).fetchall()


def list_successes(conn: Connection, campaign_id: int, days: float) -> list[Cigri3Success]:
    """Of tasks that ended well in so many days, the earliest first. CiGri 3 knows no start of very short ones."""
    statement = """SELECT coalesce(p.param, '') AS parameter, c.name AS cluster, j.stop_time AS at,
            extract(epoch FROM j.stop_time - j.start_time)::float8 AS seconds
        FROM jobs j JOIN parameters p ON p.id = j.param_id JOIN clusters c ON c.id = j.cluster_id
        WHERE j.campaign_id = %s AND p.id <> 0 AND j.state = 'terminated' AND coalesce(j.return_code, 0) = 0
            AND j.stop_time > j.start_time AND j.stop_time > now() - %s ORDER BY j.stop_time, j.id"""
    with conn.cursor(row_factory=rows.class_row(Cigri3Success)) as cursor:
        return cursor.execute(statement, (campaign_id, timedelta(days=days))).fetchall()
