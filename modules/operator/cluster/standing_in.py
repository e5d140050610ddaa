"""When a cluster is declared: is its batch system there, or does its fallback stand in for it? Never silently."""

import sys
from datetime import UTC, datetime

from sqlalchemy import Connection

from cigri import drivers
from cigri.errors import AnswerUnreadable, TransportError, UsageError
from cigri.flow.clusters import ClusterRow, find_cluster
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.views.stuck import list_known
from cigri.gateway import Gateway
from cigri.orders import Probe
from cigri.settings.cluster import ClusterConfig
from cigri.states import EventLevel
from cigri.text.harmless import safe
from cigri.text.units import as_utc

CLUSTER_FALLBACK = "CLUSTER_FALLBACK"


def decide(name: str, config: ClusterConfig) -> ClusterConfig:
    """Ask the batch system of a cluster that names a fallback; the one that is not there is replaced."""
    declared = config.model_copy(update={"fallback_because": ""})
    if config.fallback is None:
        return declared
    drivers.load("local", config.fallback.model_dump())
    cluster, gateway = ClusterRow(0, name, declared, True), Gateway()
    try:
        gateway.ask(cluster, gateway.visitor(cluster), Probe())
    except (TransportError, AnswerUnreadable) as error:
        because = f"its batch system was not there on {as_utc(datetime.now(UTC))}: {_line(error)}"
        return declared.model_copy(update={"fallback_because": because})
    finally:
        gateway.close()
    return declared


def refuse_under_jobs(conn: Connection, name: str, config: ClusterConfig) -> None:
    """Raise UsageError when jobs live on what would be given up: nobody would see their end."""
    stored = find_cluster(conn, name)
    if stored is None or bool(stored.config.fallback_because) == bool(config.fallback_because):
        return
    if live := list_known(conn, stored.id):
        raise UsageError(
            f"{len(live)} jobs of ours live on {name}, and its jobs would now go elsewhere: "
            f"`cigri cluster disable {name}`, wait for them to end, and say this again"
        )


def tell(conn: Connection, name: str, config: ClusterConfig) -> None:
    """An event as long as the fallback is in use, and a warning now."""
    if not config.fallback_because:
        close_events(conn, [CLUSTER_FALLBACK], [f"cluster {name}"], "operator")
        return
    message = f"jobs run on this host instead: {config.fallback_because}"
    put_events(conn, [NewEvent(CLUSTER_FALLBACK, EventLevel.WARNING, f"cluster {name}", message)])
    again = f"once it is there, `cigri cluster change {name}` gives it its jobs again"
    text = f"WARNING: the jobs of {name} run on this host, {config.fallback_because}; {again}"
    print(safe(text), file=sys.stderr)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
