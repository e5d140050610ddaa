"""A user no longer needs the files of a campaign."""

from sqlalchemy import Connection, select

from cigri.database import wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_janitor import PURGE
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.user_to_metascheduler import own_campaign
from cigri.states import CampaignState, EventLevel
from cigri.tables.campaigns import Campaign
from cigri.tables.jobs import Batch


def purge_campaign(conn: Connection, campaign_id: int, user: str) -> bool:
    """Let the janitor remove the campaign's files from the clusters at its next pass; it must have ended.

    False when it has no files there: none were ever written, or they are gone already.
    """
    state = own_campaign(conn, campaign_id, user)
    if state not in (CampaignState.TERMINATED, CampaignState.CANCELLED):
        word = state.replace("_", " ")
        raise NotFound(f"campaign {campaign_id} is {word}: only a campaign that has ended can be purged")
    written = select(Batch.c.id).where(Batch.c.campaign_id == campaign_id).exists()
    if not conn.scalar(select(written).where(Campaign.c.id == campaign_id, Campaign.c.purged_at.is_(None))):
        return False
    subject = f"campaign {campaign_id}"
    put_events(conn, [NewEvent(PURGE, EventLevel.WARNING, subject, f"purge asked by {user}", campaign_id)])
    wake(conn)
    return True
