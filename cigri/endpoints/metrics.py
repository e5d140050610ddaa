"""The grid in figures."""

from datetime import date
from typing import TYPE_CHECKING

from cigri.api_models.metrics import AccountingEntry, GridMetrics, UsedWork
from cigri.endpoints import Access, read_endpoint
from cigri.errors import UsageError
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.accounting import Days

MOST_DAYS = 10_000
USUAL_DAYS_BACK = 30


@read_endpoint("/figures", Access.EVERYBODY)
def figures(conn: "Connection", _caller: Caller) -> GridMetrics:
    """Cores, jobs, tasks, ends, modules and events in numbers, as /metrics has them for Prometheus."""
    from cigri.flow.views.metrics import find_figures

    return find_figures(conn)


@read_endpoint("/accounting", Access.EVERYBODY)
def accounting(
    conn: "Connection",
    _caller: Caller,
    *,
    days: int = USUAL_DAYS_BACK,
    user: str = "",
    since: str = "",
    until: str = "",
) -> list[AccountingEntry]:
    """What jobs that ended used in the last days, or from one to another: those of everybody, or of one user."""
    from cigri.flow.accounting import list_accounted

    return list_accounted(conn, _days(days, since, until), user)


@read_endpoint("/accounting/sums", Access.EVERYBODY)
def used_work(
    conn: "Connection",
    _caller: Caller,
    *,
    apart: str = "user",
    days: int = USUAL_DAYS_BACK,
    user: str = "",
    since: str = "",
    until: str = "",
    type: str = "",
) -> list[UsedWork]:
    """The same and what was asked for, told apart by day, user, project, cluster or type, or several: `day,user`."""
    from cigri.flow.accounting import list_used
    from cigri.presentation.usage_groups import read_groups, read_type

    try:
        groups = read_groups(apart)
        wanted = read_type(type) if type else ""
    except ValueError as error:
        raise UsageError(str(error)) from None
    return list_used(conn, _days(days, since, until), groups, user, wanted)


def _days(days: int, since: str, until: str) -> "Days":
    from cigri.flow.accounting import Days

    if not 0 < days <= MOST_DAYS:
        raise UsageError(f"days {days}: a number above 0, {MOST_DAYS} at most")
    first, last = (_day(text) if text else None for text in (since, until))
    if first and last and first > last:
        raise UsageError(f"the days end on {last}, before they begin on {first}")
    return Days(days, first, last)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text[:30]!r} is no day: write it as 2026-10-01") from None
