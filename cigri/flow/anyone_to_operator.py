"""Anyone tells people what happened: events, open until fixed or healed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import clock
from cigri.states import EventLevel
from cigri.tables import Event


class NewEvent(NamedTuple):
    """`subject` says what it is about, e.g. "campaign 3 on dahu": one open event per code and subject."""

    code: str
    level: EventLevel
    subject: str
    message: str
    campaign_id: int | None = None
    cluster_id: int | None = None
    job_id: int | None = None
    task_id: int | None = None


def put_events(conn: Connection, events: Iterable[NewEvent], now: datetime | None = None) -> None:
    """Open events; one that is open already counts up and takes the new message. INFO is closed from the start."""
    latest = {(event.code, event.subject): event for event in events}
    if not latest:
        return
    values = [
        {
            **event._asdict(),
            "opened_at": clock(now),
            "last_at": clock(now),
            "closed_at": clock(now) if event.level is EventLevel.INFO else None,
            "closed_by": "cigri" if event.level is EventLevel.INFO else None,
        }
        for event in latest.values()
    ]
    statement = insert(Event).values(values)
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[Event.code, Event.subject],
            index_where=Event.closed_at.is_(None),
            set_={
                "count": Event.count + 1,
                "last_at": statement.excluded.last_at,
                "message": statement.excluded.message,
                "job_id": statement.excluded.job_id,
            },
        )
    )


def close_events(
    conn: Connection, codes: Sequence[str], subjects: Sequence[str], by: str, now: datetime | None = None
) -> int:
    """Close the open events with these codes about these subjects; give their number."""
    if not subjects:
        return 0
    closed = conn.execute(
        update(Event)
        .where(Event.closed_at.is_(None), Event.code.in_(codes), Event.subject.in_(subjects))
        .values(closed_at=clock(now), closed_by=by)
        .returning(Event.id)
    )
    return len(closed.all())
