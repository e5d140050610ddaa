"""What is wrong with the grid."""

from typing import TYPE_CHECKING

from cigri.answers.checks import Checkup
from cigri.endpoints import May, reads
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@reads("/checks", May.OPERATOR)
def checks(conn: "Connection", _caller: Caller) -> Checkup:
    """What `cigri doctor` finds at once: what is late, old or stuck, and the promises that the janitor found broken."""
    from cigri.flow.passes import list_module_standings
    from cigri.flow.views.clusters import list_cluster_standings
    from cigri.flow.views.invariants import list_broken_promises
    from cigri.flow.views.pulse import find_pulse
    from cigri.flow.views.stuck import list_old_events, list_stuck
    from cigri.installation import free_space
    from cigri.rules import checkups
    from cigri.settings.loading import load

    settings, pulse, modules = load(), find_pulse(conn), list_module_standings(conn)
    faults = checkups.module_faults(modules, pulse.now, settings.almighty.deadline, is_cycled=pulse.has_almighty)
    made = [
        checkups.check_promises(list_broken_promises(conn)),
        checkups.check_programs(faults),
        checkups.check_clusters(list_cluster_standings(conn)),
        checkups.check_stuck(list_stuck(conn)),
        checkups.check_space(free_space(settings.data_directory), settings.data_directory),
        checkups.check_events(list_old_events(conn, checkups.OLD_EVENT)),
    ]
    examined_at = next((module.at for module in modules if module.name == "janitor"), None)
    return Checkup(pulse.now, made, examined_at)
