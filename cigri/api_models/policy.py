"""What operators have declared of who may have how much, and who goes first."""

from typing import NamedTuple


class LimitView(NamedTuple):
    """What all jobs together may use of something, such as licences."""

    name: str
    """As campaigns name it in `limits`."""
    capacity: int
    """Tokens that there are of it."""
    used: int
    """Tokens that live jobs hold."""


class QuotaView(NamedTuple):
    """The most cores, jobs and core-hours that jobs may have, of those that a rule counts."""

    rule: str
    """QUEUE,PROJECT,TYPE,USER: names, * (all together) or / (each); of types * is all but best-effort."""
    cluster: str | None
    """On this cluster; null: on all together."""
    cores: int | None
    """The most cores of live jobs; null: any number."""
    used_cores: int | None
    """Cores of their live jobs; null where the rule is for each."""
    jobs: int | None
    """The most live jobs; null: any number."""
    used_jobs: int | None
    """Their live jobs; null where the rule is for each."""
    core_hours: float | None
    """The most core-hours within `days`; null: any number."""
    used_core_hours: float | None
    """Those that ended jobs used in these days, and that live ones may; null where the rule is for each or has none."""
    days: int | None
    """Days, today with them, in which core-hours count."""


class TargetView(NamedTuple):
    """What is due to a user or a project under the policy `fairshare`."""

    kind: str
    """Whose: user or project."""
    name: str
    """The name."""
    share: float
    """Beside others, who have 1 without a target."""


class AffinityView(NamedTuple):
    """Under the policy `affinity` the user goes first on the cluster."""

    user: str
    """The user."""
    cluster: str
    """The cluster."""
