"""How campaigns came to where they are, as charts show it; everybody sees how campaigns stand."""

from typing import TYPE_CHECKING

from cigri.api_models.histories import (
    ClusterCoresSeries,
    CoresHistory,
    EndForecastPoint,
    ProgressHistory,
    ProgressPoint,
    ThroughputHistory,
)
from cigri.endpoints import Access, read_endpoint
from cigri.endpoints.campaigns import find_campaign
from cigri.endpoints.parameters import about
from cigri.errors import UsageError
from cigri.formats.id_ranges import read_ids
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_CAMPAIGNS = 100


@read_endpoint("/rates", Access.EVERYBODY, most_rows=MOST_CAMPAIGNS)
def rates(conn: "Connection", _caller: Caller, *, campaigns: str) -> list[ThroughputHistory]:
    """How fast these campaigns (3,5-7; 100 at most) did tasks in the last day of their life; without archived ones."""
    from cigri.flow.views.campaign_histories import list_rates

    with about("campaigns"):
        ids = read_ids(campaigns)
    if len(ids) > MOST_CAMPAIGNS:
        raise UsageError(f"these are {len(ids)} campaigns; name {MOST_CAMPAIGNS} at most", "campaigns")
    return list_rates(conn, ids)


@read_endpoint("/campaigns/{campaign_id}/progress", Access.EVERYBODY)
def progress(conn: "Connection", _caller: Caller, *, campaign_id: int) -> ProgressHistory:
    """How many tasks of a campaign were done and had failed over time, and when it was expected to end then."""
    from cigri.flow.views.campaign_histories import list_stood
    from cigri.flow.views.campaigns import grid_time

    found = find_campaign(conn, campaign_id)
    since, until = found.submitted_at, found.ended_at or grid_time(conn)
    stood = list_stood(conn, campaign_id, since, until)
    points = [ProgressPoint(then.at, then.done, then.failed) for then in stood]
    now = ProgressPoint(until, found.done, found.failed)
    told = [EndForecastPoint(then.at, then.eta, then.eta_low, then.eta_high) for then in stood if then.eta is not None]
    return ProgressHistory(found.total, [ProgressPoint(since, 0, 0), *points, now], told)


@read_endpoint("/campaigns/{campaign_id}/cores", Access.EVERYBODY)
def cores(conn: "Connection", _caller: Caller, *, campaign_id: int) -> CoresHistory:
    """How many cores a campaign's running jobs had on each cluster over time."""
    from cigri.flow.views.campaign_histories import list_cores_now, list_had_cores
    from cigri.flow.views.campaigns import grid_time

    found = find_campaign(conn, campaign_id)
    since, until = found.submitted_at, found.ended_at or grid_time(conn)
    had = list_had_cores(conn, campaign_id, since, until)
    now = list_cores_now(conn, campaign_id) if found.ended_at is None else {}
    moments = [since, *sorted({then.at for then in had}), until]
    places = {moment: place for place, moment in enumerate(moments)}
    used = {then.cluster for then in had if then.cores} | now.keys()
    by_cluster = {cluster: [0] * len(moments) for cluster in sorted(used)}
    for then in had:
        if then.cluster in used:
            by_cluster[then.cluster][places[then.at]] = then.cores
    for cluster, number in now.items():
        by_cluster[cluster][-1] = number
    return CoresHistory(moments, [ClusterCoresSeries(cluster, numbers) for cluster, numbers in by_cluster.items()])
