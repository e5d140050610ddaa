"""Why a campaign has no more jobs."""

from typing import TYPE_CHECKING

from cigri.api_models.pending_reasons import ClusterExplanation
from cigri.endpoints import Access, read_endpoint, with_settings
from cigri.endpoints.campaigns import find_campaign, list_shares
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import USUAL_ROWS, PageLimit
from cigri.endpoints.read_cache import instant_of
from cigri.errors import NotFound
from cigri.identity.callers import Caller
from cigri.states import PendingReasonCode

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.core_holders import CoreHolder
    from cigri.settings.sections import Settings

WHY_BY = KeyPagination("why", {"-is_used": int, "cluster": str})


@read_endpoint("/campaigns/{campaign_id}/why", Access.EVERYBODY_IN_PART, WHY_BY)
@with_settings
def why(
    conn: "Connection",
    caller: Caller,
    settings: "Settings",
    *,
    campaign_id: int,
    task: int | None = None,
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[ClusterExplanation]:
    """What keeps a campaign, or one task by its number, from more jobs on each cluster, and from each queue."""
    from cigri.flow.pending_reasons import list_cuts
    from cigri.flow.quarantines import list_quarantines
    from cigri.flow.views.descriptions import is_chosen_by_grid
    from cigri.flow.views.heartbeats import read_heartbeats
    from cigri.flow.views.queue_verdicts import list_whys
    from cigri.flow.waiting_reasons import list_waiting_reasons
    from cigri.presentation.outages import nothing_runs
    from cigri.presentation.pending_reasons import CampaignSituation, explain_clusters

    found = find_campaign(conn, campaign_id)
    parts, cuts = list_shares(conn, caller, found), list_cuts(conn, campaign_id)
    full = {part.cluster for part in parts if part.free == 0}
    full |= {cut.cluster for cut in cuts if cut.reason is PendingReasonCode.FULL}
    situation = CampaignSituation(
        campaign=found,
        parts=parts,
        cuts=cuts,
        queues=list_whys(conn, campaign_id, None if task is None else _bucket(conn, campaign_id, task)),
        now=instant_of(conn),
        settings=settings,
        is_anywhere=is_chosen_by_grid(conn, campaign_id),
        standstill=nothing_runs(read_heartbeats(conn)),
        quarantines=list_quarantines(conn, [campaign_id]),
        holders=_core_holders(conn, full),
        waiting=list_waiting_reasons(conn, campaign_id),
    )
    return page_of(explain_clusters(situation), WHY_BY, after, limit)


def _core_holders(conn: "Connection", clusters: set[str]) -> "list[CoreHolder]":
    """Who has the cores of these clusters; suspended jobs have none where others get theirs."""
    from cigri.endpoints.hold_effects import lends_cores
    from cigri.flow.views.core_holders import list_core_holders

    holders = list_core_holders(conn, clusters)
    lending = {
        cluster
        for cluster, config in {one.cluster: one.config for one in holders}.items()
        if lends_cores(cluster, config)
    }
    return [one._replace(suspended=0) if one.cluster in lending else one for one in holders]


def _bucket(conn: "Connection", campaign_id: int, task: int) -> int:
    from cigri.flow.views.queue_verdicts import find_bucket

    bucket = find_bucket(conn, campaign_id, task)
    if bucket is None:
        raise NotFound("no such task, or its campaign is archived; `gridstat -f CAMPAIGN` lists tasks")
    return bucket
