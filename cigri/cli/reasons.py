"""`gridstat --why`: what keeps a campaign from more jobs on each of its clusters, with the figures."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cigri.cli.command import print_table
from cigri.cli.obstacles import obstacle
from cigri.cli.wording import moment
from cigri.flow.grid_to_user import CampaignView, PartView
from cigri.flow.metascheduler_to_user import CutView
from cigri.states import CutReason

COLUMNS = ("Cluster", "State", "To launch", "Waiting", "Running", "Since", "Why no more")
SHOWN = ("cluster", "state", "to_launch", "waiting", "running")
BRIEF = ("ok", "full", "on trial")  # states of a cycle, of which the metascheduler knows more
SENTENCES = {
    CutReason.WAITING_LIMIT: "{used} jobs of the grid wait there, {most} may (max_waiting)",
    CutReason.MAX_JOBS: "it has {used} jobs there, {most} may be (max_jobs)",
    CutReason.TRIAL: "tasks failed there, or ended too soon: one job at a time until one succeeds",
    CutReason.SCOUTS: "it is new there: {used} of {most} scouts are under way, and more follow as they succeed",
    CutReason.LIMIT: "{used} of {most} {name} are in use (`limits`)",
    CutReason.USER: "the jobs of user {name} have {used} of {most} cores (quota)",
    CutReason.PROJECT: "the jobs of project {name} have {used} of {most} cores (quota)",
    CutReason.FULL: "no core is free for it, and {used} jobs wait behind those that can start, {most} are kept waiting",
    CutReason.ORDER: "others go first: they were given {used} of the {most} jobs that there was room for",
    CutReason.RESERVED: "its {used} free cores are kept, until there are enough, for a job of campaign {name}",
    CutReason.STRESS: "its front-end is under stress: {name}; {used} jobs wait there, {most} may for the time being",
    CutReason.MAX_QUEUED: "{used} of its jobs wait for cores there, {most} may (n_max_queued_jobs)",
    CutReason.SHARE: "it runs on more cores than its share, {most}: {used} of its waiting jobs there were taken back",
    CutReason.FORECAST: "the forecast lets {most} be sent in a cycle",
}


def print_reasons(
    campaign: CampaignView, parts: Sequence[PartView], cuts: Sequence[CutView], now: datetime, headerless: bool
) -> None:
    found = [explained(campaign, part, cuts, now) for part in parts]
    lines = [
        (*(one[name] for name in SHOWN), moment(one["since"]) if one["since"] else None, one["why"]) for one in found
    ]
    print_table(COLUMNS, lines, headerless=headerless)


def explained(campaign: CampaignView, part: PartView, cuts: Sequence[CutView], now: datetime) -> dict[str, Any]:
    """A lasting obstacle, as an unreachable cluster, goes before what the last cycle met."""
    way = obstacle(campaign, part, now)
    mine = (cut for cut in cuts if cut.cluster == part.cluster and way.state in BRIEF)
    cut = next(mine, None)
    why = SENTENCES[cut.reason].format(**cut._asdict()) if cut else way.explanation
    about = {"reason": cut.reason, "name": cut.name, "used": cut.used, "most": cut.most} if cut else {"reason": None}
    return {
        "cluster": part.cluster,
        "state": way.state,
        "to_launch": part.to_launch,
        "waiting": part.waiting,
        "running": part.running,
        "since": cut.since if cut else None,
        "why": why,
        **about,
    }
