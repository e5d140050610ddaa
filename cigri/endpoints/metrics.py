"""The grid in figures."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated

from cigri.api_models.metrics import AccountingEntry, GridMetrics, UsedWork
from cigri.endpoints import Access, read_endpoint
from cigri.endpoints.cursors import KeyPagination
from cigri.endpoints.paging import USUAL_ROWS, PageLimit, require_limit
from cigri.endpoints.parameters import NumberBounds, about
from cigri.errors import UsageError
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.accounting import Days

MOST_DAYS = 10_000
PastDays = Annotated[int, NumberBounds(1, MOST_DAYS)]
NEVER_EMPTY = ("day", "user", "cluster")  # of what usage is told apart by
USUAL_DAYS_BACK = 30
ACCOUNTED_BY = KeyPagination("accounting", {"user": str, "project": str, "cluster": str})
USED_BY = KeyPagination("used_work", {"day": datetime, "user": str, "project": str, "cluster": str, "type": str})


@read_endpoint("/figures", Access.EVERYBODY)
def figures(conn: "Connection", _caller: Caller) -> GridMetrics:
    """Cores, jobs, tasks, ends, modules and events in numbers, as /metrics has them for Prometheus."""
    from cigri.flow.views.metrics import find_figures

    return find_figures(conn)


@read_endpoint("/accounting", Access.EVERYBODY, ACCOUNTED_BY)
def accounting(
    conn: "Connection",
    _caller: Caller,
    *,
    days: PastDays = USUAL_DAYS_BACK,
    user: str = "",
    since: str = "",
    until: str = "",
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[AccountingEntry]:
    """What jobs that ended used in the last days, or from one to another: those of everybody, or of one user."""
    from cigri.flow.accounting import list_accounted

    require_limit(limit)
    return list_accounted(conn, _days(days, since, until), user, ACCOUNTED_BY.read(after), limit)


@read_endpoint("/accounting/sums", Access.EVERYBODY, USED_BY)
def used_work(
    conn: "Connection",
    _caller: Caller,
    *,
    apart: str = "user",
    days: PastDays = USUAL_DAYS_BACK,
    user: str = "",
    since: str = "",
    until: str = "",
    type: str = "",
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[UsedWork]:
    """The same and what was asked for, told apart by day, user, project, cluster or type, or several: `day,user`."""
    from cigri.flow.accounting import list_used
    from cigri.presentation.usage_groups import read_groups, read_type

    with about("apart"):
        groups = read_groups(apart)
    with about("type"):
        wanted = read_type(type) if type else ""
    require_limit(limit)
    key = dict(zip(USED_BY.fields, USED_BY.read(after) or (), strict=False))
    if after and any((group in groups) != (key[group] != "") for group in NEVER_EMPTY):
        raise UsageError("after: it is the cursor of another `apart`; go on with the same, or leave it out", "after")
    behind = [key[group] for group in groups] if after else None
    return list_used(conn, _days(days, since, until), groups, user, wanted, behind, limit)


def _days(days: PastDays, since: str, until: str) -> "Days":
    from cigri.flow.accounting import Days

    if not 0 < days <= MOST_DAYS:
        raise UsageError(f"days {days}: a number above 0, {MOST_DAYS} at most", "days")
    first, last = _day(since, "since"), _day(until, "until")
    if first and last and first > last:
        raise UsageError(f"the days end on {last}, before they begin on {first}", "until")
    return Days(days, first, last)


def _day(text: str, parameter: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise UsageError(f"{text[:30]!r} is no day: write it as 2026-10-01", parameter) from None
