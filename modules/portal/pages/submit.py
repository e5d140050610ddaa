"""The page on which a campaign is described, judged while its reader types, foretold, and submitted."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cigri.api_models.simulations import SimulationView
from cigri.api_models.submissions import CheckedCampaign
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.descriptions import description, parameters
from cigri.endpoints.dispatch import SnapshotClient, run_upload_endpoint
from cigri.endpoints.request_bodies import SpooledBody, as_body
from cigri.endpoints.submissions import check_campaign, simulate_campaigns, submit_campaign
from cigri.errors import DescriptionError, DescriptionProblem, IdempotencyKeyReused, SimulationFailed, TooManyRequests
from cigri.identity.callers import Caller
from modules.portal.deferred_responses import ResponsePending
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.description_text import FormText, fill_form
from modules.portal.rendering.example_drafts import EXAMPLE_DRAFTS, ExampleDraft, find_example
from modules.portal.rendering.page_renderer import PageRenderer, read_fields, see
from modules.portal.rendering.page_router import PageRouter, Site
from modules.portal.rendering.submission_draft import LINE_KINDS, SubmissionDraft, require_kind
from modules.portal.upload_limiter import arriving

LONGEST_SUBMISSION = 1_000_000  # bytes; each byte that is no letter or figure counts three
MOST_PROBLEMS = 50
MOST_FILLED = 5000  # parameters with which a form begins
COPY = "-copy"
ALREADY_SUBMITTED = "this form was submitted already, with other words in it; submit it again for one more campaign"


class DraftSimulation(NamedTuple):
    """What the laboratory says; None of it: not yet."""

    simulation: SimulationView | None


submit_pages = PageRouter()


@submit_pages.page("/submit")
def submit_page(
    site: Site, request: Request, like: PlainNumber | None = None, rename: bool = False, example: PlainText = ""
) -> Response:
    """Show a form: an empty one, one like campaign `like`, or one like the example of that name."""
    caller = site.visitor(request)
    submit_campaign.require(caller)
    if like is None:
        begun = find_example(example) if example else ExampleDraft("", "")
        draft = SubmissionDraft(begun.described, begun.lines, begun.kind, _new_key())
        return _show(site, request, caller, draft, None, [])
    with site.grid(caller).snapshot() as grid:
        text = _like(grid, like, rename)
    draft = SubmissionDraft(text.described, text.lines, "", _new_key())
    return _show(site, request, caller, draft, None, [], without_parameters_of=None if text.is_whole else like)


@submit_pages.form("/submit/check")
async def check_draft(site: Site, request: Request) -> Response:
    """Judge the draft while its reader types."""
    return await _take(site, request, _check)


@submit_pages.form("/submit")
async def submit_draft(site: Site, request: Request) -> Response:
    """Submit the draft."""
    return await _take(site, request, _submit)


@submit_pages.form("/submit/simulate")
async def simulate_draft(site: Site, request: Request) -> Response:
    """Say when the campaign of the draft would end."""
    return await _take(site, request, _simulate)


async def _take(
    site: PageRenderer, request: Request, answer: Callable[[PageRenderer, Request, dict[str, str]], Response]
) -> Response:
    """A form is one of the uploads of its sender until it is answered."""
    caller = await run_in_threadpool(site.visitor, request)
    with site.uploads.one_more(caller.user):
        try:
            async with arriving():
                form = await read_fields(request, LONGEST_SUBMISSION)
        except ClientDisconnect:
            return Response(status_code=400)  # which nobody reads
        async with site.turns.turn(caller.user):
            return await run_in_threadpool(answer, site, request, form)


def _check(site: PageRenderer, request: Request, form: dict[str, str]) -> Response:
    caller, draft = site.changing(request, form), _draft(form)
    try:
        checked = site.grid(caller).send(check_campaign, draft.values())
    except DescriptionError as error:
        return _show(site, request, caller, draft, None, error.problems)
    return _show(site, request, caller, draft, checked, checked.problems)


def _simulate(site: PageRenderer, request: Request, form: dict[str, str]) -> Response:
    caller, draft = site.changing(request, form), _draft(form)
    try:
        told = DraftSimulation(_simulation(site, caller, draft))
    except ResponsePending:
        told = DraftSimulation(None)
    except DescriptionError as error:
        return _show(site, request, caller, draft, None, error.problems)
    except (TooManyRequests, SimulationFailed) as error:
        return _show(site, request, caller, draft, None, [], unforetold=str(error))
    return _show(site, request, caller, draft, None, [], told)


def _submit(site: PageRenderer, request: Request, form: dict[str, str]) -> Response:
    caller, draft = site.changing(request, form), _draft(form)
    try:
        stored = site.grid(caller).send(submit_campaign, draft.values(), key=draft.key)
    except DescriptionError as error:
        return _show(site, request, caller, draft, None, error.problems)
    except IdempotencyKeyReused:
        again = draft._replace(key=_new_key())
        return _show(site, request, caller, again, None, [DescriptionProblem("", ALREADY_SUBMITTED)])
    return see(f"/campaigns/{stored.id}")


def _show(
    site: PageRenderer,
    request: Request,
    caller: Caller,
    draft: SubmissionDraft,
    checked: CheckedCampaign | None,
    problems: list[DescriptionProblem],
    foretold: DraftSimulation | None = None,
    unforetold: str = "",
    without_parameters_of: int | None = None,
) -> Response:
    return site.show(
        request,
        "submit.html",
        caller,
        draft=draft,
        examples=EXAMPLE_DRAFTS,
        kinds=LINE_KINDS,
        longest=LONGEST_SUBMISSION,
        checked=checked,
        foretold=foretold,
        unforetold=unforetold,
        without_parameters_of=without_parameters_of,
        problems=problems[:MOST_PROBLEMS],
        left_out=max(0, len(problems) - MOST_PROBLEMS),
    )


def _like(grid: SnapshotClient, campaign_id: int, rename: bool) -> FormText:
    """What that campaign was submitted as, for who may see it; with another name where it is to be edited."""
    stored = grid.call(description, campaign_id=campaign_id)
    described = dict(stored.described)
    if rename and isinstance(described.get("name"), str):
        described["name"] += COPY
    if not stored.has_list:
        return fill_form(described, [])
    (whole,) = grid.call(campaigns, ids=str(campaign_id))
    listed = grid.call(parameters, campaign_id=campaign_id, limit=MOST_FILLED) if whole.total <= MOST_FILLED else []
    return fill_form(described, listed if len(listed) == whole.total else None)


def _simulation(site: PageRenderer, caller: Caller, draft: SubmissionDraft) -> SimulationView:
    """Raise ResponsePending while it is being calculated; who sends the same words again finds the answer."""
    with SpooledBody() as body:
        for block in as_body(draft.values()):
            body.write(block)
        question = ("a page's simulation", caller, body.digest())
        simulation: SimulationView = site.errands.fetch_or_start(
            caller.user,
            question,
            lambda: run_upload_endpoint(simulate_campaigns, site.database, site.settings, caller, body, {}),
        )
        return simulation


def _draft(form: dict[str, str]) -> SubmissionDraft:
    """A form without a key is sent as one that has never been sent."""
    kind, key = require_kind(form.get("kind", "")), form.get("key") or _new_key()
    return SubmissionDraft(form.get("described", ""), form.get("lines", ""), kind, key)


def _new_key() -> str:
    return secrets.token_hex(16)
