"""What keeps a campaign from more jobs on each of its clusters, and from each queue of the grid; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from cigri.api_models.campaigns import CampaignClusterView, CampaignView, RunStatus
from cigri.api_models.pending_reasons import ClusterExplanation, QueueExplanation, WaitingJobs
from cigri.eligibility.quotas import QuotaRule, as_owner
from cigri.formats.units import as_instant
from cigri.presentation.outages import describe_quarantine
from cigri.presentation.run_status import run_status
from cigri.requirements import QueueRejection, sentence
from cigri.states import PendingReasonCode

if TYPE_CHECKING:
    from cigri.flow.pending_reasons import PendingReasonView
    from cigri.flow.quarantines import QuarantineView
    from cigri.flow.views.core_holders import CoreHolder
    from cigri.flow.views.queue_verdicts import QueueVerdict
    from cigri.settings.sections import Settings

BRIEF = ("ok", "full", "on trial")  # states of a cycle, of which the metascheduler knows more
NAMES_OTHERS = "its description names other clusters"
JUDGED_LATER = "no rule of admission was asked about it: it can never take such jobs, or was declared later"
SENTENCES = {
    PendingReasonCode.WAITING_LIMIT: "{used} jobs of the grid are queued there (limit {most}: max_waiting)",
    PendingReasonCode.MAX_JOBS: "it has {used} jobs there (limit {most}: max_jobs)",
    PendingReasonCode.TRIAL: "tasks failed there, or ended too soon: one job at a time until one succeeds",
    PendingReasonCode.SCOUTS: "it is new there: {used} of {most} scouts are under way, and more follow as they succeed",
    PendingReasonCode.LIMIT: "{used} of {most} {name} are in use (`limits`)",
    PendingReasonCode.QUOTA_CORES: "the jobs of {owner} have {used} of {most} cores (quota)",
    PendingReasonCode.QUOTA_JOBS: "{owner} has {used} of {most} jobs (quota)",
    PendingReasonCode.QUOTA_CORE_HOURS: "the jobs of {owner} have had, or may use, {used} of {most} core-hours (quota)",
    PendingReasonCode.TESTS: "{used} test jobs of user {name} are there (limit {most}: policy.tests)",
    PendingReasonCode.QUEUE_LIMIT: (
        "its batch system takes no more of account {name}: {used} of the grid's jobs or arrays are there, {most} were "
        "taken at a time (event QUEUE_LIMIT)"
    ),
    PendingReasonCode.FULL: "all cores are busy",
    PendingReasonCode.ORDER: "other campaigns go first: they got {used} of the {most} jobs that could be sent",
    PendingReasonCode.RESERVED: "its {used} free cores are reserved for a larger job of campaign {name}",
    PendingReasonCode.STRESS: (
        "its front-end is under stress: {name}; {used} jobs are queued there (limit for now: {most})"
    ),
    PendingReasonCode.MAX_QUEUED: (
        "{used} jobs with the same request are queued there (limit {most}: n_max_queued_jobs)"
    ),
    PendingReasonCode.SHARE: (
        "it uses more cores than its fair share, {most}: {used} of its queued jobs there were withdrawn"
    ),
    PendingReasonCode.FORECAST: "the prediction algorithm allows {most} jobs per cycle",
}
QUOTAS = (PendingReasonCode.QUOTA_CORES, PendingReasonCode.QUOTA_JOBS, PendingReasonCode.QUOTA_CORE_HOURS)
QUEUED_AHEAD, QUEUE_KEPT = "; {jobs} queued ahead", " (limit {most})"
MOST_HOLDERS = 3
MAY_QUEUE = "; up to {most} jobs may be queued"
NOTHING_WAITS: Mapping[str, Sequence[WaitingJobs]] = MappingProxyType({})
MOST_WAITS = 3  # of what a batch system says, in a sentence


class CampaignSituation(NamedTuple):
    """All that is known of what keeps a campaign, or one bucket of it, from running.

    `is_anywhere`: the grid chooses its clusters. `standstill`: why nothing at all goes on, if so. `holders`: who has
    the cores of clusters that have none left. `waiting`, by cluster: what its batch system says of jobs that wait.
    """

    campaign: CampaignView
    parts: Sequence[CampaignClusterView]
    cuts: "Sequence[PendingReasonView]"
    queues: "Sequence[QueueVerdict]"
    now: datetime
    settings: "Settings"
    is_anywhere: bool
    standstill: str = ""
    quarantines: "Sequence[QuarantineView]" = ()
    holders: "Sequence[CoreHolder]" = ()
    waiting: Mapping[str, Sequence[WaitingJobs]] = NOTHING_WAITS


def explain_clusters(situation: CampaignSituation) -> list[ClusterExplanation]:
    """Each cluster of the grid with its queues, the campaign's own first."""
    by_cluster: dict[str, list[QueueExplanation]] = defaultdict(list)
    for queue in situation.queues:
        by_cluster[queue.cluster].append(_queue(queue, situation))
    used = {part.cluster for part in situation.parts}
    explained = [_used(situation, part) for part in situation.parts]
    others = [_unused(cluster, queues, situation) for cluster, queues in by_cluster.items() if cluster not in used]
    return [reason._replace(queues=by_cluster[reason.cluster]) for reason in [*explained, *others]]


