"""Whether the grid is at work."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from cigri.answers.notices import Notices
from cigri.endpoints import May, reads
from cigri.formats.id_ranges import read_ids
from cigri.identity.callers import Caller
from cigri.presentation.outages import away, left_out, standstills

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_SENTENCES = 10


@reads("/notices", May.EVERYBODY)
def notices(conn: "Connection", _caller: Caller, *, ids: str = "", user: str = "") -> Notices:
    """What keeps campaigns from going on: those named (3,5-7), or all of a user, or all; those that are open."""
    from cigri.flow.views.campaigns import list_open, present

    return Notices(present(conn), list_notices(conn, list_open(conn, read_ids(ids) if ids else None, user=user)))


def list_notices(conn: "Connection", campaign_ids: Collection[int]) -> list[str]:
    """One sentence for each thing that keeps these campaigns from going on, nothing when all is well."""
    from cigri.flow.quarantines import list_quarantines
    from cigri.flow.views.heartbeats import find_pulse, list_away

    if not campaign_ids:
        return []
    sentences = [*standstills(find_pulse(conn)), *map(away, list_away(conn, campaign_ids))]
    sentences += map(left_out, list_quarantines(conn, campaign_ids))
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], f"and {more} more: `gridevents` lists them"] if more > 0 else sentences
