"""What is wrong with the grid."""

from typing import TYPE_CHECKING

from cigri.api_models.health import Checkup
from cigri.endpoints import May, reads
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@reads("/checks", May.OPERATOR)
def checks(conn: "Connection", _caller: Caller) -> Checkup:
    """What `cigri doctor` finds at once: what is late, old or stuck, and the promises that the janitor found broken."""
    from cigri.flow.module_passes import list_module_standings
    from cigri.flow.views.clusters import list_cluster_standings
    from cigri.flow.views.heartbeats import find_pulse
    from cigri.flow.views.invariants import list_broken_promises
    from cigri.flow.views.stuck_items import list_old_events, list_stuck
    from cigri.installation import free_space
    from cigri.presentation import health_checks
    from cigri.settings.loading import load

    settings, pulse, modules = load(), find_pulse(conn), list_module_standings(conn)
    faults = health_checks.module_faults(modules, pulse.now, settings.almighty.deadline, is_cycled=pulse.has_almighty)
    made = [
        health_checks.check_promises(list_broken_promises(conn)),
        health_checks.check_programs(faults),
        health_checks.check_clusters(list_cluster_standings(conn)),
        health_checks.check_stuck(list_stuck(conn)),
        health_checks.check_space(free_space(settings.data_directory), settings.data_directory),
        health_checks.check_events(list_old_events(conn, health_checks.OLD_EVENT)),
    ]
    examined_at = next((module.at for module in modules if module.name == "janitor"), None)
    return Checkup(pulse.now, made, examined_at)
