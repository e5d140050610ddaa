"""What campaigns wait for that has ended, or that goes on task by task.
Read by: metascheduler.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, and_, cast, func, or_, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.database.typed_rows import read_all
from cigri.flow.campaigns import is_settled
from cigri.lifecycle.dependency_gates import GateVerdict, RequiredCampaignState, judge
from cigri.states import OPEN_CAMPAIGNS, AfterWhen, CampaignState, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.dependencies import Dependency
from cigri.tables.tasks import TaskCount

NOT_DONE = (TaskState.FAILED, TaskState.CANCELLED)
_Waiter = Campaign.alias("waiter")


class UnmetDependency(NamedTuple):
    """A dependency that is not met, as its table has it, and how the required campaign stands."""

    id: int
    campaign_id: int
    required_id: int
    is_same: bool
    condition: AfterWhen
    tolerated: int
    tolerance: float
    is_broken: bool
    seen: int
    is_over: bool
    is_cancelled: bool
    done: int
    not_done: int
    total: int

    @property
    def ended(self) -> RequiredCampaignState:
        """The required campaign."""
        return RequiredCampaignState(self.is_over, self.is_cancelled, self.not_done, self.total)

    @property
    def verdict(self) -> GateVerdict:
        """Of the required campaign as a whole."""
        return judge(self.ended, self.condition, self.tolerated, self.tolerance)

    @property
    def fulfilled(self) -> int:
        """Tasks of the required campaign that have ended as they are to."""
        counted = {AfterWhen.SUCCESS: self.done, AfterWhen.FAILURE: self.not_done}
        return counted.get(self.condition, self.done + self.not_done)

    @property
    def is_news(self) -> bool:
        """Is there anything to be done about it that was not done before?"""
        moved = self.is_same and self.seen != self.fulfilled
        return moved or (self.verdict is not GateVerdict.BROKEN if self.is_broken else self.is_over)


def list_news(conn: Connection) -> list[UnmetDependency]:
    """Of open campaigns. Where nobody waits for another this costs a look at an index that is empty."""
    if conn.scalar(select(Dependency.c.id).where(Dependency.c.met_at.is_(None)).limit(1)) is None:
        return []
    return [gate for gate in read_all(conn, UnmetDependency, _shut()) if gate.is_news]


@cache
def _shut() -> Select[*tuple[Any, ...]]:
    """Without those of which the required campaign goes on, unless single tasks of it are waited for."""
    row, is_over = Dependency.c, is_settled()
    is_cancelled, is_broken = Campaign.c.state == CampaignState.CANCELLED, row.broken_at.is_not(None)
    return (
        select(
            *(row[name] for name in ("id", "campaign_id", "required_id", "is_same", "condition")),
            *(row.tolerated, row.tolerance, is_broken.label("is_broken"), row.seen),
            is_over.label("is_over"),
            is_cancelled.label("is_cancelled"),
            _counted(TaskState.DONE).label("done"),
            _counted(*NOT_DONE).label("not_done"),
            _counted(*TaskState).label("total"),
        )
        .join(_Waiter, and_(_Waiter.c.id == row.campaign_id, _Waiter.c.state.in_(OPEN_CAMPAIGNS)))
        .join(Campaign, Campaign.c.id == row.required_id)
        .where(row.met_at.is_(None), or_(row.is_same, is_broken, is_over))
        .order_by(row.id)
    )


def _counted(*states: TaskState) -> ColumnElement[int]:
    """Tasks of the required campaign in these states."""
    number = select(cast(func.coalesce(func.sum(TaskCount.c.n), 0), BigInteger)).correlate(Campaign)
    return number.where(TaskCount.c.campaign_id == Campaign.c.id, TaskCount.c.state.in_(states)).scalar_subquery()
