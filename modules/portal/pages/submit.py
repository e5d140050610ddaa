"""The page on which a campaign is described, judged while its reader types, foretold, and submitted."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from fastapi import FastAPI, Request
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
from modules.portal.rendering.page_renderer import PageRenderer, add_page, read_fields, see
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


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/submit, with ?like=ID for a draft like that campaign, ?example=NAME for one like that; what its form is for."""

    def submit_page(
        request: Request, like: PlainNumber | None = None, rename: bool = False, example: PlainText = ""
    ) -> Response:
        caller = site.visitor(request)
        submit_campaign.require(caller)
        if like is None:
            begun = find_example(example) if example else ExampleDraft("", "")
            draft = SubmissionDraft(begun.described, begun.lines, begun.kind, _new_key())
            return show(request, caller, draft, None, [])
        with site.grid(caller).snapshot() as grid:
            text = _like(grid, like, rename)
        draft = SubmissionDraft(text.described, text.lines, "", _new_key())
        return show(request, caller, draft, None, [], without_parameters_of=None if text.is_whole else like)

    async def check_draft(request: Request) -> Response:
        return await take(request, judged)

    async def submit_draft(request: Request) -> Response:
        return await take(request, submitted)

    async def simulate_draft(request: Request) -> Response:
        return await take(request, foretold)

    async def take(request: Request, answer: Callable[[Request, dict[str, str]], Response]) -> Response:
        """A form is one of the uploads of its sender until it is answered."""
        caller = await run_in_threadpool(site.visitor, request)
        with site.uploads.one_more(caller.user):
            try:
                async with arriving():
                    form = await read_fields(request, LONGEST_SUBMISSION)
            except ClientDisconnect:
                return Response(status_code=400)  # which nobody reads
            async with site.turns.turn(caller.user):
                return await run_in_threadpool(answer, request, form)

    def judged(request: Request, form: dict[str, str]) -> Response:
        caller, draft = site.changing(request, form), _draft(form)
        try:
            checked = site.grid(caller).send(check_campaign, draft.values())
        except DescriptionError as error:
            return show(request, caller, draft, None, error.problems)
        return show(request, caller, draft, checked, checked.problems)

    def foretold(request: Request, form: dict[str, str]) -> Response:
        caller, draft = site.changing(request, form), _draft(form)
        try:
            told = DraftSimulation(_simulation(site, caller, draft))
        except ResponsePending:
            told = DraftSimulation(None)
        except DescriptionError as error:
            return show(request, caller, draft, None, error.problems)
        except (TooManyRequests, SimulationFailed) as error:
            return show(request, caller, draft, None, [], unforetold=str(error))
        return show(request, caller, draft, None, [], told)

    def submitted(request: Request, form: dict[str, str]) -> Response:
        caller, draft = site.changing(request, form), _draft(form)
        try:
            stored = site.grid(caller).send(submit_campaign, draft.values(), key=draft.key)
        except DescriptionError as error:
            return show(request, caller, draft, None, error.problems)
        except IdempotencyKeyReused:
            again = draft._replace(key=_new_key())
            return show(request, caller, again, None, [DescriptionProblem("", ALREADY_SUBMITTED)])
        return see(f"/campaigns/{stored.id}")

    def show(
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

    add_page(app, "/submit", "GET", submit_page)
    add_page(app, "/submit/check", "POST", check_draft)
    add_page(app, "/submit/simulate", "POST", simulate_draft)
    add_page(app, "/submit", "POST", submit_draft)


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
            caller.user, question, lambda: run_upload_endpoint(simulate_campaigns, site.database, caller, body, {})
        )
        return simulation


def _draft(form: dict[str, str]) -> SubmissionDraft:
    """A form without a key is sent as one that has never been sent."""
    kind, key = require_kind(form.get("kind", "")), form.get("key") or _new_key()
    return SubmissionDraft(form.get("described", ""), form.get("lines", ""), kind, key)


def _new_key() -> str:
    return secrets.token_hex(16)
