"""What a campaign waits for, as people are told.
Read by: users.
"""

from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, and_, bindparam, case, cast, func, select, true

from cigri.api_models.dependencies import DependencyView
from cigri.database.typed_rows import read_all
from cigri.flow.holds import is_campaign_held
from cigri.states import LEFT_TO_DO, OPEN_CAMPAIGNS, TaskState
from cigri.tables.campaigns import Campaign, Forecast
from cigri.tables.dependencies import Dependency
from cigri.tables.tasks import TaskCount


def list_after(conn: Connection, campaign_id: int) -> list[DependencyView]:
    """In the order in which they were submitted."""
    return read_all(conn, DependencyView, _after(), {"waiting": campaign_id})


@cache
def _after() -> Select[*tuple[Any, ...]]:
    """Built once: it takes longer to build than to answer."""
    row, count = Dependency.c, TaskCount.c
    untried, left = (TaskState.BLOCKED, TaskState.WAITING), count.state.in_(LEFT_TO_DO)
    sums = (
        select(
            *(
                cast(func.coalesce(func.sum(count.n).filter(chosen), 0), BigInteger).label(name)
                for name, chosen in (
                    ("begun", count.state.not_in(untried)),
                    ("left", left),
                    ("not_done", count.state.in_((TaskState.FAILED, TaskState.CANCELLED))),
                    ("total", true()),
                )
            )
        )
        .where(count.campaign_id == Campaign.c.id)
        .lateral()
    )
    state = case(
        (row.waived_by.is_not(None), "waived"),
        (row.met_at.is_not(None), "met"),
        (row.broken_at.is_not(None), "failed"),
        else_="waits",
    )
    return (
        select(
            row.required_id.label("campaign_id"),
            Campaign.c.name,
            case((row.is_same, "same"), else_="all").label("tasks"),
            row.condition.label("when"),
            row.tolerated,
            row.tolerance,
            state.label("state"),
            Campaign.c.state.label("campaign_state"),
            (sums.c.begun > 0).label("has_begun"),
            sums.c.left,
            sums.c.not_done,
            sums.c.total,
            Forecast.c.eta.label("ends_at"),
            and_(Campaign.c.state.in_(OPEN_CAMPAIGNS), is_campaign_held()).label("is_held"),
        )
        .join(Campaign, Campaign.c.id == row.required_id)
        .join(sums, true())
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
        .where(row.campaign_id == bindparam("waiting"))
        .order_by(row.required_id)
    )
