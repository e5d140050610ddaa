"""What clusters are: declared, changed, forgotten, and whose jobs run there as whom, as operators say it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cigri.api_models.changes import ChangeConfirmation
from cigri.api_models.clusters import DeclaredCluster, FallbackDecision
from cigri.endpoints import (
    Access,
    DeferredResponse,
    change_endpoint,
    cluster_question_endpoint,
    read_endpoint,
    with_settings,
)
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import USUAL_ROWS, PageLimit
from cigri.errors import ConfigError, NotFound, TransportError, UnreadableOutput, UsageError
from cigri.formats.units import as_utc
from cigri.identity.callers import AccessScope, Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.gateway.contract import ClusterGateway
    from cigri.settings.cluster_config import ClusterConfig
    from cigri.settings.sections import Settings

CLUSTER_FALLBACK = "CLUSTER_FALLBACK"
LONGEST_NAME = 64  # characters, of a user
CLUSTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
LONGEST_CAUSE = 300
DECLARED_BY = KeyPagination("declared_clusters", {"standing.name": str})


@read_endpoint("/clusters/declared", Access.OPERATOR, DECLARED_BY)
def declared_clusters(
    conn: "Connection",
    _caller: Caller,
    *,
    names: list[str] | None = None,
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[DeclaredCluster]:
    """All, or those that are named, with their configuration as it is stored and the accounts of users."""
    from cigri.flow.views.clusters import list_cluster_standings, list_mappings

    every = list_cluster_standings(conn)
    if missing := sorted(set(names or ()) - {cluster.name for cluster in every}):
        raise NotFound(f"no cluster {', '.join(missing)}; `cigri cluster list` shows them")
    chosen = [cluster for cluster in every if not names or cluster.name in names]
    page = page_of([DeclaredCluster(cluster, cluster.state, []) for cluster in chosen], DECLARED_BY, after, limit)
    return [declared._replace(accounts=list_mappings(conn, declared.standing.name)) for declared in page]


@cluster_question_endpoint("/clusters/{cluster}/fallback", Access.OPERATOR, FallbackDecision)
def find_fallback(
    conn: "Connection", _caller: Caller, *, cluster: str, config: dict[str, Any]
) -> DeferredResponse[FallbackDecision]:
    """Whether the batch system of a cluster that would be so declared is there."""
    from cigri.database import server_time
    from cigri.flow.clusters import ClusterRow
    from cigri.gateway.requests import ProbeBatchSystem

    asked = ClusterRow(0, cluster, _own(_checked(cluster, config)), True)
    now = server_time(conn)

    def ask(gateway: "ClusterGateway") -> FallbackDecision:
        try:
            gateway.request(asked, gateway.monitoring_account(asked), ProbeBatchSystem())
        except (TransportError, UnreadableOutput) as error:
            said = " ".join(str(error).split())[:LONGEST_CAUSE]
            return FallbackDecision(f"its batch system was not there on {as_utc(now)}: {said}")
        return FallbackDecision("")

    return DeferredResponse(cluster, ask)


def _cluster_place(_made: ChangeConfirmation, asked: "Mapping[str, Any]") -> str:
    return f"clusters?names={asked['cluster']}"


@change_endpoint("/clusters", Access.OPERATOR, AccessScope.OPERATE, created=_cluster_place)
def declare_cluster(conn: "Connection", _caller: Caller, *, cluster: str, config: dict[str, Any]) -> ChangeConfirmation:
    """A new one, which the next cycle visits."""
    from cigri.flow.clusters import find_cluster

    _require_name(cluster)
    checked = _checked(cluster, config)
    if find_cluster(conn, cluster):
        raise UsageError(f"cluster {cluster} is declared already; `cigri cluster change {cluster}`", "cluster")
    _put(conn, cluster, checked)
    return ChangeConfirmation(f"Cluster {cluster} is declared; now: cigri cluster test {cluster}")


@change_endpoint("/clusters/{cluster}/change", Access.OPERATOR, AccessScope.OPERATE)
def change_cluster(conn: "Connection", _caller: Caller, *, cluster: str, config: dict[str, Any]) -> ChangeConfirmation:
    """Its configuration is this one, all of it."""
    checked = _checked(cluster, config)
    _refuse_under_jobs(conn, cluster, checked)
    _put(conn, cluster, checked)
    return ChangeConfirmation(f"Cluster {cluster} is changed; now: cigri cluster test {cluster}")


@change_endpoint("/clusters/{cluster}/remove", Access.OPERATOR, AccessScope.OPERATE)
def remove_cluster(conn: "Connection", _caller: Caller, *, cluster: str) -> ChangeConfirmation:
    """Forget a cluster that no campaign has used."""
    from cigri.flow import clusters

    clusters.remove_cluster(conn, cluster)
    return ChangeConfirmation(f"Cluster {cluster} is forgotten")


@change_endpoint("/clusters/{cluster}/accounts", Access.OPERATOR, AccessScope.OPERATE)
@with_settings
def map_account(
    conn: "Connection", caller: Caller, settings: "Settings", *, cluster: str, user: str, account: str = ""
) -> ChangeConfirmation:
    """The account that runs a grid user's jobs there from the next submission on; empty: that of the same name."""
    from cigri.flow.clusters import list_every_cluster, map_user
    from cigri.identity.special_accounts import require_may_map_to
    from cigri.settings.ssh_address import ACCOUNT

    if account and not ACCOUNT.fullmatch(account):
        raise UsageError(f"{account!r} cannot be the name of an account", "account")
    if account:
        gateway_accounts = {each.config.ssh.account for each in list_every_cluster(conn) if each.config.ssh}
        require_may_map_to(caller, account, gateway_accounts, settings.portal.min_mapped_uid)
    if not 0 < len(user) <= LONGEST_NAME or not user.isprintable():
        raise UsageError(f"{user[:LONGEST_NAME]!r} cannot be the name of a user", "user")
    map_user(conn, cluster, user, account)
    return ChangeConfirmation(f"On {cluster} the jobs of {user} run as {account or user}")


