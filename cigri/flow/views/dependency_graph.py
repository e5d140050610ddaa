"""Which open campaigns wait for which.
Read by: predictor.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, or_, select

from cigri.database.typed_rows import read_all
from cigri.states import OPEN_CAMPAIGNS
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.dependencies import Dependency
from cigri.tables.tasks import TaskCount


class DependencyEdge(NamedTuple):
    """`campaign_id` waits for `required_id`; `is_same`: task by task; `is_broken`: which has ended otherwise.

    `is_timed`: it is known before they begin how long tasks of one of them take.
    """

    campaign_id: int
    required_id: int
    is_same: bool = False
    is_broken: bool = False
    is_timed: bool = False


def list_edges(conn: Connection) -> list[DependencyEdge]:
    """Where nobody waits this costs a look at an index that is empty."""
    return read_all(conn, DependencyEdge, _edges())


@cache
def _edges() -> Select[*tuple[Any, ...]]:
    row, part, count = Dependency.c, CampaignCluster.c, TaskCount.c
    of_both = or_(part.campaign_id == row.campaign_id, part.campaign_id == row.required_id)
    guessed = select(part.campaign_id).where(of_both, part.settings["duration"].astext.is_not(None))
    known = select(count.campaign_id).where(count.campaign_id == row.campaign_id, count.known > 0)
    is_timed = or_(guessed.correlate(Dependency).exists(), known.correlate(Dependency).exists())
    return (
        select(
            row.campaign_id,
            row.required_id,
            row.is_same,
            row.broken_at.is_not(None).label("is_broken"),
            is_timed.label("is_timed"),
        )
        .join(Campaign, and_(Campaign.c.id == row.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(row.met_at.is_(None))
        .order_by(row.campaign_id, row.required_id)
    )
