"""Which campaign scheduler serves a campaign now: it moves from one to the next by itself."""

from cigri.states import CampaignType

USUAL_SCHEDULER = "workqueue"  # of campaigns that name none, where no setting says otherwise


def active_scheduler(
    type: CampaignType, named: str, default: str, *, has_done: bool, has_waiting: bool, is_replicated: bool
) -> str:
    """`named` in the description goes before `default`; `has_done`: a task of it has succeeded.

    Until then `test` tries all clusters; once nothing waits any more, `finalize` replicates what is left.
    """
    if type is CampaignType.TEST:
        return named or "test"
    if is_replicated and not has_waiting:
        return "finalize"
    if named:
        return named
    return default if has_done else "test"
