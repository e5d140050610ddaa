"""Events: what happened, open until fixed or healed.
Given by: almighty, campaign schedulers, janitor, killer, matcher, metascheduler, notifier, operator, portal, predictor,
runner, stager, updator, users.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, case, cast, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.types import TypeEngine

from cigri.database import values_table
from cigri.formats.untrusted_text import escape_line, escape_text
from cigri.states import EventLevel
from cigri.tables.grid import Event
from cigri.tables.subscriptions import Subscription

EVENT_COLUMNS: Mapping[str, TypeEngine[Any]] = dict.fromkeys(
    ("code", "level", "subject", "message"), Text()
) | dict.fromkeys(("campaign_id", "cluster_id", "job_id", "task_id"), BigInteger())


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


def put_events(conn: Connection, events: Iterable[NewEvent]) -> None:
    """Open events; one that is open already counts up and takes the new message. INFO is closed from the start.

    They quote jobs, users and clusters: what steers a terminal is spelled out. New ones are news for those who have
    subscribed.
    """
    quoted = (
        event._replace(subject=escape_line(event.subject), message=escape_text(event.message)) for event in events
    )
    latest = {(event.code, event.subject): event for event in quoted}
    if not latest:
        return
    new = values_table("new", EVENT_COLUMNS, list(latest.values()))
    is_info = new.c.level == EventLevel.INFO.value
    statement = insert(Event).from_select(
        [*EVENT_COLUMNS, "opened_at", "last_at", "closed_at", "closed_by", "is_news"],
        select(
            *(cast(new.c[name], Event.c[name].type) for name in EVENT_COLUMNS),
            func.now(),
            func.now(),
            case((is_info, func.now())),
            case((is_info, "cigri")),
            exists(select(Subscription.c.id)),
        ),
    )
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[Event.c.code, Event.c.subject],
            index_where=Event.c.closed_at.is_(None),
            set_={
                "count": Event.c.count + 1,
                "last_at": statement.excluded.last_at,
                "message": statement.excluded.message,
                "job_id": statement.excluded.job_id,
            },
        )
    )


def close_events(conn: Connection, codes: Sequence[str], subjects: Sequence[str], by: str) -> int:
    """Close the open events with these codes about these subjects; give their number."""
    if not subjects:
        return 0
    healed = values_table("healed", {"subject": Text()}, [(escape_line(subject),) for subject in subjects])
    closed = conn.execute(
        update(Event)
        .where(Event.c.closed_at.is_(None), Event.c.code.in_(codes), Event.c.subject == healed.c.subject)
        .values(closed_at=func.now(), closed_by=by)
        .returning(Event.c.id)
    )
    return len(closed.all())
