"""Served features: what the portal tells jobs of themselves and their machines, by addresses that only they know.
Given by: runner; taken by: portal.
"""

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, case, cast, func, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database.typed_rows import read_all
from cigri.states import JobState
from cigri.tables.job_requests import ShutdownNotice
from cigri.tables.jobs import Batch, Job


class ServedFeatures(NamedTuple):
    """Of a batch: what the portal tells whoever has the secret of which this is the SHA-256, in hex."""

    sha256: str
    machine: dict[str, str]
    job: dict[str, str]


class ServedJob(NamedTuple):
    """A job that has not ended: what its batch was given, and what has become known of it since.

    `started`, and the `shutdown` of the job and of its machine, in seconds since 1970.
    """

    features: ServedFeatures
    remote_id: str | None
    started: int | None
    shutdown: int | None
    machine_shutdown: int | None


def put_served_features(conn: Connection, batch_id: int, served: ServedFeatures) -> None:
    """From now on the portal tells the jobs of this batch what it knows of them."""
    conn.execute(update(Batch).where(Batch.c.id == batch_id).values(served_features=served._asdict()))


def find_served_job(conn: Connection, batch_id: int, array_index: int) -> ServedJob | None:
    """None: there is none, or it has ended, or the portal is not to tell it anything."""
    notice = ShutdownNotice.c
    statement = (
        select(
            Job.c.remote_id,
            _seconds(Job.c.started_at).label("started"),
            case((notice.machine_only.is_(False), _seconds(notice.at))).label("shutdown"),
            case((notice.is_past.is_(False), _seconds(notice.at))).label("machine_shutdown"),
            Batch.c.served_features,
        )
        .join(Job, Job.c.batch_id == Batch.c.id)
        .outerjoin(ShutdownNotice, notice.job_id == Job.c.id)
        .where(Batch.c.id == batch_id, Batch.c.served_features.is_not(None))
        .where(Job.c.array_index == array_index, Job.c.state != JobState.ENDED)
    )
    found = read_all(conn, ServedJob, statement, features=lambda row: ServedFeatures(**row.served_features))
    return next(iter(found), None)


def _seconds(moment: ColumnElement[Any]) -> ColumnElement[int]:
    """Whole ones, since 1970."""
    return cast(func.floor(func.extract("epoch", moment)), BigInteger)
