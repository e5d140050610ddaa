"""Places in the queues of clusters for jobs that take much of a node, beside narrow ones; pure.

A batch system gathers the cores of a node for what waits in its queue, and for nothing else: where narrow jobs take
each core as it comes free, wide ones that wait here would hardly ever begin.
"""

from collections import defaultdict
from collections.abc import Sequence

from cigri.flow.views.cluster_demands import ClusterDemand
from modules.metascheduler.policies import RankedCampaign
from modules.metascheduler.remaining_capacity import RemainingCapacity


def queue_wide_jobs(stock: RemainingCapacity, line: Sequence[RankedCampaign]) -> None:
    """Give out wide jobs, the first in line first, until they wait for all cores of a cluster that narrow ones want."""
    wide: dict[int, dict[int, ClusterDemand]] = defaultdict(dict)
    left: dict[int, int] = {}
    for want in stock.parallel:
        cluster = stock.clusters.get(want.cluster_id)
        if cluster is not None and cluster.is_wide(want.width):
            wide[want.campaign_id][want.cluster_id] = want
            left[want.cluster_id] = left.get(want.cluster_id, cluster.total) - want.queued * want.width
    shared = _wanted_by_narrow(stock, left) if left else set()
    for turn in line if shared else ():
        for cluster_id in shared.intersection(wide[turn.campaign_id], turn.clusters):
            want = wide[turn.campaign_id][cluster_id]
            if (jobs := min(stock.may_wait(want), left[cluster_id] // want.width)) > 0:
                stock.allocate(want, jobs)
                left[cluster_id] -= jobs * want.width


def _wanted_by_narrow(stock: RemainingCapacity, clusters: dict[int, int]) -> set[int]:
    """Of these clusters, those that campaigns want for jobs which are not wide there."""
    wants = (want for wanted in stock.wants.values() for want in wanted.values() if want.cluster_id in clusters)
    return {want.cluster_id for want in wants if not stock.clusters[want.cluster_id].is_wide(want.width)}
