"""A campaign is stored, or several stages are, once for each key that their user sends with them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.api_models.submissions import SubmittedCampaign
from cigri.errors import CigriError
from cigri.flow.audit import put_audit
from cigri.flow.dependencies import find_required
from cigri.flow.holds import hold_campaign
from cigri.flow.submissions import IdempotencyKey, find_submission, list_submissions, put_campaign
from cigri.identity.callers import Caller
from cigri.inputs.store import store_of
from cigri.submission.dry_run import ExaminedDescription
from cigri.submission.new_campaign import new_campaign, wanted_before
from cigri.submission.preview import outline
from cigri.submission.task_files import sums_of_tasks

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.jdl import CampaignDescription
    from cigri.settings.sections import Settings


def list_stored(database: "Database", user: str, key: IdempotencyKey | None) -> list[SubmittedCampaign]:
    """What was stored with this key, of stages each; how it was described is not looked at again."""
    with database.begin() as conn:
        ids = list_submissions(conn, user, key)
    return [SubmittedCampaign(campaign_id, None, [], 0, []) for campaign_id in ids]


def store(
    database: "Database",
    settings: "Settings",
    caller: Caller,
    examined: ExaminedDescription,
    notes: Sequence[str],
    key: IdempotencyKey | None,
    sent_from: str = "",
) -> SubmittedCampaign:
    """In one transaction, which begins when nothing is waited for any more but the database."""
    description = _described(examined)
    with database.begin() as conn:
        campaign_id = find_submission(conn, caller.user, key)
        if campaign_id is None:
            campaign_id = _put(conn, settings, caller, description, key, sent_from)
            _note(conn, caller, "submit_campaign", description, campaign_id)
    return _stored(caller, examined, notes, campaign_id)


def take_over(
    database: "Database",
    settings: "Settings",
    caller: Caller,
    examined: ExaminedDescription,
    key: IdempotencyKey,
    *,
    is_held: bool,
) -> int:
    """A campaign of another grid, in one transaction: not a job of one that was paused there is made meanwhile."""
    description = _described(examined)
    with database.begin() as conn:
        campaign_id = _put(conn, settings, caller, description, key, sent_from="")
        if is_held:
            hold_campaign(conn, campaign_id, caller)
        _note(conn, caller, "submit_campaign", description, campaign_id)
    return campaign_id


def store_stages(
    database: "Database",
    settings: "Settings",
    caller: Caller,
    stages: Sequence[tuple[ExaminedDescription, Sequence[str]]],
    key: IdempotencyKey | None,
    sent_from: str = "",
) -> list[SubmittedCampaign]:
    """All in one transaction, in their order: a stage finds by its name one that stands before it."""
    with database.begin() as conn:
        ids = list_submissions(conn, caller.user, key)
        if not ids:
            descriptions = [_described(examined) for examined, _ in stages]
            ids = [_put(conn, settings, caller, description, key, sent_from) for description in descriptions]
            for description, campaign_id in zip(descriptions, ids, strict=True):
                _note(conn, caller, "submit_stages", description, campaign_id)
    return [_stored(caller, *stage, campaign_id) for stage, campaign_id in zip(stages, ids, strict=True)]


def _put(
    conn: "Connection",
    settings: "Settings",
    caller: Caller,
    description: "CampaignDescription",
    key: IdempotencyKey | None,
    sent_from: str,
) -> int:
    after = [*find_required(conn, caller, wanted_before(description), description.count)]
    if wrong := [f"after[{place}]: {found}" for place, found in enumerate(after) if isinstance(found, str)]:
        raise CigriError("; ".join(wrong))
    required = [found for found in after if not isinstance(found, str)]
    new = new_campaign(description, caller.user)._replace(sent_from=sent_from or None)
    with sums_of_tasks(conn, store_of(settings), caller.user, description) as sums:
        return put_campaign(conn, new, description.parameters(), key, sums, required)


def _note(
    conn: "Connection", caller: Caller, action: str, description: "CampaignDescription", campaign_id: int
) -> None:
    put_audit(conn, caller, action, {"campaign_id": campaign_id, "name": description.name})


def _described(examined: ExaminedDescription) -> "CampaignDescription":
    assert examined.description is not None, "it has no problems"
    return examined.description


def _stored(caller: Caller, examined: ExaminedDescription, notes: Sequence[str], campaign_id: int) -> SubmittedCampaign:
    campaign = outline(_described(examined), caller.user, campaign_id)
    return SubmittedCampaign(campaign_id, campaign, examined.changes, examined.dropped, [*notes])
