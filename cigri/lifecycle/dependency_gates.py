"""What becomes of a campaign that waits for others, and what its user is told of it; pure."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from cigri.api_models.dependencies import BlockedTasks, DependencyView
from cigri.formats.units import as_instant
from cigri.states import AfterWhen

ENDS = {
    AfterWhen.SUCCESS: "well",
    AfterWhen.END: "in some way",
    AfterWhen.FAILURE: "with failures",
}


class RequiredCampaignState(NamedTuple):
    """How a required campaign stands: is nothing left of it to be done or looked at, and how many tasks are not done.

    `is_cancelled`: its user gave it up as a whole.
    """

    is_over: bool
    is_cancelled: bool
    not_done: int
    total: int


class GateVerdict(StrEnum):
    WAITS = "waits"
    MET = "met"
    BROKEN = "broken"


def ended_well(ended: RequiredCampaignState, tolerated: int, tolerance: float) -> bool:
    """Are no more tasks not done than are tolerated, by number or by share? One that was cancelled did not end well."""
    return not ended.is_cancelled and ended.not_done <= max(tolerated, int(tolerance * ended.total + 1e-9))


def judge(
    ended: RequiredCampaignState, condition: AfterWhen, tolerated: int = 0, tolerance: float = 0.0
) -> GateVerdict:
    """Whether a campaign may begin that waits for all of another; before that one is over nothing is known of it."""
    if not ended.is_over:
        return GateVerdict.WAITS
    is_well = ended_well(ended, tolerated, tolerance)
    is_met = condition is AfterWhen.END or is_well is (condition is AfterWhen.SUCCESS)
    return GateVerdict.MET if is_met else GateVerdict.BROKEN


def broken_promise(
    campaign_id: int, required_id: int, ended: RequiredCampaignState, condition: AfterWhen, *, is_same: bool
) -> str:
    """The message of the event, with the commands that help."""
    if ended.is_cancelled:
        how = "was cancelled"
    elif ended.not_done:
        how = f"has ended, {ended.not_done:,} of its {ended.total:,} tasks not done"
    else:
        how = "has ended without a failure"
    waiting = "tasks of the same numbers wait on" if is_same else f"it was to end {ENDS[condition]} first"
    redo = f"`gridsub --resubmit {required_id}` does its failed tasks again, "
    redo = redo if condition is AfterWhen.SUCCESS and not ended.is_cancelled else ""
    anyway = f"`gridresume {campaign_id} --regardless` waits no longer, `griddel {campaign_id}` gives this one up"
    return f"campaign {required_id} {how}: {waiting}; {redo}{anyway}"


def sentences(after: Sequence[DependencyView], waiting: BlockedTasks) -> list[str]:
    """One for each campaign that is still waited for: `37 of 1,000 wait for campaign 12, which ends at 15:38`."""
    tasks = f"{waiting.blocked:,} of {waiting.total:,} {'waits' if waiting.blocked == 1 else 'wait'} for"
    return [f"{tasks} {_what(one)}" for one in after if one.state in ("waits", "failed")] if waiting.blocked else []


def _what(one: DependencyView) -> str:
    named = f"campaign {one.campaign_id}"
    if one.tasks == "same":
        named = f"the same of {named}"
    if one.state == "failed":
        return f"{named}, which has ended otherwise: `gridstat -e` says what helps"
    if one.is_held:
        return f"{named}, which is held"
    if not one.has_begun:
        return f"{named}, which has not begun"
    if not one.left:
        return f"{named}, whose tasks are over: what is left is an epilogue, outputs, or results that are doubted"
    return f"{named}, {f'which ends at {as_instant(one.ends_at)}' if one.ends_at else 'whose end is not known yet'}"
