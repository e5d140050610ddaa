"""A campaign is stored, once for each key that its user sends with it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.answers.submissions import SubmittedCampaign
from cigri.flow.audit import put_audit
from cigri.flow.submissions import SentKey, find_submission, put_campaign
from cigri.rules.callers import Caller
from cigri.submission import new_campaign
from cigri.submission.examining import Examined
from cigri.submission.outline import outline

if TYPE_CHECKING:
    from cigri.database import Database


def find_stored(database: "Database", user: str, key: SentKey | None) -> SubmittedCampaign | None:
    """What was stored with this key; how it was described is not looked at again."""
    with database.begin() as conn:
        campaign_id = find_submission(conn, user, key)
    return None if campaign_id is None else SubmittedCampaign(campaign_id, None, [], 0, [])


def store(
    database: "Database", caller: Caller, examined: Examined, notes: Sequence[str], key: SentKey | None
) -> SubmittedCampaign:
    """In one transaction, which begins when nothing is waited for any more but the database."""
    description = examined.description
    assert description is not None, "it has no problems"
    user = caller.user
    with database.begin() as conn:
        campaign_id = find_submission(conn, user, key)
        if campaign_id is None:
            campaign_id = put_campaign(conn, new_campaign(description, user), description.parameters(), key)
            put_audit(conn, caller, "submit_campaign", {"campaign_id": campaign_id, "name": description.name})
    campaign = outline(description, user, campaign_id)
    return SubmittedCampaign(campaign_id, campaign, examined.changes, examined.dropped, [*notes])