def _used(situation: CampaignSituation, part: CampaignClusterView) -> ClusterExplanation:
    """A lasting obstacle, as an unreachable cluster, goes before what the last cycle met."""
    queues = [queue for queue in situation.queues if queue.cluster == part.cluster and queue.buckets]
    is_barred = bool(queues) and not any(queue.eligible for queue in queues)
    way = _lasting(situation, part) or run_status(
        situation.campaign, part._replace(is_barred=is_barred), situation.now, situation.settings
    )
    cut = next((cut for cut in situation.cuts if cut.cluster == part.cluster and way.state in BRIEF), None)
    is_full = cut.reason is PendingReasonCode.FULL if cut else way.state == "full"
    why = (cut_sentence(cut) if cut else way.explanation) + (_who_holds(situation, part.cluster) if is_full else "")
    waiting = list(situation.waiting.get(part.cluster, ()))
    return ClusterExplanation(
        cluster=part.cluster,
        state=way.state,
        is_used=True,
        to_launch=part.to_launch,
        waiting=part.waiting,
        running=part.running,
        since=cut.since if cut else None,
        why=_with_waiting(why, waiting),
        reason=cut.reason if cut else None,
        name=cut.name if cut else None,
        used=cut.used if cut else None,
        most=cut.most if cut else None,
        queues=[],
        waiting_jobs=waiting,
    )


def _with_waiting(why: str, waiting: Sequence[WaitingJobs]) -> str:
    """Jobs that wait in vain go before all else, those that wait for what passes come behind."""
    stuck = [_waiting_sentence(one) for one in waiting if one.is_stuck]
    passing = [_waiting_sentence(one) for one in waiting if not one.is_stuck]
    return "; ".join([*stuck[:MOST_WAITS], *filter(None, [why]), *passing[:MOST_WAITS]])


def _waiting_sentence(one: WaitingJobs) -> str:
    """As `12 jobs wait: jobs with a higher priority go first (Priority), the first is to start at ...`."""
    number = "1 job waits" if one.jobs == 1 else f"{one.jobs} jobs wait"
    in_vain = " in vain" if one.is_stuck else ""
    said = f"{one.meaning} ({one.said})" if one.meaning else one.said
    begins = f", the first is to start at {as_instant(one.starts_at)}" if one.starts_at else ""
    return f"{number}{in_vain}: {said}{begins}"


def cut_sentence(cut: "PendingReasonView") -> str:
    """Where a cluster is full, figures that are 0 are left out."""
    said = SENTENCES[cut.reason]
    if cut.reason is PendingReasonCode.FULL:
        said += QUEUED_AHEAD + QUEUE_KEPT * bool(cut.most) if cut.used else MAY_QUEUE * bool(cut.most)
    owner = as_owner(QuotaRule.parse(cut.name)) if cut.reason in QUOTAS else ""
    jobs = "1 job is" if cut.used == 1 else f"{cut.used} jobs are"
    return said.format(**cut._asdict(), owner=owner, jobs=jobs)


def _who_holds(situation: CampaignSituation, cluster: str) -> str:
    """The end of a sentence: `; cores in use: campaign 3 of alice 4, campaign 5 of bob 2 by suspended jobs`."""
    facts = []
    for one in situation.holders:
        counts = [str(one.running)] * bool(one.running) + [f"{one.suspended} by suspended jobs"] * bool(one.suspended)
        if one.cluster == cluster and counts:
            facts.append(f"campaign {one.campaign_id} of {one.user} {' and '.join(counts)}")
    more = [f"{len(facts) - MOST_HOLDERS} more campaigns"] if len(facts) > MOST_HOLDERS else []
    return f"; cores in use: {', '.join(facts[:MOST_HOLDERS] + more)}" if facts else ""


def _lasting(situation: CampaignSituation, part: CampaignClusterView) -> RunStatus | None:
    """What goes before all that is known of the campaign: where nothing runs, nobody has looked since."""
    if situation.standstill and situation.campaign.is_open:
        return RunStatus("nothing runs", situation.standstill)
    quarantines = [each for each in situation.quarantines if each.campaign_id or each.cluster == part.cluster]
    return RunStatus("left out", "; ".join(map(describe_quarantine, quarantines))) if quarantines else None


def _unused(cluster: str, queues: Sequence[QueueExplanation], situation: CampaignSituation) -> ClusterExplanation:
    """Where the grid chooses, what keeps it from this cluster is what keeps it from the first of its queues."""
    why = queues[0].why if situation.is_anywhere else NAMES_OTHERS
    return ClusterExplanation(cluster, "not asked for", False, 0, 0, 0, None, why, None, None, None, None, [], [])


def _why_not(queue: "QueueVerdict", situation: CampaignSituation) -> str:
    """What is missing; an eligible queue may still be one of a cluster that the campaign does not name."""
    if not queue.buckets:
        return "not checked: the campaign has ended, or is older than this check"
    if queue.code is not None:
        return sentence(QueueRejection(queue.code, queue.name, queue.wanted, queue.found))
    return "" if queue.is_used else JUDGED_LATER if situation.is_anywhere else NAMES_OTHERS


def _queue(queue: "QueueVerdict", situation: CampaignSituation) -> QueueExplanation:
    return QueueExplanation(
        place=queue.place,
        queue=queue.queue,
        is_eligible=queue.eligible > 0,
        is_used=queue.is_used,
        buckets=queue.buckets,
        eligible=queue.eligible,
        code=queue.code,
        name=queue.name,
        wanted=queue.wanted,
        found=queue.found,
        since=queue.since,
        why=_why_not(queue, situation),
    )
