"""What becomes of the jobs of a campaign that is to stand still, in words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cigri.errors import ConfigError

if TYPE_CHECKING:
    from cigri.drivers import Driver, JobControl
    from cigri.flow.holds import HoldEffect


def describe_hold_effects(shares: "Iterable[HoldEffect]", waiting_only: bool) -> str:
    """The end of a sentence: how many jobs are being held, cluster by cluster where a batch system cannot do all."""
    shares = [share for share in shares if share.waiting + share.running]
    if not shares:  # whom nobody has to ask what they can: drivers take a third of a second to begin
        return ""
    facts = _halted(shares, waiting_only)
    keeping = [] if waiting_only else [share.cluster for share in shares if share.running and _may_keep_cores(share)]
    warning = f"; suspended jobs may keep their cores on {' and '.join(keeping)}: --waiting-only lets them run on"
    return f"{'; jobs: ' if facts else ''}{', '.join(facts)}{warning if keeping else ''}"


def _halted(shares: "Iterable[HoldEffect]", waiting_only: bool) -> list[str]:
    """What happens to the jobs there are, cluster by cluster where a batch system cannot do all."""
    from cigri.drivers import JobControl

    waiting = running = 0
    exceptions = []
    for share in shares:
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


def _may_keep_cores(share: "HoldEffect") -> bool:
    """Whether nobody else may get the cores of a suspended job."""
    from cigri.drivers import JobControl

    driver = _driver(share.cluster, share.config)
    return driver is None or (JobControl.SUSPEND in driver.controls and not driver.lends_cores)


def lends_cores(cluster: str, config: dict[str, Any]) -> bool:
    """Whether other jobs get the cores of those that are suspended on the cluster, as far as is known here."""
    driver = _driver(cluster, config)
    return driver is not None and driver.lends_cores


def _controls(share: "HoldEffect") -> "frozenset[JobControl]":
    """What the cluster's batch system can do; all, where its driver is not known on this host: the killer will tell."""
    from cigri.drivers import JobControl

    driver = _driver(share.cluster, share.config)
    return frozenset(JobControl) if driver is None else driver.controls


def _driver(cluster: str, config: dict[str, Any]) -> "Driver | None":
    """The driver of the cluster; None where it is not known on this host."""
    from cigri import drivers
    from cigri.settings.cluster_config import parse_config

    try:
        in_use = parse_config(cluster, config).in_use
        return drivers.load(in_use.driver, in_use.options)
    except ConfigError:
        return None
