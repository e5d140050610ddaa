"""`gridstat --why`: what keeps a campaign from more jobs on each of its clusters, and from each queue of the grid."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cigri.cli.obstacles import Obstacle, obstacle
from cigri.cli.standstill import left_out
from cigri.cli.tables import print_table
from cigri.cli.wording import moment
from cigri.flow.cuts import CutView
from cigri.flow.quarantines import QuarantineView
from cigri.flow.views.campaigns import CampaignView, PartView
from cigri.flow.views.eligibility import QueueWhy
from cigri.requirements import Reject, sentence
from cigri.states import CutReason

QUEUES = ("Queue", "Eligible", "Since", "Why not")
REASON_TABLE = ("Cluster", "State", "To launch", "Waiting", "Running", "Since", "Why no more")
SHOWN_OF_PARTS = ("cluster", "state", "to_launch", "waiting", "running")
BRIEF = ("ok", "full", "on trial")  # states of a cycle, of which the metascheduler knows more
NO_REASON = {"reason": None}
NAMES_OTHERS = "its description names other clusters"
JUDGED_LATER = "no rule of admission was asked about it: it can never take such jobs, or was declared later"
SENTENCES = {
    CutReason.WAITING_LIMIT: "{used} jobs of the grid wait there, {most} may (max_waiting)",
    CutReason.MAX_JOBS: "it has {used} jobs there, {most} may be (max_jobs)",
    CutReason.TRIAL: "tasks failed there, or ended too soon: one job at a time until one succeeds",
    CutReason.SCOUTS: "it is new there: {used} of {most} scouts are under way, and more follow as they succeed",
    CutReason.LIMIT: "{used} of {most} {name} are in use (`limits`)",
    CutReason.USER: "the jobs of user {name} have {used} of {most} cores (quota)",
    CutReason.PROJECT: "the jobs of project {name} have {used} of {most} cores (quota)",
    CutReason.TESTS: "{used} jobs of tests of user {name} are there, {most} may be at a time (policy.tests)",
    CutReason.FULL: "no core is free for it, and {used} jobs wait behind those that can start, {most} are kept waiting",
    CutReason.ORDER: "others go first: they were given {used} of the {most} jobs that there was room for",
    CutReason.RESERVED: "its {used} free cores are kept, until there are enough, for a job of campaign {name}",
    CutReason.STRESS: "its front-end is under stress: {name}; {used} jobs wait there, {most} may for the time being",
    CutReason.MAX_QUEUED: "{used} jobs that ask for the same wait for cores there, {most} may (n_max_queued_jobs)",
    CutReason.SHARE: "it runs on more cores than its share, {most}: {used} of its waiting jobs there were taken back",
    CutReason.FORECAST: "the forecast lets {most} be sent in a cycle",
}


class Asked(NamedTuple):
    """All that is known of what keeps a campaign, or one bucket of it, from running.

    `is_anywhere`: the grid chooses its clusters. `standstill`: why nothing at all goes on, if so.
    """

    campaign: CampaignView
    parts: Sequence[PartView]
    cuts: Sequence[CutView]
    queues: Sequence[QueueWhy]
    now: datetime
    is_anywhere: bool
    standstill: str = ""
    quarantines: Sequence[QuarantineView] = ()


def print_reasons(asked: Asked, headerless: bool) -> None:
    found = [explained(asked, part) for part in asked.parts]
    lines = [
        (*(one[name] for name in SHOWN_OF_PARTS), moment(one["since"]) if one["since"] else None, one["why"])
        for one in found
    ]
    print_table(REASON_TABLE, lines, prose=("Why no more",), headerless=headerless)
    print()
    queues = [_queue_line(queue, asked) for queue in asked.queues]
    print_table(QUEUES, queues, prose=("Queue", "Why not"), headerless=headerless)


def plain_reasons(asked: Asked) -> list[dict[str, Any]]:
    """For programs: each cluster of the grid with its queues, the campaign's own first."""
    used = {part.cluster for part in asked.parts}
    others = dict.fromkeys(queue.cluster for queue in asked.queues if queue.cluster not in used)
    found = [explained(asked, part) for part in asked.parts] + [_unused(cluster, asked) for cluster in others]
    by_cluster: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for queue in asked.queues:
        by_cluster[queue.cluster].append(_plain_queue(queue, asked))
    return [{**one, "queues": by_cluster[one["cluster"]]} for one in found]


def explained(asked: Asked, part: PartView) -> dict[str, Any]:
    """A lasting obstacle, as an unreachable cluster, goes before what the last cycle met."""
    mine = [queue for queue in asked.queues if queue.cluster == part.cluster and queue.buckets]
    is_barred = bool(mine) and not any(queue.eligible for queue in mine)
    way = _lasting(asked, part) or obstacle(asked.campaign, part._replace(is_barred=is_barred), asked.now)
    cut = next((cut for cut in asked.cuts if cut.cluster == part.cluster and way.state in BRIEF), None)
    why = SENTENCES[cut.reason].format(**cut._asdict()) if cut else way.explanation
    about = {"reason": cut.reason, "name": cut.name, "used": cut.used, "most": cut.most} if cut else NO_REASON
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


def _lasting(asked: Asked, part: PartView) -> Obstacle | None:
    """What goes before all that is known of the campaign: where nothing runs, nobody has looked since."""
    if asked.standstill and asked.campaign.is_open:
        return Obstacle("nothing runs", asked.standstill)
    mine = [one for one in asked.quarantines if one.campaign_id or one.cluster == part.cluster]
    return Obstacle("left out", "; ".join(map(left_out, mine))) if mine else None


def _unused(cluster: str, asked: Asked) -> dict[str, Any]:
    """Where the grid chooses, what keeps it from this cluster is what keeps it from the first of its queues."""
    why = (
        next(_why_not(queue, asked) for queue in asked.queues if queue.cluster == cluster)
        if asked.is_anywhere
        else NAMES_OTHERS
    )
    counts = {"to_launch": 0, "waiting": 0, "running": 0}
    return {"cluster": cluster, "state": "not asked for", **counts, "since": None, "why": why, **NO_REASON}


def _queue_line(queue: QueueWhy, asked: Asked) -> tuple[object, ...]:
    return queue.place, _verdict(queue), moment(queue.since) if queue.since else None, _why_not(queue, asked)


def _verdict(queue: QueueWhy) -> str:
    if not queue.buckets:
        return "unknown"
    if 0 < queue.eligible < queue.buckets:
        return f"{queue.eligible} of {queue.buckets} buckets"
    return "yes" if queue.eligible else "no"


def _why_not(queue: QueueWhy, asked: Asked) -> str:
    """What is missing; an eligible queue may still be one of a cluster that the campaign does not name."""
    if not queue.buckets:
        return "nobody has looked: the campaign is from before this was done, or has ended"
    if queue.code is not None:
        return sentence(Reject(queue.code, queue.name, queue.wanted, queue.found))
    return "" if queue.is_used else JUDGED_LATER if asked.is_anywhere else NAMES_OTHERS


def _plain_queue(queue: QueueWhy, asked: Asked) -> dict[str, Any]:
    known = queue._asdict()
    about = {key: known[key] for key in ("queue", "is_used", "buckets", "eligible", "code", "name", "wanted", "found")}
    return {
        "place": queue.place,
        "is_eligible": queue.eligible > 0,
        **about,
        "since": queue.since,
        "why": _why_not(queue, asked),
    }
