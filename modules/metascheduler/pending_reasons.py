"""What keeps each campaign from more jobs, once everybody has been served; pure."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cigri.flow.pending_reasons import NewPendingReason
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.formats.units import HOUR
from cigri.states import CampaignType, CeilingKind, PendingReasonCode
from modules.metascheduler.remaining_capacity import RemainingCapacity

ReasonFacts = tuple[PendingReasonCode, str, int, int]
NO_CUTS: Mapping[tuple[int, int], tuple[int, int]] = MappingProxyType({})


def explain(
    stock: RemainingCapacity, taken_back: Mapping[tuple[int, int], tuple[int, int]] = NO_CUTS
) -> Iterator[NewPendingReason]:
    """Of each campaign that has tasks left, on each cluster: the first limit in force, those of its own before all.

    `taken_back` by campaign and cluster: so many of its waiting jobs, as it has more than its share of so many cores.
    Most campaigns wait and have nothing anywhere: those of them that want the same are looked at once for all.
    """
    alike: dict[object, list[tuple[int, ReasonFacts]]] = {}
    for campaign_id, wants in stock.wants.items():
        if stock.is_served(campaign_id):
            continue
        kinds = tuple([want.equivalence_group for want in wants.values()])
        if 0 in kinds or stock.is_special(campaign_id):
            whys = list(_whys(stock, wants, taken_back))
        else:
            first = next(iter(wants.values()))
            asked = first.type, first.request_hashes, kinds
            if asked not in alike:
                alike[asked] = list(_whys(stock, wants, taken_back))
            whys = alike[asked]
        for cluster_id, why in whys:
            yield NewPendingReason(campaign_id, cluster_id, *why)


def _whys(
    stock: RemainingCapacity, wants: Mapping[int, ClusterDemand], taken_back: Mapping[tuple[int, int], tuple[int, int]]
) -> Iterator[tuple[int, ReasonFacts]]:
    """Of one campaign, by cluster: what keeps it from more there; where nothing does, nothing."""
    for cluster_id, want in wants.items():
        if (taken := taken_back.get((want.campaign_id, cluster_id))) is not None:
            yield cluster_id, (PendingReasonCode.SHARE, "", *taken)
        elif cluster_id in stock.clusters:
            why = _by_rights(stock, want) or _by_cluster(stock, want)
            if why is not None:
                yield cluster_id, why


def _by_rights(stock: RemainingCapacity, want: ClusterDemand) -> ReasonFacts | None:
    live = want.live + stock.given_to(want)
    if want.is_on_probation and live >= 1:
        return PendingReasonCode.TRIAL, "", live, 1
    if live and want.type is not CampaignType.TEST:  # each of these limits is at least one job
        if want.max_jobs is not None and live >= want.max_jobs:
            return PendingReasonCode.MAX_JOBS, "", live, want.max_jobs
        if live >= (most := stock.most_scouts(want)):
            return PendingReasonCode.SCOUTS, "", live, most
    lowest = stock.ceilings.lowest((want.campaign_id, want.cluster_id))
    if lowest is not None and lowest[0] == 0:
        ceiling = lowest[1]
        most, unit = stock.ceilings.most(ceiling), HOUR if ceiling.kind is CeilingKind.QUOTA_CORE_HOURS else 1
        used = most - stock.ceilings.left(ceiling)
        return PendingReasonCode(ceiling.kind.value), ceiling.name, round(used / unit), round(most / unit)
    return None


def _by_cluster(stock: RemainingCapacity, want: ClusterDemand) -> ReasonFacts | None:
    cluster = stock.clusters[want.cluster_id]
    if cluster.queue_places <= 0 and cluster.pace < 1.0:
        return PendingReasonCode.STRESS, cluster.stress, cluster.max_waiting - cluster.queue_places, cluster.max_waiting
    if cluster.queue_places <= 0:
        return PendingReasonCode.WAITING_LIMIT, "", cluster.max_waiting - cluster.queue_places, cluster.max_waiting
    if want.type is CampaignType.TEST:
        return None
    holder = stock.reserved.get(want.cluster_id)
    if holder is not None:
        return PendingReasonCode.RESERVED, str(holder), int(cluster.idle), want.width
    given = stock.given_to(want)
    if cluster.room(want, given) > 0:
        is_queue_full = stock.room_in_queue(want) <= 0
        waiting, most = cluster.behind_of(want.request_hashes), cluster.most_behind(want.request_hashes)
        return (PendingReasonCode.MAX_QUEUED, "", waiting, most) if is_queue_full else None
    if want.send_now is not None:
        return PendingReasonCode.FORECAST, "", given, want.send_now
    others = cluster.given - given
    if others > 0:
        return PendingReasonCode.ORDER, "", others, cluster.given
    return (
        PendingReasonCode.FULL,
        "",
        cluster.queued_behind,
        cluster.keep if want.keep_waiting is None else want.keep_waiting,
    )
