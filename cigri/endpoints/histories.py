"""How campaigns came to where they are, as charts show it; everybody sees how campaigns stand."""

from typing import TYPE_CHECKING

from cigri.answers.histories import CampaignRate
from cigri.endpoints import May, reads
from cigri.errors import UsageError
from cigri.rules.callers import Caller
from cigri.text.id_ranges import read_ids

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_CAMPAIGNS = 100


@reads("/rates", May.EVERYBODY)
def rates(conn: "Connection", _caller: Caller, *, campaigns: str) -> list[CampaignRate]:
    """How fast these campaigns (3,5-7; 100 at most) did tasks in the last day of their life; without archived ones."""
    from cigri.flow.views.histories import list_rates

    ids = read_ids(campaigns)
    if len(ids) > MOST_CAMPAIGNS:
        raise UsageError(f"these are {len(ids)} campaigns; name {MOST_CAMPAIGNS} at most")
    return list_rates(conn, ids)
