"""A user no longer needs the files of a campaign."""

from sqlalchemy import Connection

from cigri.database import wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.user_to_metascheduler import own_campaign
from cigri.states import (
    CampaignState,
    EventLevel,
)


def purge_campaign(conn: Connection, campaign_id: int, user: str) -> None:
    """Let the janitor remove the campaign's files from the clusters at its next pass; it must have ended."""
    state = own_campaign(conn, campaign_id, user)
    if state not in (CampaignState.TERMINATED, CampaignState.CANCELLED):
        raise NotFound(f"campaign {campaign_id} is {state}: only a campaign that has ended can be purged")
    subject = f"campaign {campaign_id}"
    put_events(conn, [NewEvent("PURGE", EventLevel.WARNING, subject, f"purge asked by {user}", campaign_id)])
    wake(conn)
