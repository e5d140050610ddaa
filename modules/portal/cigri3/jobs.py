"""Tasks of campaigns, which CiGri 3 called jobs in paths of a campaign, and jobs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from cigri.api_models.jobs import JobView
from cigri.api_models.tasks import AttemptView, TaskView
from cigri.endpoints import tasks as endpoints
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.job_changes import kill_job
from cigri.endpoints.jobs import job, outputs
from cigri.endpoints.tasks import USUAL_TASKS
from cigri.presentation.formatting import parameter_words
from cigri.states import JobKind, JobState, Outcome, TaskState
from modules.portal.cigri3.clusters import numbers_of_clusters
from modules.portal.cigri3.codes import as_date, as_remote_id, as_wait_status
from modules.portal.cigri3.dispatch import Cigri3Request, Cigri3Response, accepted, link

STATE_OF_TASK = {
    TaskState.BLOCKED: "pending",
    TaskState.WAITING: "pending",
    TaskState.ASSIGNED: "running",  # its job has just ended
    TaskState.DONE: "terminated",
    TaskState.FAILED: "event",
    TaskState.CANCELLED: "cancelled",
}
STATE_OF_JOB = {
    JobState.TO_LAUNCH: "queued",
    JobState.LAUNCHING: "launching",
    JobState.SUBMITTED: "remote_waiting",
    JobState.RUNNING: "running",
}
GOOD = (Outcome.SUCCESS, Outcome.DOUBTFUL)


def list_jobs(asked: Cigri3Request) -> Cigri3Response:
    """A page of a campaign's tasks; the link to the next one is there as long as there is one."""
    number, offset = asked.number("campaign"), asked.count("offset", 0)
    limit = asked.count("limit", USUAL_TASKS)
    found = asked.grid.call(endpoints.tasks, campaign_id=number, after=offset - 1, limit=limit)
    total, here = asked.grid.call(campaign, campaign_id=number).campaign.total, f"/campaigns/{number}/jobs"
    links = [link("self", here), link("parent", f"/campaigns/{number}")]
    if (behind := offset + len(found)) < total:
        links.append(link("next", f"{here}?limit={limit}&offset={behind}"))
    items = [_as_task(task) for task in found]
    return Cigri3Response({"items": items, "total": total, "offset": offset, "limit": limit, "links": links})


def show_task(asked: Cigri3Request) -> Cigri3Response:
    """A task and its attempts."""
    number, task = asked.number("campaign"), asked.number("task")
    whole = asked.grid.call(endpoints.task, campaign_id=number, number=task)
    told, here, numbers = _as_task(whole.task), f"/campaigns/{number}/jobs", numbers_of_clusters(asked)
    return Cigri3Response(
        {
            **{name: told[name] for name in ("id", "name", "parameters", "state")},
            "links": [link("self", f"{here}/{task}"), link("parent", here)],
            "execution": [_as_attempt(attempt, numbers) for attempt in whole.attempt_list],
        }
    )


def show_job(asked: Cigri3Request) -> Cigri3Response:
    whole = asked.grid.call(job, job_id=asked.number("job"))
    return Cigri3Response(_as_job(whole.job, whole.attempts, numbers_of_clusters(asked)))


def kill(asked: Cigri3Request) -> Cigri3Response:
    return accepted(asked.grid.call(kill_job, job_id=asked.number("job")).message)


def show_stdout(asked: Cigri3Request) -> Cigri3Response:
    return _output(asked, "out")


def show_stderr(asked: Cigri3Request) -> Cigri3Response:
    return _output(asked, "err")


def _output(asked: Cigri3Request, stream: Literal["out", "err"]) -> Cigri3Response:
    found = asked.ask_cluster(outputs, job_id=asked.number("job"), streams=[stream])
    return Cigri3Response({"output": "".join(output.text or "" for output in found.outputs)})


def _as_task(task: TaskView) -> dict[str, Any]:
    """It is named as CiGri 3 did, by the first word of its parameter, which is its owner's."""
    parameter = None if task.parameter is None else parameter_words(task.parameter)
    return {
        "id": task.number,
        "name": next(iter((parameter or "").split()), parameter),
        "parameters": parameter,
        "cluster": task.cluster,
        "cigri_job_id": task.job_id,
        "remote_id": as_remote_id(task.remote_id),
        "state": _state_of_task(task),
        "href": f"/campaigns/{task.campaign_id}/jobs/{task.number}",
    }


def _state_of_task(task: TaskView) -> str:
    if task.state is TaskState.ASSIGNED and task.job_state in STATE_OF_JOB:
        return STATE_OF_JOB[task.job_state]
    return STATE_OF_TASK[task.state]


def _as_attempt(attempt: AttemptView, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "id": attempt.job_id,
        "cluster_id": numbers[attempt.cluster],
        "cluster_name": attempt.cluster,
        "state": _state_of(attempt.job_state, attempt.outcome),
        "return_code": as_wait_status(attempt.exit_code),
        "remote_id": as_remote_id(attempt.remote_id),
    }


def _as_job(found: JobView, attempts: Sequence[AttemptView], numbers: dict[str, int]) -> dict[str, Any]:
    """`tag` is prologue or epilogue, as there. Of tasks that share a job the first one is told, and the last end."""
    first = attempts[0] if attempts else None
    return {
        "id": found.id,
        "campaign_id": found.campaign_id,
        "param_id": first.task_number if first else None,
        "param": None if first is None or first.parameter is None else parameter_words(first.parameter),
        "batch_id": found.batch_id,
        "cluster_id": numbers[found.cluster],
        "cluster_name": found.cluster,
        "grid_user": found.user,
        "state": _state_of(found.state, found.outcome),
        "return_code": as_wait_status(found.exit_code),
        "submission_time": as_date(found.submitted_at),
        "start_time": as_date(first.started_at if first and first.started_at else found.started_at),
        "stop_time": as_date(_own_end(attempts) or found.ended_at),
        "node_name": found.node,
        "remote_id": as_remote_id(found.remote_id),
        "tag": None if found.kind is JobKind.TASKS else str(found.kind),
        "links": [link("self", f"/jobs/{found.id}"), link("parent", f"/campaigns/{found.campaign_id}/jobs")],
    }


def _own_end(attempts: Sequence[AttemptView]) -> datetime | None:
    """When the last task ended by its own record, which the grid learns some seconds later; None: it has none."""
    ends = [
        attempt.started_at + timedelta(seconds=attempt.seconds + attempt.halted_seconds)
        for attempt in attempts
        if attempt.started_at is not None and attempt.seconds is not None
    ]
    return max(ends, default=None)


def _state_of(state: JobState, outcome: Outcome | None) -> str:
    if state is not JobState.ENDED:
        return STATE_OF_JOB[state]
    return "terminated" if outcome in GOOD else "event"
