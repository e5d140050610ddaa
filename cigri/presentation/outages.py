"""What is told when something that should be at work for a campaign is not; pure."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from cigri.formats.units import as_instant
from cigri.formats.untrusted_text import exception_line
from cigri.lifecycle import CYCLE

if TYPE_CHECKING:
    from cigri.flow.quarantines import QuarantineView
    from cigri.flow.views.heartbeats import GridHeartbeat, UnreachableCluster

LATE_PASS = timedelta(seconds=180)  # a pass may take two minutes, and cron comes by the minute


def describe_outages(pulse: "GridHeartbeat") -> list[str]:
    """Of the whole grid, as far as the table of modules tells: it does not know who has started them; pure."""
    stalled = [process.sentence for process in pulse.stalled]
    if sentence := nothing_runs(pulse):
        return [*stalled, sentence]
    return [*stalled, *_of_modules(pulse)]


def nothing_runs(pulse: "GridHeartbeat") -> str:
    """Empty: something does. Modules may be cycled by an almighty, by cron or by hand, and any of them is enough."""
    passes = [module for module in pulse.modules if module.name in CYCLE]
    if not passes:
        return "no module has run yet, and nothing is sent before: `cigri status` tells whoever runs this grid more"
    last = max(passes, key=lambda module: module.at)
    since = as_instant(last.at)
    if last.by_almighty and not pulse.has_almighty:
        if any(process.has_lock for process in pulse.stalled):
            return f"the almighty has stalled, and no module has run since {since}: nothing is sent until it goes on"
        return f"the scheduler (the almighty) has been down since {since}; start it with `cigri up`, or as a service"
    if pulse.now - last.at > LATE_PASS:
        return f"no module has ended a pass since {since}: nothing is sent until they run again"
    return ""


def describe_quarantine(quarantine: "QuarantineView") -> str:
    """What a module does not do for now, and why."""
    subject = f"campaign {quarantine.campaign_id}" if quarantine.campaign_id else f"cluster {quarantine.cluster}"
    when = f"since {as_instant(quarantine.since)}, tried again at {as_instant(quarantine.until)}"
    return f"{subject} is left out by module {quarantine.module}, {when}: {quarantine.error}"


def _of_modules(pulse: "GridHeartbeat") -> Iterator[str]:
    standings = {module.name: module for module in pulse.modules}
    for name in CYCLE:
        module = standings.get(name)
        if module is None:
            yield f"module {name} has not run yet"
        elif module.failing_since is not None:
            yield f"module {name} fails since {as_instant(module.failing_since)}: {exception_line(module.error or '')}"
        elif pulse.now - module.at > LATE_PASS:
            yield f"module {name} has ended no pass since {as_instant(module.at)}"


def describe_unreachable_cluster(cluster: "UnreachableCluster") -> str:
    """Since when it does not answer, what it said, and when it is visited again."""
    since = f" since {as_instant(cluster.since)}" if cluster.since else ""
    why: Sequence[str] = (cluster.why or "").splitlines()
    reason = f": {why[0]}" if why else ""
    return f"cluster {cluster.name} is set aside{since}, tried again at {as_instant(cluster.until)}{reason}"
