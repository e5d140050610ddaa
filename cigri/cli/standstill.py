"""What users are told when something that should be at work for them is not."""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from cigri.cli.command import complain
from cigri.cli.wording import gist, moment
from cigri.flow.quarantines import QuarantineView, list_quarantines
from cigri.flow.views.pulse import AwayCluster, Pulse, find_pulse, list_away
from cigri.program.cycle import CYCLE

if TYPE_CHECKING:
    from sqlalchemy import Connection

LATE_PASS = timedelta(seconds=180)  # a pass may take two minutes, and cron comes by the minute
MOST_REASONS = 10  # sentences


def tell(conn: "Connection", campaign_ids: Collection[int]) -> None:
    """Complain, on standard error, of all that keeps these campaigns from going on."""
    for sentence in notices(conn, campaign_ids):
        complain(sentence)


def notices(conn: "Connection", campaign_ids: Collection[int]) -> list[str]:
    """One sentence for each thing, nothing when all is well."""
    if not campaign_ids:
        return []
    found = [*standstills(find_pulse(conn)), *map(_away, list_away(conn, campaign_ids))]
    found += map(left_out, list_quarantines(conn, campaign_ids))
    return (
        found
        if len(found) <= MOST_REASONS
        else [*found[:MOST_REASONS], f"and {len(found) - MOST_REASONS} more: `gridevents` lists them"]
    )


def standstills(pulse: Pulse) -> list[str]:
    """Of the whole grid, as far as the table of modules tells: it does not know who has started them; pure."""
    if found := nothing_runs(pulse):
        return [found]
    return list(_of_modules(pulse))


def nothing_runs(pulse: Pulse) -> str:
    """Empty: something does. Modules may be cycled by an almighty, by cron or by hand, and any of them is enough."""
    passes = [module for module in pulse.modules if module.name in CYCLE]
    if not passes:
        return "no module has run yet, and nothing is sent before: `cigri up`, `cigri almighty` or cron start them"
    last = max(passes, key=lambda module: module.at)
    if last.by_almighty and not pulse.has_almighty:
        return f"the almighty does not run, nor has any module since {moment(last.at)}: nothing is sent until it does"
    if pulse.now - last.at > LATE_PASS:
        return f"no module has ended a pass since {moment(last.at)}: nothing is sent until they run again"
    return ""


def left_out(quarantine: QuarantineView) -> str:
    """What a module does not do for now, and why."""
    what = f"campaign {quarantine.campaign_id}" if quarantine.campaign_id else f"cluster {quarantine.cluster}"
    when = f"since {moment(quarantine.since)}, tried again at {moment(quarantine.until)}"
    return f"{what} is left out by module {quarantine.module}, {when}: {quarantine.error}"


def _of_modules(pulse: Pulse) -> Iterator[str]:
    known = {module.name: module for module in pulse.modules}
    for name in CYCLE:
        module = known.get(name)
        if module is None:
            yield f"module {name} has not run yet"
        elif module.failing_since is not None:
            yield f"module {name} fails since {moment(module.failing_since)}: {gist(module.error or '')}"
        elif pulse.now - module.at > LATE_PASS:
            yield f"module {name} has ended no pass since {moment(module.at)}"


def _away(cluster: AwayCluster) -> str:
    since = f" since {moment(cluster.since)}" if cluster.since else ""
    why: Sequence[str] = (cluster.why or "").splitlines()
    reason = f": {why[0]}" if why else ""
    return f"cluster {cluster.name} is set aside{since}, tried again at {moment(cluster.until)}{reason}"
