"""What the wrapper is told for Machine/Job Features: what was asked for, and what the operator declares."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

MACHINE_KEYS = frozenset(["hs06", "grace_secs", "jobslots", "shutdown_command"])
OWN_KEYS = frozenset(["hs06_job", "max_swap_bytes"])


@dataclass(frozen=True)
class FeatureSpec:
    """`cpu` cores and `mem` MB (0: not said) on each of `nodes` were asked for; a task takes `estimate` seconds.

    `declared` holds values by key, MACHINE_KEYS and OWN_KEYS; `grace` is the shortest notice of a shutdown, in seconds.
    `scratch`: bytes of scratch space where the free ones are not the limit.
    `readers`: a group that may read them, too; "": none. `address`: where the portal tells the same; "": nowhere.
    `with_draft`: the names of draft 0.99 beside those of HSF-TN-2016-02; `factor` is its cpufactor_lrms; None: nobody
    knows it.
    """

    cpu: int = 1
    nodes: int = 1
    mem: int = 0
    estimate: int | None = None
    grace: int = 60
    scratch: int | None = None
    declared: Mapping[str, str] = field(default_factory=dict)
    with_draft: bool = False
    factor: float | None = None
    readers: str = ""
    address: str = ""


def features_header(plan: FeatureSpec) -> str:
    """The settings that features.sh reads, in sh; it counts in thousandths where values are not whole."""
    unknown = plan.declared.keys() - MACHINE_KEYS - OWN_KEYS
    if unknown:
        raise ValueError(f"no feature that may be declared: {', '.join(sorted(unknown))}")
    hs06 = plan.declared.get("hs06")
    lines = [_declare(key, value) for key, value in plan.declared.items()]
    return f"""\
cigri_cpu={plan.cpu} cigri_hosts={plan.nodes} cigri_memory={plan.mem} cigri_grace={plan.grace}
cigri_estimate={"" if plan.estimate is None else plan.estimate} cigri_hs06={round(float(hs06) * 1000) if hs06 else ""}
cigri_readers={shlex.quote(plan.readers)} cigri_address={shlex.quote(plan.address)}
cigri_disk={"" if plan.scratch is None else plan.scratch}
cigri_draft={"1" if plan.with_draft else ""} cigri_factor={"" if plan.factor is None else round(plan.factor * 1000)}
cigri_declared() {{
    {"; ".join(lines) or ":"}
}}
"""


def _declare(key: str, value: str) -> str:
    place = "cigri_machine" if key in MACHINE_KEYS else "cigri_own"
    return f'[ -z "${place}" ] || printf \'%s\\n\' {shlex.quote(value)} >"${place}/{key}"'
