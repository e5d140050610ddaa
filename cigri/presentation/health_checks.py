"""What the doctor says of what was read; pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cigri.api_models.clusters import ClusterSnapshot
from cigri.api_models.health import CheckStatus, HealthCheck
from cigri.formats.units import SIZES, as_size
from cigri.formats.untrusted_text import exception_line
from cigri.lifecycle import CYCLE
from cigri.presentation.cluster_status import told_skew

if TYPE_CHECKING:
    from cigri.flow.module_passes import ModuleStatus
    from cigri.flow.processes import StalledProcess
    from cigri.flow.views.stuck_items import OpenEvent

ALMIGHTY_UNIT, PORTAL_UNIT = "cigri.service", "cigri-portal.service"
OLD_EVENT = timedelta(days=1)
SHOWN_EVENTS = 10
MOST_SKEW = 5  # seconds
LEAST_SPACE = SIZES["GB"]
PASS_SLACK = timedelta(
    seconds=60
)  # over the longest pass: idle passes are noted together, and cron comes by the minute


def check(rule: str, wrong: Sequence[str], verdict: CheckStatus = CheckStatus.ODD) -> HealthCheck:
    """`verdict` holds if anything is wrong."""
    return HealthCheck(rule, verdict if wrong else CheckStatus.GOOD, wrong)


def check_programs(faults: Sequence[str]) -> HealthCheck:
    return check("everything runs that should", faults)


def check_clusters(clusters: Sequence[ClusterSnapshot]) -> HealthCheck:
    failing = [
        f"{cluster.name}: {cluster.failures} visits in a row failed; `cigri cluster test {cluster.name}`"
        for cluster in clusters
        if cluster.failures
    ]
    return check("every cluster answers", failing)


def check_clocks(clusters: Sequence[ClusterSnapshot]) -> HealthCheck:
    """Batch systems and people read times of both."""
    wrong = [
        f"the clock of the front-end of {cluster.name} is {told_skew(skew)}: let NTP set it"
        for cluster in clusters
        if abs(skew := cluster.clock_skew or 0) > MOST_SKEW
    ]
    return check("the clocks of front-ends are right", wrong)


def check_stuck(stuck: Sequence[str]) -> HealthCheck:
    return check("nothing is stuck", stuck)


def check_space(free: int | None, directory: Path) -> HealthCheck:
    """`free`: bytes; None: it is not there."""
    little = [f"{as_size(free)} are left in {directory}"] if free is not None and free < LEAST_SPACE else []
    return check("there is space on the disk", little)


def check_events(events: "Sequence[OpenEvent]") -> HealthCheck:
    """Of events that have been open for longer than OLD_EVENT."""
    old = [f"{event.opened_at:%Y-%m-%d} {event.code} {event.subject}: {event.message}" for event in events]
    more = [f"and {len(old) - SHOWN_EVENTS} more: `gridevents`"] if len(old) > SHOWN_EVENTS else []
    return check("no event has been open for more than a day", old[:SHOWN_EVENTS] + more)


def check_promises(broken: Sequence[str]) -> HealthCheck:
    """Of promises of the tables that the janitor found broken."""
    return check("the promises of the tables held when the janitor looked", broken, CheckStatus.BROKEN)


def advise_start(unit: str, *, has_services: bool) -> str:
    """What an operator does about a program that does not run."""
    return f"run `systemctl start {unit}`" if has_services else "run `cigri up`"


def module_faults(
    standings: "Sequence[ModuleStatus]",
    now: datetime,
    longest_pass: float,
    *,
    is_cycled: bool,
    has_died: bool = False,
    has_services: bool = False,
    stalled: "Sequence[StalledProcess]" = (),
) -> list[str]:
    """One sentence for each module that should run and does not; `is_cycled`: an almighty lives.

    `has_services`: they are started as services of this host are.
    """
    oldest = now - timedelta(seconds=longest_pass) - PASS_SLACK
    by_name = {standing.name: standing for standing in standings}
    late = [name for name in CYCLE if name not in by_name or by_name[name].at < oldest]
    faults = [process.message for process in stalled]
    if has_died:
        faults.append(f"the almighty has died; {advise_start(ALMIGHTY_UNIT, has_services=has_services)}")
    elif len(late) == len(CYCLE) and not is_cycled:
        begin = advise_start(ALMIGHTY_UNIT, has_services=has_services)
        faults.append(f"nothing cycles the modules: {begin}, or `cigri almighty`, or cron")
        late = []
    faults += [f"module {name} has not run for more than {longest_pass + PASS_SLACK.seconds:.0f} s" for name in late]
    return faults + [f"module {each.name} failed: {exception_line(each.error)}" for each in standings if each.error]
