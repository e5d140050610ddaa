"""Campaigns as CiGri 3 told them, submitted and changed."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from cigri.api_models.campaigns import CampaignClusterView, CampaignView
from cigri.api_models.changes import ActionResult
from cigri.endpoints import Endpoint, campaign_changes, submissions
from cigri.endpoints import campaigns as endpoints
from cigri.endpoints.descriptions import description, parameters
from cigri.endpoints.paging import walk
from cigri.errors import DescriptionError, DescriptionProblem, UsageError
from cigri.formats.units import HOUR
from cigri.jdl.cigri3 import GROUPING_FIELDS, from_cigri3, read_cigri3
from cigri.jdl.parsing import is_object, without_params
from cigri.jdl.text_formats import read_list
from cigri.states import StepState
from modules.portal.cigri3.clusters import numbers_of_clusters
from modules.portal.cigri3.dispatch import Cigri3Request, Cigri3Response, accepted, link

NO_THROUGHPUT = 1e-16
"""Tasks a second; clients divide by it, and tell as ~ what is so far away."""
MOST_PARAMETERS = 100_000  # in a description that is told
PAUSED = "paused"
"""CiGri 3's word for a campaign that is held."""
SETTABLE_STATES = (PAUSED, "in_treatment")
CANCEL = campaign_changes.cancel_campaign
INSTEAD_OF_CANCEL: Mapping[str, Endpoint[..., ActionResult]] = {
    "hold": campaign_changes.hold_campaign,
    "resume": campaign_changes.release_campaign,
    "purge": campaign_changes.purge_campaign,
}
FILE_OF_PARAMETERS = DescriptionProblem(
    "param_file",
    "the portal reads no file of yours",
    "send the lines as params, or let this CiGri's gridsub read it",
)


def root(_asked: Cigri3Request) -> Cigri3Response:
    return Cigri3Response(
        {
            "links": [
                link("self", "/"),
                link("collection", "/campaigns", "campaigns"),
                link("collection", "/clusters", "clusters"),
            ]
        }
    )


def list_campaigns(asked: Cigri3Request) -> Cigri3Response:
    """Those that are open, held or not."""
    items = [as_campaign(campaign) for campaign in walk(asked.grid, endpoints.campaigns)]
    return Cigri3Response(
        {"items": items, "total": len(items), "links": [link("self", "/campaigns"), link("parent", "/")]}
    )


def show_campaign(asked: Cigri3Request) -> Cigri3Response:
    whole = asked.grid.call(endpoints.campaign, campaign_id=asked.number("campaign"))
    numbers = numbers_of_clusters(asked)
    places = {str(numbers[share.part.cluster]): _as_place(share.part) for share in whole.clusters}
    return Cigri3Response(as_campaign(whole.campaign) | {"clusters": places})


def show_stats(asked: Cigri3Request) -> Cigri3Response:
    """Rates are per second, as CiGri 3's were, and parts of one."""
    whole = asked.grid.call(endpoints.campaign, campaign_id=asked.number("campaign"))
    campaign, parts = whole.campaign, [share.part for share in whole.clusters]
    throughput = (campaign.throughput or 0) / HOUR or NO_THROUGHPUT
    return Cigri3Response(
        {
            "average_jobs_duration": campaign.mean or 0.0,
            "stddev_jobs_duration": campaign.deviation or 0.0,
            "jobs_throughput": throughput,
            "remaining_time": (campaign.total - campaign.done) / throughput,
            "failures_rate": _beside(sum(part.failed for part in parts), campaign.done),
            "resubmit_rate": _beside(sum(part.resubmitted for part in parts), campaign.done),
        }
    )


def show_jdl(asked: Cigri3Request) -> Cigri3Response:
    """As it was written, with its parameters, those too that it only counts, where they are not too many."""
    number = asked.number("campaign")
    written = asked.grid.call(description, campaign_id=number)
    kept = {key: value for key, value in written.described.items() if key not in GROUPING_FIELDS or value is not False}
    jdl = {"jobs_type": "normal"} | kept
    listed = walk(asked.grid, parameters, MOST_PARAMETERS + 1, campaign_id=number)
    if len(listed) <= MOST_PARAMETERS:
        return Cigri3Response(jdl | {"params": listed})
    if not written.has_list:
        return Cigri3Response(jdl)
    pages = f"/api/v1/campaigns/{number}/parameters"
    raise UsageError(f"campaign {number} has more than {MOST_PARAMETERS} parameters: {pages} tells them in pages")


