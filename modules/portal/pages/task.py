"""A task's page: each attempt at it and how that ended, what it runs, and what it wrote."""

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.jobs import JobStreamTails
from cigri.api_models.tasks import AttemptView, TaskCommand, TaskDetail
from cigri.endpoints.campaign_changes import resubmit_tasks
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.dispatch import InProcessClient, run_endpoint
from cigri.endpoints.jobs import outputs
from cigri.endpoints.paging import walk
from cigri.endpoints.tasks import task, task_commands
from cigri.errors import CigriError, Forbidden, NotFound
from cigri.identity.callers import AccessScope, Caller
from cigri.presentation.exit_codes import explain
from cigri.presentation.inputs import SHOWN_DIGITS, were_replaced
from cigri.states import ATTEMPT_LIFE, Outcome, TaskState
from modules.portal.change_stream import stamp_of
from modules.portal.deferred_responses import ResponsePending
from modules.portal.parameter_limits import PlainNumber
from modules.portal.rendering.page_renderer import PageRenderer, see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site

SHOWN_OUTPUT = 20_000  # characters of the end of each output
RETRIED = (TaskState.FAILED, TaskState.CANCELLED)
ASK_AGAIN = 1  # seconds until a browser asks whether the cluster has answered


task_pages = PageRouter()


@task_pages.page("/campaigns/{campaign_id}/tasks/{number}")
def task_page(site: Site, request: Request, campaign_id: PlainNumber, number: PlainNumber) -> Response:
    """Show a task and each attempt at it."""
    caller = site.visitor(request)
    grid = site.grid(caller)
    whole = grid.call(task, campaign_id=campaign_id, number=number)
    (campaign,) = grid.call(campaigns, ids=str(campaign_id))
    is_seen = caller.sees(campaign.user)
    return site.show(
        request,
        "task.html",
        caller,
        task=whole.task,
        campaign=campaign,
        stamp=stamp_of([campaign]),
        attempts=[(attempt, ending(attempt)) for attempt in reversed(whole.attempt_list)],
        is_seen=is_seen,
        is_last=number >= campaign.total - 1,
        may_retry=caller.owns(campaign.user)
        and caller.scope.allows(AccessScope.SUBMIT)
        and whole.task.state in RETRIED
        and campaign.archived_at is None,
        commands=_commands(grid, whole) if is_seen else [],
        inputs=whole.inputs if were_replaced(whole.inputs) else [],
        digits=SHOWN_DIGITS,
    )


@task_pages.page("/jobs/{job_id}/output")
def output_page(site: Site, request: Request, job_id: PlainNumber) -> Response:
    """Show what a job has printed, which is asked of its cluster."""
    caller = site.visitor(request)
    told, wrong, status = None, "", 200
    try:
        told = _outputs(site, caller, job_id)
    except ResponsePending:
        status = 202
    except (Forbidden, NotFound):
        raise
    except CigriError as error:
        wrong = str(error)
    page = site.show(request, "output.html", caller, status, job_id=job_id, told=told, wrong=wrong, most=SHOWN_OUTPUT)
    if status == 202:
        page.headers["Refresh"] = str(ASK_AGAIN)
    return page


@task_pages.form("/campaigns/{campaign_id}/tasks/{number}/retry")
def retry_task(site: Site, request: Request, campaign_id: PlainNumber, number: PlainNumber, form: PageForm) -> Response:
    """Run a task once more that has failed or was cancelled."""
    grid = site.grid(site.changing(request, form))
    grid.call(resubmit_tasks, campaign_id=campaign_id, tasks=[(number, number)])
    return see(f"/campaigns/{campaign_id}/tasks/{number}")


def ending(attempt: AttemptView) -> str:
    """How it ended in words, or where it is."""
    if attempt.outcome is None:
        return "suspended or held" if attempt.is_halted else attempt.job_state.replace("_", " ")
    means = explain(attempt.exit_code)
    if attempt.outcome in (Outcome.SUCCESS, Outcome.FAILURE):
        said = "succeeded" if attempt.outcome is Outcome.SUCCESS else "failed"
        said += "" if attempt.exit_code is None else f" with exit code {attempt.exit_code}"
    else:
        said = f"{attempt.outcome.replace('_', ' ')}: {_meaning(attempt.outcome)}"
    return f"{said} ({means})" if means else said


def _meaning(outcome: Outcome) -> str:
    """Why an attempt ends so; what is doubted had been a success."""
    before = Outcome.SUCCESS if outcome is Outcome.DOUBTFUL else None
    return ATTEMPT_LIFE.moves[before, outcome]


def _commands(grid: InProcessClient, whole: TaskDetail) -> list[TaskCommand]:
    """Where it was last tried first, and nowhere else if it was tried."""
    told = walk(grid, task_commands, campaign_id=whole.task.campaign_id, number=whole.task.number)
    tried = [attempt.cluster for attempt in reversed(whole.attempt_list)]
    return [command for name in dict.fromkeys(tried) for command in told if command.cluster == name] or told


def _outputs(site: PageRenderer, caller: Caller, job_id: int) -> JobStreamTails:
    """Raise ResponsePending while the cluster is being asked."""
    asked = {"job_id": job_id, "streams": ["err", "out"]}
    question = ("a page's output", caller, job_id)
    told: JobStreamTails = site.errands.fetch_or_start(
        caller.user, question, lambda: run_endpoint(outputs, site.database, site.settings, caller, asked)
    )
    return told
