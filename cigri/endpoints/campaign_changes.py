"""What becomes of a campaign by the wish of its owner."""

from typing import TYPE_CHECKING

from cigri.api_models.changes import ActionResult, PriorityView, ResubmittedTasks
from cigri.endpoints import Access, change_endpoint, with_settings
from cigri.endpoints.parameters import OwnPriority
from cigri.errors import CigriError, UsageError
from cigri.formats.priority import require_priority
from cigri.identity.callers import Caller
from cigri.states import CampaignState, TaskState

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.settings.sections import Settings

MOST_SPANS = 10_000  # ranges of tasks named at once


@change_endpoint("/campaigns/{campaign_id}/cancel", Access.OWNER)
def cancel_campaign(conn: "Connection", caller: Caller, *, campaign_id: int) -> ActionResult:
    """What runs is killed, what waits is given up."""
    from cigri.flow import campaigns

    before = campaigns.own_campaign(conn, campaign_id, caller)
    if not campaigns.cancel_campaign(conn, campaign_id, caller):
        why = "already" if before is CampaignState.CANCELLED else "and cannot be cancelled any more"
        raise CigriError(f"campaign {campaign_id} is {before} {why}")
    message = f"campaign {campaign_id} is cancelled; killing its jobs"
    return ActionResult(campaign_id, True, message, _work_left(conn, campaign_id))


@change_endpoint("/campaigns/{campaign_id}/purge", Access.OWNER)
def purge_campaign(conn: "Connection", caller: Caller, *, campaign_id: int) -> ActionResult:
    """The files of an ended campaign are removed from the clusters, by the janitor."""
    from cigri.flow import archive

    if not archive.purge_campaign(conn, campaign_id, caller):
        return ActionResult(campaign_id, True, f"campaign {campaign_id} has no files on any cluster")
    later = "the janitor removes its files from the clusters at its next run"
    return ActionResult(campaign_id, True, f"campaign {campaign_id} will be purged: {later}")


@change_endpoint("/campaigns/{campaign_id}/forget", Access.OWNER)
def forget_campaign(conn: "Connection", caller: Caller, *, campaign_id: int) -> ActionResult:
    """Lists leave an ended campaign out; it can still be named, and what it used still counts."""
    from cigri.flow import archive

    archive.forget_campaign(conn, campaign_id, caller)
    return ActionResult(campaign_id, True, f"campaign {campaign_id} is removed from lists")


@change_endpoint("/campaigns/{campaign_id}/checkpoint", Access.OWNER)
def checkpoint_campaign(conn: "Connection", caller: Caller, *, campaign_id: int) -> ActionResult:
    """Running jobs are asked to save their state."""
    from cigri.flow.checkpoint_requests import request_checkpoints

    asked = request_checkpoints(conn, caller, campaign_id=campaign_id)
    if not asked:
        raise CigriError(f"campaign {campaign_id} has no running job to ask, or its description declares no checkpoint")
    jobs = "1 running job is" if asked == 1 else f"{asked} running jobs are"
    message = f"campaign {campaign_id}: {jobs} asked for a checkpoint; `gridevents` tells when they have heard"
    return ActionResult(campaign_id, True, message)


@change_endpoint("/campaigns/{campaign_id}/hold", Access.OWNER)
def hold_campaign(
    conn: "Connection", caller: Caller, *, campaign_id: int, cluster: str = "", waiting_only: bool = False
) -> ActionResult:
    """It stands still, or its share of a cluster does: no new jobs, waiting ones are held, running ones suspended."""
    from cigri.endpoints.hold_effects import describe_hold_effects
    from cigri.flow import holds

    shares = holds.hold_campaign(conn, campaign_id, caller, cluster=cluster, waiting_only=waiting_only)
    where = f" on {cluster}" if cluster else ""
    message = (
        f"campaign {campaign_id} is held{where}: no new jobs are made{describe_hold_effects(shares, waiting_only)}"
    )
    return ActionResult(campaign_id, True, message, _work_left(conn, campaign_id))