def submit(asked: Cigri3Request) -> Cigri3Response:
    """A description in JSON, with its parameters in it."""
    described, notes = read_cigri3(_text(asked.body))
    if is_object(described):
        if any(key.lower() == "param_file" for key in described):
            raise DescriptionError([FILE_OF_PARAMETERS])
        described, more = from_cigri3(described, is_grouping_asked_for=True)
        notes += more
    alone, listed = without_params(described)
    stored = asked.grid.send(submissions.submit_campaign, [alone, *listed], key=asked.key)
    made = _made(asked, stored.id)
    warnings = [*notes, *stored.notes]
    return made._replace(body=made.body | {"warnings": warnings}) if warnings else made


def add_jobs(asked: Cigri3Request) -> Cigri3Response:
    """A JSON list of parameters."""
    number = asked.number("campaign")
    asked.grid.send(submissions.add_tasks, read_list(_text(asked.body), "json"), campaign_id=number)
    return _made(asked, number)


def change(asked: Cigri3Request) -> Cigri3Response:
    """A form with a `state`."""
    number, form = asked.number("campaign"), dict(parse_qsl(_text(asked.body), keep_blank_values=True))
    if form.keys() != {"state"} or form["state"] not in SETTABLE_STATES:
        raise UsageError(
            f"state={' or state='.join(SETTABLE_STATES)} is what can be changed; a campaign keeps its name"
        )
    if form["state"] == PAUSED:
        asked.grid.call(campaign_changes.hold_campaign, campaign_id=number)
    else:
        asked.grid.call(campaign_changes.release_campaign, campaign_id=number)
    return Cigri3Response(_campaign(asked, number), HTTPStatus.ACCEPTED)


def cancel(asked: Cigri3Request) -> Cigri3Response:
    """Or hold, resume or purge it, where that is said."""
    if len(asked.options.keys() & INSTEAD_OF_CANCEL.keys()) > 1:
        raise UsageError("hold, resume or purge: one of them; without any the campaign is cancelled")
    wanted = next((INSTEAD_OF_CANCEL[word] for word in asked.options if word in INSTEAD_OF_CANCEL), CANCEL)
    return accepted(asked.grid.call(wanted, campaign_id=asked.number("campaign")).message)


def as_campaign(campaign: CampaignView) -> dict[str, Any]:
    """In CiGri 3's fields."""
    here = f"/campaigns/{campaign.id}"
    return {
        "id": campaign.id,
        "name": campaign.name,
        "user": campaign.user,
        "state": PAUSED if campaign.is_held and campaign.is_open else campaign.state,
        "has_events": campaign.errors > 0,
        "submission_time": int(campaign.submitted_at.timestamp()),
        "total_jobs": campaign.total,
        "finished_jobs": campaign.done,
        "links": [
            link("self", here),
            link("parent", "/campaigns"),
            link("collection", f"{here}/jobs", "jobs"),
            link("collection", f"{here}/events", "events"),
            link("item", f"{here}/jdl", "jdl"),
        ],
    }


def _as_place(part: CampaignClusterView) -> dict[str, Any]:
    is_over = (StepState.NONE, StepState.DONE)
    return {
        "cluster_name": part.cluster,
        "active_jobs": part.waiting + part.running,
        "queued_jobs": part.to_launch,
        "prologue_ok": part.prologue in is_over,
        "epilogue_ok": part.epilogue in is_over,
    }


def _made(asked: Cigri3Request, number: int) -> Cigri3Response:
    return Cigri3Response(_campaign(asked, number), HTTPStatus.CREATED, f"/campaigns/{number}")


def _campaign(asked: Cigri3Request, number: int) -> dict[str, Any]:
    return as_campaign(asked.grid.call(endpoints.campaign, campaign_id=number).campaign)


def _beside(number: int, done: int) -> float:
    return number / (number + done) if number else 0.0


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"what was sent is not UTF-8 text (byte {error.start})") from None