def _require_name(cluster: str) -> None:
    if not CLUSTER_NAME.fullmatch(cluster):
        how = "letters without accents, digits, '.', '_' and '-', 63 at most, a letter or a digit first"
        raise UsageError(f"{cluster[:LONGEST_NAME]!r} cannot be the name of a cluster: {how}", "cluster")


def _checked(cluster: str, config: dict[str, Any]) -> "ClusterConfig":
    """Raise ConfigError with all that is wrong with it, or with what its drivers are told."""
    from cigri import drivers
    from cigri.settings.cluster_config import parse_config

    checked = parse_config(cluster, config)
    driver = drivers.load(checked.driver, checked.options)
    if checked.fallback is not None:
        drivers.load("local", checked.fallback.model_dump())
    cores = driver.largest().get("cpu")
    if cores is not None and checked.node_cores > cores:
        raise ConfigError(
            f"cluster {cluster}: node_cores is {checked.node_cores}, and no job there has more than {cores} cores: "
            f"jobs with so many tasks side by side would be refused; say --set node_cores={cores}"
        )
    return checked


def _own(config: "ClusterConfig") -> "ClusterConfig":
    """With its own batch system, whether or not another stands in for it now."""
    return config.model_copy(update={"fallback_because": ""})


def _put(conn: "Connection", cluster: str, config: "ClusterConfig") -> None:
    """There is an event as long as a fallback is in use."""
    from cigri.flow.clusters import put_cluster
    from cigri.flow.events import NewEvent, close_events, put_events
    from cigri.states import EventLevel

    put_cluster(conn, cluster, config.model_dump(mode="json"))
    if not config.fallback_because:
        close_events(conn, [CLUSTER_FALLBACK], [f"cluster {cluster}"], "operator")
        return
    message = f"jobs run on this host instead: {config.fallback_because}"
    put_events(conn, [NewEvent(CLUSTER_FALLBACK, EventLevel.WARNING, f"cluster {cluster}", message)])


def _refuse_under_jobs(conn: "Connection", cluster: str, config: "ClusterConfig") -> None:
    """Raise when jobs live on what would be given up: nobody would see their end; NotFound for one never declared."""
    from cigri.flow.clusters import find_cluster
    from cigri.flow.views.stuck_items import list_known

    stored = find_cluster(conn, cluster)
    if stored is None:
        raise NotFound(f"no cluster {cluster}; `cigri cluster list` shows them")
    if bool(stored.config.fallback_because) == bool(config.fallback_because):
        return
    if live := list_known(conn, stored.id):
        raise UsageError(
            f"{len(live)} jobs of the grid are live on {cluster}, and new ones would go elsewhere: "
            f"`cigri cluster disable {cluster}`, wait for them to end, and say this again"
        )
