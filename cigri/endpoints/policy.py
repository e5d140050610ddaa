"""Who may have how much of the grid, and who goes first: what operators declare."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated

from cigri.api_models.changes import ChangeConfirmation
from cigri.api_models.policy import AffinityView, LimitView, QuotaView, TargetView
from cigri.eligibility.quotas import ALL, EVERY_TYPE, QuotaRule, as_owner
from cigri.endpoints import Access, change_endpoint, read_endpoint
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import USUAL_ROWS, PageLimit
from cigri.endpoints.parameters import NumberBounds, about
from cigri.errors import UsageError
from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.formats.units import HOUR
from cigri.identity.callers import AccessScope, Caller
from cigri.states import PrincipalKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

LARGEST_SHARE = 1e6
TargetShare = Annotated[float, NumberBounds(0, LARGEST_SHARE, is_above=True)]
LARGEST_PRIORITY = 1_000_000
GridPriority = Annotated[int, NumberBounds(-LARGEST_PRIORITY, LARGEST_PRIORITY)]
LARGEST_CORE_HOURS = 1e12
CoreHours = Annotated[float, NumberBounds(0, LARGEST_CORE_HOURS)]
QUOTA_DAYS, LONGEST_WINDOW = 30, 366
QuotaAmount = Annotated[int, NumberBounds(0, LARGEST_INTEGER)]
QuotaWindow = Annotated[int, NumberBounds(1, LONGEST_WINDOW)]
LIMITS_BY = KeyPagination("limits", {"name": str})
QUOTAS_BY = KeyPagination("quotas", {"rule": str, "cluster": str})
TARGETS_BY = KeyPagination("targets", {"kind": str, "name": str})
AFFINITIES_BY = KeyPagination("affinities", {"user": str, "cluster": str})


@read_endpoint("/limits", Access.EVERYBODY, LIMITS_BY)
def limits(conn: "Connection", _caller: Caller, *, after: str = "", limit: PageLimit = USUAL_ROWS) -> list[LimitView]:
    """Those that all jobs together are under, by name."""
    from cigri.flow.ceilings import list_limits

    return page_of(list_limits(conn), LIMITS_BY, after, limit)


@change_endpoint("/limits", Access.OPERATOR, AccessScope.OPERATE)
def set_limit(conn: "Connection", _caller: Caller, *, name: str, capacity: QuotaAmount) -> ChangeConfirmation:
    """So many tokens of it for all jobs together, from now on."""
    from cigri.flow.ceilings import put_limit
    from cigri.jdl.value_types import LIMIT_NAME

    if not LIMIT_NAME.fullmatch(name):
        raise UsageError(f"{name[:60]!r}: a name has letters, digits, '.', '_', '-'", "name")
    if not 0 <= capacity <= LARGEST_INTEGER:
        raise UsageError(f"capacity {capacity}: a whole number, 0 or more, at most {LARGEST_INTEGER}", "capacity")
    put_limit(conn, name, capacity)
    return ChangeConfirmation(f"All jobs together may use {capacity} of {name}")


@change_endpoint("/limits/remove", Access.OPERATOR, AccessScope.OPERATE)
def remove_limit(conn: "Connection", _caller: Caller, *, name: str) -> ChangeConfirmation:
    """Jobs may use any number of it."""
    from cigri.flow import ceilings

    ceilings.remove_limit(conn, name)
    return ChangeConfirmation(f"There is no limit {name} any more")


@read_endpoint("/quotas", Access.OPERATOR, QUOTAS_BY)
def quotas(conn: "Connection", _caller: Caller, *, after: str = "", limit: PageLimit = USUAL_ROWS) -> list[QuotaView]:
    """All that are declared, and what is used of them."""
    from cigri.flow.quotas import list_quotas

    return page_of(list_quotas(conn), QUOTAS_BY, after, limit)


@change_endpoint("/quotas", Access.OPERATOR, AccessScope.OPERATE)
def set_quota(
    conn: "Connection",
    _caller: Caller,
    *,
    rule: str,
    cores: QuotaAmount | None = None,
    jobs: QuotaAmount | None = None,
    core_hours: CoreHours | None = None,
    within: QuotaWindow | None = None,
    cluster: str = "",
) -> ChangeConfirmation:
    """So many cores, jobs and core-hours for the jobs that the rule counts; what was said of it before is replaced."""
    from cigri.flow.quotas import QuotaAmounts, put_quota

    with about("rule"):
        parsed = QuotaRule.parse(rule)
    if core_hours is not None and within is None:
        within = QUOTA_DAYS
    _require_quota(parsed, cores, jobs, core_hours, within)
    seconds = None if core_hours is None else round(core_hours * HOUR)
    put_quota(conn, parsed, QuotaAmounts(cores, jobs, seconds, within), cluster)
    said = [f"{cores} cores"] if cores is not None else []
    said += [f"{jobs} jobs"] if jobs is not None else []
    said += [f"{core_hours:g} core-hours in {within} days"] if core_hours is not None else []
    return ChangeConfirmation(f"{_capital(as_owner(parsed))} may have {', '.join(said)}{_on(cluster)}")


def _require_quota(
    rule: QuotaRule, cores: int | None, jobs: int | None, core_hours: float | None, within: int | None
) -> None:

    if cores is None and jobs is None and core_hours is None:
        raise UsageError("a quota says how many cores, jobs or core-hours", "cores")
    for number, parameter in ((cores, "cores"), (jobs, "jobs")):
        if number is not None and not 0 <= number <= LARGEST_INTEGER:
            raise UsageError(f"a quota is a whole number of {parameter}, 0 or more", parameter)
    if core_hours is not None and not 0 <= core_hours <= LARGEST_CORE_HOURS:
        raise UsageError(f"core-hours are a number, 0 or more, at most {LARGEST_CORE_HOURS:.0f}", "core_hours")
    if within is not None and (core_hours is None or not 1 <= within <= LONGEST_WINDOW):
        raise UsageError(f"days, from 1 to {LONGEST_WINDOW}, say within how many core-hours are counted", "within")
    if core_hours is not None and (rule.queue, rule.type) != (ALL, EVERY_TYPE):
        message = f"core-hours are accounted for neither by queue nor by type: write {ALL} and {EVERY_TYPE} there"
        raise UsageError(message, "rule")


@change_endpoint("/quotas/remove", Access.OPERATOR, AccessScope.OPERATE)
def remove_quota(conn: "Connection", _caller: Caller, *, rule: str, cluster: str = "") -> ChangeConfirmation:
    """That one is gone; others stay."""
    from cigri.flow import quotas

    with about("rule"):
        parsed = QuotaRule.parse(rule)
    quotas.remove_quota(conn, parsed, cluster)
    return ChangeConfirmation(f"{_capital(as_owner(parsed))} has no quota{_on(cluster)} any more")


@read_endpoint("/targets", Access.OPERATOR, TARGETS_BY)
def targets(conn: "Connection", _caller: Caller, *, after: str = "", limit: PageLimit = USUAL_ROWS) -> list[TargetView]:
    """All that are declared; whoever is missing has 1."""
    from cigri.flow.affinities_and_targets import list_targets

    declared = [TargetView(*subject, share) for subject, share in list_targets(conn).items()]
    return page_of(declared, TARGETS_BY, after, limit)


@change_endpoint("/targets", Access.OPERATOR, AccessScope.OPERATE)
def set_target(
    conn: "Connection", _caller: Caller, *, kind: PrincipalKind, name: str, share: TargetShare
) -> ChangeConfirmation:
    """What is due to a user or a project beside others, under the policy fairshare."""
    from cigri.flow.affinities_and_targets import Principal, put_target

    if not (isfinite(share) and 0 < share <= LARGEST_SHARE):
        raise UsageError(f"a share is a number above 0, at most {LARGEST_SHARE:.0f}; 2 is twice as much as 1", "share")
    put_target(conn, Principal(kind, name), share)
    return ChangeConfirmation(f"{name} has the target {share:g}")


@change_endpoint("/targets/remove", Access.OPERATOR, AccessScope.OPERATE)
def remove_target(conn: "Connection", _caller: Caller, *, kind: PrincipalKind, name: str) -> ChangeConfirmation:
    """The share of everybody, 1, is due again."""
    from cigri.flow import affinities_and_targets

    affinities_and_targets.remove_target(conn, affinities_and_targets.Principal(kind, name))
    return ChangeConfirmation(f"{name} has the target of everybody, 1")


@read_endpoint("/affinities", Access.OPERATOR, AFFINITIES_BY)
def affinities(
    conn: "Connection", _caller: Caller, *, after: str = "", limit: PageLimit = USUAL_ROWS
) -> list[AffinityView]:
    """Who goes first where, under the policy affinity."""
    from cigri.flow.affinities_and_targets import list_affinity_views

    return page_of(list_affinity_views(conn), AFFINITIES_BY, after, limit)


@change_endpoint("/affinities", Access.OPERATOR, AccessScope.OPERATE)
def add_affinity(conn: "Connection", _caller: Caller, *, user: str, cluster: str) -> ChangeConfirmation:
    """The user goes first there."""
    from cigri.flow.affinities_and_targets import put_affinity

    is_new = put_affinity(conn, user, cluster)
    return ChangeConfirmation(f"{user} {'has' if is_new else 'already had'} an affinity with {cluster}")


@change_endpoint("/affinities/remove", Access.OPERATOR, AccessScope.OPERATE)
def remove_affinity(conn: "Connection", _caller: Caller, *, user: str, cluster: str) -> ChangeConfirmation:
    """The user goes first there no longer."""
    from cigri.flow import affinities_and_targets

    affinities_and_targets.remove_affinity(conn, user, cluster)
    return ChangeConfirmation(f"{user} has no affinity with {cluster} any more")


@change_endpoint("/campaigns/{campaign_id}/grid-priority", Access.OPERATOR, AccessScope.OPERATE)
def set_grid_priority(
    conn: "Connection", _caller: Caller, *, campaign_id: int, priority: GridPriority
) -> ChangeConfirmation:
    """Among all campaigns: higher ones go first, whatever the policy; 0 is that of a new one."""
    from cigri.flow.campaigns import set_priority

    if abs(priority) > LARGEST_PRIORITY:
        raise UsageError(f"a priority lies between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}", "priority")
    set_priority(conn, campaign_id, priority)
    return ChangeConfirmation(f"Campaign {campaign_id} has priority {priority}")


def _capital(said: str) -> str:
    return said[:1].upper() + said[1:]


def _on(cluster: str) -> str:
    return f" on {cluster}" if cluster else ""