@change_endpoint("/campaigns/{campaign_id}/release", Access.OWNER)
def release_campaign(
    conn: "Connection", caller: Caller, *, campaign_id: int, cluster: str = "", regardless: bool = False
) -> ActionResult:
    """A held campaign goes on, with all its shares and jobs; or its share of a cluster, if that was held."""
    if regardless:
        if cluster:
            raise UsageError("a campaign waits for others as a whole, not on one cluster", "cluster")
        from cigri.flow import dependencies

        released = dependencies.open_regardless(conn, campaign_id, caller)
        tasks = "1 task goes" if released == 1 else f"{released:,} tasks go"
        message = f"campaign {campaign_id} waits for no other any more: {tasks} on"
        return ActionResult(campaign_id, True, message, _work_left(conn, campaign_id))
    from cigri.flow import holds

    holds.resume_campaign(conn, campaign_id, caller, cluster=cluster)
    where = f" on {cluster}" if cluster else ""
    message = f"campaign {campaign_id} goes on{where}"
    return ActionResult(campaign_id, True, message, _work_left(conn, campaign_id))


@change_endpoint("/campaigns/{campaign_id}/priority", Access.OWNER)
def set_priority(conn: "Connection", caller: Caller, *, campaign_id: int, priority: OwnPriority) -> PriorityView:
    """Where it stands among the campaigns of its owner from now on: higher ones go first."""
    from cigri.flow.campaigns import set_own_priority

    set_own_priority(conn, campaign_id, caller, require_priority(priority))
    return PriorityView(campaign_id, priority)


@change_endpoint("/campaigns/{campaign_id}/resubmit", Access.OWNER)
@with_settings
def resubmit_tasks(
    conn: "Connection",
    caller: Caller,
    settings: "Settings",
    *,
    campaign_id: int,
    tasks: list[tuple[int, int]] | None = None,
    cancelled: bool = False,
    inputs: list[tuple[str, str]] | None = None,
    mem: str = "",
    walltime: str = "",
) -> ResubmittedTasks:
    """Tasks are done again: all that failed, or all that were `cancelled`; or either of these numbers, from ... to.

    With `inputs` they, and all others that are still to be started, find these in place of those before. With `mem` and
    `walltime` they have these amounts, if the site admits that.
    """
    from cigri.endpoints.inputs import replaced_inputs
    from cigri.flow.campaigns import own_campaign
    from cigri.flow.tasks import find_redoable, redo_tasks
    from cigri.submission.own_amounts import read_own_amounts, require_admitted

    if tasks is not None and (cancelled or len(tasks) > MOST_SPANS):
        raise UsageError(f"name up to {MOST_SPANS} ranges of tasks, or all that were cancelled", "tasks")
    states = [TaskState.CANCELLED] if cancelled else [TaskState.FAILED]
    chosen = [TaskState.FAILED, TaskState.CANCELLED] if tasks is not None else states
    own = read_own_amounts(mem, walltime)
    if own and own_campaign(conn, campaign_id, caller):
        first = find_redoable(conn, campaign_id, tasks, chosen)
        if first is not None:
            require_admitted(conn, settings, campaign_id, caller.user, first, own)
    replaced = replaced_inputs(conn, caller, campaign_id, inputs) if inputs else None
    return ResubmittedTasks(campaign_id, redo_tasks(conn, campaign_id, caller, tasks, chosen, own), replaced)


def _work_left(conn: "Connection", campaign_id: int) -> str:
    """For those who ask for more."""
    from cigri.flow.cancellations import count_remaining

    tasks, jobs = count_remaining(conn, campaign_id)
    counts = [f"{number} {state}" for state, number in tasks.items()]
    return f"tasks: {', '.join(counts) or 'none'}; jobs that have not ended: {jobs}"
