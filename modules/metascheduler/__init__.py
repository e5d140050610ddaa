"""Decides who may use what: test campaigns first, then by priority and policy, in offers of cores per cluster.

It also leads each campaign through its life: prologues before, epilogues after, and its end.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from operator import attrgetter

from sqlalchemy import Connection

from cigri.flow.affinities_and_targets import list_targets, list_user_affinities
from cigri.flow.campaigns import close_campaigns
from cigri.flow.ceilings import find_ceilings
from cigri.flow.dependencies import release_tasks
from cigri.flow.events import put_events
from cigri.flow.fair_share_usage import add_up_usage, list_usage
from cigri.flow.kill_requests import request_kills
from cigri.flow.offers import put_offers
from cigri.flow.pending_reasons import put_cuts
from cigri.flow.prologues_and_epilogues import put_epilogues, put_prologues
from cigri.flow.quarantines import list_quarantined_campaigns
from cigri.flow.views.cluster_demands import (
    ClusterDemand,
    has_open_campaigns,
    list_begun,
    list_cluster_demands,
    list_pending_campaigns,
)
from cigri.flow.views.job_destinations import list_without_queue
from cigri.flow.views.occupancy import WithdrawalRange, WithdrawnJob, list_occupancy, list_withdrawable_jobs
from cigri.flow.views.operating_hours import list_closed_by_hours
from cigri.flow.views.schedulable_clusters import SchedulableCluster, list_schedulable_clusters
from cigri.runtime.failure_isolation import FailureIsolation
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import Settings
from cigri.states import KillReason
from modules.metascheduler.fairness_withdrawals import POLICIES as RECALLING
from modules.metascheduler.fairness_withdrawals import (
    SharingResult,
    compute_shares,
    count_withdrawn,
    withdraw_for_fairness,
    withdrawal_events,
)
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import PolicyFacts
from modules.metascheduler.priority_withdrawals import have_priorities, only_by_priority, with_places
from modules.metascheduler.progressive_filling import share_clusters
from modules.metascheduler.ranking import rank_campaigns
from modules.metascheduler.remaining_capacity import RemainingCapacity
from modules.metascheduler.site_policy import SitePolicy

CAMPAIGN = attrgetter("campaign_id")
"""Of what there are very many, this takes a third of the time of an expression."""


def run_once(tools: PassContext) -> PassReport:
    """One offer per campaign and cluster that fit together; nothing while another metascheduler is at it."""
    with tools.database.read() as conn:
        if not has_open_campaigns(conn):
            return Counter()
    with tools.database.lock("cigri.metascheduler") as taken:
        if not taken:
            return Counter({"locked passes": 1})
        with tools.database.begin() as conn:
            released = release_tasks(conn)
        return _share_out(tools, released)


def _share_out(tools: PassContext, released: int) -> PassReport:
    with tools.database.begin() as conn:
        shut = {(share.campaign_id, share.cluster_id) for share in list_closed_by_hours(conn, tools.settings.hours)}
        barred = list_without_queue(conn)
        report = Counter(
            {
                "prologues": put_prologues(conn, shut | barred),
                "epilogues": put_epilogues(conn, shut),
                "campaigns ended": close_campaigns(conn),
            }
        )
        wants = list_cluster_demands(
            conn, tools.settings.budget.errors, tools.settings.jobs.same_cluster, tools.settings.policy.scouting
        )
        barred |= shut
        if barred:
            wants = [want for want in wants if (want.campaign_id, want.cluster_id) not in barred]
        if left_out := list_quarantined_campaigns(
            conn, ("campaign_schedulers",)
        ):  # what it were given nobody would use
            wants = [want for want in wants if want.campaign_id not in left_out]
        if not tools.settings.policy.replicas:
            wants = [want._replace(replicable=0) if want.replicable else want for want in wants if want.waits]
        isolation, policy = FailureIsolation(conn, "metascheduler"), SitePolicy(tools.settings.policy.order)
        shared = _share(conn, tools.settings, policy, isolation, wants)
        isolation.settle(set(map(CAMPAIGN, wants)))
        put_offers(conn, shared.stock.offers())
        put_cuts(conn, explain(shared.stock, count_withdrawn(shared)))
        report["jobs taken back"] = _take_back(conn, shared)
    policy.complain()
    report["tasks released"] = released
    report["offers"] = len(shared.stock.given)
    return +report


def _share(
    conn: Connection,
    settings: Settings,
    chosen: SitePolicy,
    isolation: FailureIsolation,
    wants: Sequence[ClusterDemand],
) -> SharingResult:
    policy = settings.policy
    usage = list_usage(conn, policy.half_life)
    add_up_usage(conn, policy.half_life)
    begun = list_begun(conn) if policy.first_jobs else {}
    facts = PolicyFacts(list_user_affinities(conn), list_targets(conn), usage, begun)
    ceilings, rooms = find_ceilings(conn, policy.tests), list_schedulable_clusters(conn)
    everybody = list_pending_campaigns(conn, [want for want in wants if want.waits], everybody=True)
    claims = [claim for claim in everybody if claim.clusters]

    def shared(rooms: Sequence[SchedulableCluster], wants: Sequence[ClusterDemand]) -> RemainingCapacity:
        everyone = set(map(CAMPAIGN, wants))

        def among(ids: Collection[int]) -> RemainingCapacity:
            wanted = wants if len(ids) == len(everyone) else [want for want in wants if want.campaign_id in ids]
            claimed = [claim for claim in claims if claim.campaign_id in ids]
            return share_clusters(rooms, wanted, claimed, policy, chosen.order, facts, ceilings)

        return isolation.of_all(everyone, among)

    is_by_share = policy.order in RECALLING
    if not policy.recall or not (is_by_share or have_priorities(everybody)):
        return SharingResult(shared(rooms, wants))

    def find(plan: Sequence[WithdrawalRange]) -> list[WithdrawnJob]:
        return list_withdrawable_jobs(conn, plan, settings.jobs.moves, policy.recall)

    holdings = list_occupancy(conn)
    in_line = with_places(everybody, holdings)
    standing = compute_shares(
        rank_campaigns(in_line, policy, chosen.order, facts._replace(begun={})), holdings, wants, rooms
    )
    if not is_by_share:
        standing = only_by_priority(standing, in_line)
    return withdraw_for_fairness(standing, holdings, rooms, wants, find, shared)


def _take_back(conn: Connection, shared: SharingResult) -> int:
    if not shared.recalled:
        return 0
    put_events(conn, list(withdrawal_events(shared)))
    return request_kills(conn, [job.job_id for job in shared.recalled], KillReason.FAIRNESS, "metascheduler")
