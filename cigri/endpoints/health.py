"""What is wrong with the grid."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from cigri.api_models.health import HealthReport, OutageReport
from cigri.endpoints import Access, read_endpoint, with_settings
from cigri.endpoints.parameters import about
from cigri.formats.id_ranges import read_ids
from cigri.identity.callers import Caller
from cigri.presentation.outages import describe_outages, describe_quarantine, describe_unreachable_cluster

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.settings.sections import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection


@read_endpoint("/checks", Access.OPERATOR)
@with_settings
def checks(conn: "Connection", _caller: Caller, settings: "Settings") -> HealthReport:
    """What `cigri doctor` finds at once: what is late, old or stuck, and the promises that the janitor found broken."""
    from cigri.flow.module_passes import list_module_standings
    from cigri.flow.views.clusters import list_cluster_standings
    from cigri.flow.views.heartbeats import read_heartbeats
    from cigri.flow.views.invariants import list_broken_promises
    from cigri.flow.views.stuck_items import list_old_events, list_stuck
    from cigri.installation import free_space, has_services
    from cigri.presentation import health_checks

    pulse, modules = read_heartbeats(conn), list_module_standings(conn)
    faults = health_checks.module_faults(
        modules,
        pulse.now,
        settings.almighty.deadline,
        is_cycled=pulse.has_almighty,
        has_services=has_services(settings),
        stalled=pulse.stalled,
    )
    clusters = list_cluster_standings(conn)
    made = [
        health_checks.check_promises(list_broken_promises(conn)),
        health_checks.check_programs(faults),
        health_checks.check_clusters(clusters),
        health_checks.check_clocks(clusters),
        health_checks.check_stuck(list_stuck(conn)),
        health_checks.check_space(free_space(settings.data_directory), settings.data_directory),
        health_checks.check_events(list_old_events(conn, health_checks.OLD_EVENT)),
    ]
    examined_at = next((module.at for module in modules if module.name == "janitor"), None)
    return HealthReport(pulse.now, made, examined_at)


# Whether the grid is at work.

MOST_SENTENCES = 10


@read_endpoint("/notices", Access.EVERYBODY)
def notices(conn: "Connection", _caller: Caller, *, ids: str = "", user: str = "") -> OutageReport:
    """What keeps campaigns from going on: those named (3,5-7), or all of a user, or all; those that are open."""
    from cigri.flow.views.campaigns import grid_time, list_open

    with about("ids"):
        chosen = read_ids(ids) if ids else None
    return OutageReport(grid_time(conn), list_notices(conn, list_open(conn, chosen, user=user)))


def list_notices(conn: "Connection", campaign_ids: Collection[int]) -> list[str]:
    """One sentence for each thing that keeps these campaigns from going on, nothing when all is well."""
    from cigri.flow.quarantines import list_quarantines
    from cigri.flow.views.heartbeats import list_unreachable_clusters, read_heartbeats

    if not campaign_ids:
        return []
    sentences = [
        *describe_outages(read_heartbeats(conn)),
        *map(describe_unreachable_cluster, list_unreachable_clusters(conn, campaign_ids)),
    ]
    sentences += map(describe_quarantine, list_quarantines(conn, campaign_ids))
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], f"and {more} more: `gridevents` lists them"] if more > 0 else sentences
