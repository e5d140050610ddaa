"""What becomes of the jobs of a campaign that is to stand still, in words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cigri.errors import ConfigError

if TYPE_CHECKING:
    from cigri.drivers import JobControl
    from cigri.flow.holds import HoldEffect


def describe_hold_effects(shares: "Iterable[HoldEffect]", waiting_only: bool) -> str:
    """The end of a sentence: how many jobs are being held, cluster by cluster where a batch system cannot do all."""
    shares = list(shares)
    facts = _halted(shares, waiting_only)
    keeping = [] if waiting_only else [share.cluster for share in shares if share.running and _keeps_cores(share)]
    warning = f"; suspended jobs keep their cores on {' and '.join(keeping)}, --waiting-only would let them run on"
    return f"{'; jobs: ' if facts else ''}{', '.join(facts)}{warning if keeping else ''}"


def _halted(shares: "Iterable[HoldEffect]", waiting_only: bool) -> list[str]:
    """What happens to the jobs there are, cluster by cluster where a batch system cannot do all."""
    from cigri.drivers import JobControl

    waiting = running = 0
    exceptions = []
    for share in shares:
        if not share.waiting + share.running:
            continue
        controls = _controls(share)
        if JobControl.HOLD in controls:
            waiting += share.waiting
        elif share.waiting:
            exceptions.append(
                f"{share.waiting} waiting on {share.cluster}, which cannot hold jobs, start in their turn"
            )
        if waiting_only or not share.running:
            continue
        if JobControl.SUSPEND in controls:
            running += share.running
        else:
            exceptions.append(f"{share.running} running on {share.cluster}, which cannot suspend jobs, run on")
    facts = [f"{waiting} waiting are being held"] if waiting else []
    facts += [f"{running} running are being suspended"] if running else []
    return facts + exceptions


def _keeps_cores(share: "HoldEffect") -> bool:
    """On the host's own cluster nobody else gets the cores of a suspended job."""
    from cigri.settings.cluster_config import parse_config

    try:
        return parse_config(share.cluster, share.config).in_use.driver == "local"
    except ConfigError:
        return False


def _controls(share: "HoldEffect") -> "frozenset[JobControl]":
    """What the cluster's batch system can do; all, where its driver is not known on this host: the killer will tell."""
    from cigri import drivers
    from cigri.drivers import JobControl
    from cigri.settings.cluster_config import parse_config

    try:
        config = parse_config(share.cluster, share.config).in_use
        return drivers.load(config.driver, config.options).controls
    except ConfigError:
        return frozenset(JobControl)
