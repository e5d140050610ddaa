"""What becomes of a single job by the wish of its campaign's owner."""

from typing import TYPE_CHECKING

from cigri.api_models.changes import ActionResult
from cigri.endpoints import Access, change_endpoint
from cigri.errors import CigriError
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@change_endpoint("/jobs/{job_id}/kill", Access.OWNER)
def kill_job(conn: "Connection", caller: Caller, *, job_id: int) -> ActionResult:
    """It is killed, and its task with it."""
    from cigri.flow import cancellations

    if not cancellations.kill_job(conn, job_id, caller):
        raise CigriError(f"job {job_id} has ended already")
    return ActionResult(job_id, True, f"job {job_id} is being killed; its tasks are cancelled")


@change_endpoint("/jobs/{job_id}/checkpoint", Access.OWNER)
def checkpoint_job(conn: "Connection", caller: Caller, *, job_id: int) -> ActionResult:
    """It is asked to save its state, if it runs."""
    from cigri.flow.checkpoint_requests import request_checkpoints

    if not request_checkpoints(conn, caller, job_id=job_id):
        raise CigriError(f"job {job_id} is not running, or its campaign declares no checkpoint")
    message = f"job {job_id} is asked for a checkpoint; `gridstat -j {job_id}` tells when it has heard"
    return ActionResult(job_id, True, message)


@change_endpoint("/jobs/{job_id}/hold", Access.OWNER)
def hold_job(conn: "Connection", caller: Caller, *, job_id: int, waiting_only: bool = False) -> ActionResult:
    """It stands still; with `waiting_only` unless it runs already."""
    from cigri.endpoints.hold_effects import describe_hold_effects
    from cigri.flow import holds

    shares = holds.hold_job(conn, job_id, caller, waiting_only=waiting_only)
    return ActionResult(job_id, True, f"job {job_id} is held{describe_hold_effects(shares, waiting_only)}")


@change_endpoint("/jobs/{job_id}/release", Access.OWNER)
def release_job(conn: "Connection", caller: Caller, *, job_id: int) -> ActionResult:
    """It goes on, if it was held by itself."""
    from cigri.flow import holds

    holds.resume_job(conn, job_id, caller)
    return ActionResult(job_id, True, f"job {job_id} goes on")
