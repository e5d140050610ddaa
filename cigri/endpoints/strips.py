"""All tasks of a campaign at a glance; everybody sees how campaigns stand."""

from typing import TYPE_CHECKING

from cigri.answers.strips import StripCell
from cigri.endpoints import May, reads
from cigri.endpoints.campaigns import find_campaign
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@reads("/campaigns/{campaign_id}/strip", May.EVERYBODY)
def strip(conn: "Connection", _caller: Caller, *, campaign_id: int) -> list[StripCell]:
    """All tasks of a campaign in at most 1000 cells, each with the worst state of its tasks."""
    from cigri.flow.views.strips import list_cells

    return list_cells(conn, campaign_id, find_campaign(conn, campaign_id).total)
