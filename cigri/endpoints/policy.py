"""Who may have how much of the grid, and who goes first: what operators declare."""

from math import isfinite
from typing import TYPE_CHECKING

from cigri.answers.actions import Done
from cigri.answers.policy import AffinityView, LimitView, QuotaView, TargetView
from cigri.endpoints import May, changes, reads
from cigri.errors import UsageError
from cigri.rules.callers import Caller, Scope
from cigri.states import SubjectKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

LARGEST_SHARE = 1e6
LARGEST_PRIORITY = 1_000_000


@reads("/limits", May.EVERYBODY)
def limits(conn: "Connection", _caller: Caller) -> list[LimitView]:
    """Those that all jobs together are under, by name."""
    from cigri.flow.ceilings import list_limits

    return list_limits(conn)


@changes("/limits", May.OPERATOR, Scope.OPERATE)
def set_limit(conn: "Connection", _caller: Caller, *, name: str, capacity: int) -> Done:
    """So many tokens of it for all jobs together, from now on."""
    from cigri.estimates.plausible import LARGEST_INTEGER
    from cigri.flow.ceilings import put_limit
    from cigri.jdl.kinds_of_values import LIMIT_NAME

    if not LIMIT_NAME.fullmatch(name) or not 0 <= capacity <= LARGEST_INTEGER:
        raise UsageError("a name has letters, digits, '.', '_', '-'; a capacity is a whole number, 0 or more")
    put_limit(conn, name, capacity)
    return Done(f"All jobs together may use {capacity} of {name}")


@changes("/limits/remove", May.OPERATOR, Scope.OPERATE)
def remove_limit(conn: "Connection", _caller: Caller, *, name: str) -> Done:
    """Jobs may use any number of it."""
    from cigri.flow import ceilings

    ceilings.remove_limit(conn, name)
    return Done(f"There is no limit {name} any more")


@reads("/quotas", May.OPERATOR)
def quotas(conn: "Connection", _caller: Caller) -> list[QuotaView]:
    """All that are declared, and what is used of them."""
    from cigri.flow.ceilings import list_quotas

    return list_quotas(conn)


@changes("/quotas", May.OPERATOR, Scope.OPERATE)
def set_quota(
    conn: "Connection", _caller: Caller, *, kind: SubjectKind, name: str, cores: int, cluster: str = ""
) -> Done:
    """So many cores at a time, on one cluster or on all together; the name * is everybody who has no other."""
    from cigri.estimates.plausible import LARGEST_INTEGER
    from cigri.flow.ceilings import put_quota
    from cigri.flow.precedence import Subject

    if not 0 <= cores <= LARGEST_INTEGER:
        raise UsageError("a quota is a whole number of cores, 0 or more")
    put_quota(conn, Subject(kind, name), cores, cluster)
    return Done(f"{kind.capitalize()} {name} may have {cores} cores{_on(cluster)}")


@changes("/quotas/remove", May.OPERATOR, Scope.OPERATE)
def remove_quota(conn: "Connection", _caller: Caller, *, kind: SubjectKind, name: str, cluster: str = "") -> Done:
    """That one is gone; others stay."""
    from cigri.flow import ceilings
    from cigri.flow.precedence import Subject

    ceilings.remove_quota(conn, Subject(kind, name), cluster)
    return Done(f"{kind.capitalize()} {name} has no quota{_on(cluster)} any more")


@reads("/targets", May.OPERATOR)
def targets(conn: "Connection", _caller: Caller) -> list[TargetView]:
    """All that are declared; whoever is missing has 1."""
    from cigri.flow.precedence import list_targets

    return [TargetView(*subject, share) for subject, share in list_targets(conn).items()]


@changes("/targets", May.OPERATOR, Scope.OPERATE)
def set_target(conn: "Connection", _caller: Caller, *, kind: SubjectKind, name: str, share: float) -> Done:
    """What is due to a user or a project beside others, under the policy fairshare."""
    from cigri.flow.precedence import Subject, put_target

    if not (isfinite(share) and 0 < share <= LARGEST_SHARE):
        raise UsageError(f"a share is a number above 0, at most {LARGEST_SHARE:.0f}; 2 is twice as much as 1")
    put_target(conn, Subject(kind, name), share)
    return Done(f"{name} has the target {share:g}")


@changes("/targets/remove", May.OPERATOR, Scope.OPERATE)
def remove_target(conn: "Connection", _caller: Caller, *, kind: SubjectKind, name: str) -> Done:
    """The share of everybody, 1, is due again."""
    from cigri.flow import precedence

    precedence.remove_target(conn, precedence.Subject(kind, name))
    return Done(f"{name} has the target of everybody, 1")


@reads("/affinities", May.OPERATOR)
def affinities(conn: "Connection", _caller: Caller) -> list[AffinityView]:
    """Who goes first where, under the policy affinity."""
    from cigri.flow.precedence import list_affinity_views

    return list_affinity_views(conn)


@changes("/affinities", May.OPERATOR, Scope.OPERATE)
def add_affinity(conn: "Connection", _caller: Caller, *, user: str, cluster: str) -> Done:
    """The user goes first there."""
    from cigri.flow.precedence import put_affinity

    is_new = put_affinity(conn, user, cluster)
    return Done(f"{user} {'has' if is_new else 'already had'} an affinity with {cluster}")


@changes("/affinities/remove", May.OPERATOR, Scope.OPERATE)
def remove_affinity(conn: "Connection", _caller: Caller, *, user: str, cluster: str) -> Done:
    """The user goes first there no longer."""
    from cigri.flow import precedence

    precedence.remove_affinity(conn, user, cluster)
    return Done(f"{user} has no affinity with {cluster} any more")


@changes("/campaigns/{campaign_id}/grid-priority", May.OPERATOR, Scope.OPERATE)
def set_grid_priority(conn: "Connection", _caller: Caller, *, campaign_id: int, priority: int) -> Done:
    """Among all campaigns: higher ones go first, whatever the policy; 0 is that of a new one."""
    from cigri.flow.campaigns import set_priority

    if abs(priority) > LARGEST_PRIORITY:
        raise UsageError(f"a priority lies between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}")
    set_priority(conn, campaign_id, priority)
    return Done(f"Campaign {campaign_id} has priority {priority}")


def _on(cluster: str) -> str:
    return f" on {cluster}" if cluster else ""
