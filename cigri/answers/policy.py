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
    """The most cores that the jobs of a user or a project may have at a time."""

    kind: str
    """Whose: user or project."""
    name: str
    """The name; *: each who has no quota of their own there."""
    cluster: str | None
    """On this cluster; null: on all together."""
    cores: int
    """The most that they may have."""
    used: int | None
    """Cores of their live jobs; null for *."""


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
