"""Clusters as CiGri 3 told them, and how full they are and were."""

from itertools import groupby
from typing import Any

from cigri.api_models.clusters import ClusterStatus, ClusterUsagePeriod
from cigri.endpoints import clusters as endpoints
from cigri.endpoints.health import notices
from cigri.endpoints.paging import walk
from cigri.errors import UsageError
from cigri.formats.units import HOUR
from modules.portal.cigri3.dispatch import Cigri3Request, Cigri3Response, link

AWAY = ("draining", "disabled", "unreachable", "unknown")


def list_clusters(asked: Cigri3Request) -> Cigri3Response:
    """Their numbers are texts, behind which clients put names."""
    items = [
        {
            "id": str(status.cluster.id),
            "name": status.cluster.name,
            "links": [link("self", f"/clusters/{status.cluster.id}"), link("parent", "/clusters")],
        }
        for status in walk(asked.grid, endpoints.clusters)
    ]
    return Cigri3Response(
        {"items": items, "total": len(items), "links": [link("self", "/clusters"), link("parent", "/")]}
    )


def show_cluster(asked: Cigri3Request) -> Cigri3Response:
    (status,) = walk(asked.grid, endpoints.clusters, names=[str(asked.number("cluster"))])
    return Cigri3Response(_as_cluster(status))


def grid_usage(asked: Cigri3Request) -> Cigri3Response:
    """Of the last visits, or of the time between two moments in seconds since 1970."""
    told = {name: asked.options.get(name) for name in ("from", "to")}
    numbers = numbers_of_clusters(asked)
    items = _at_last_visits(asked) if told == {"from": None, "to": None} else _between(asked, numbers)
    return Cigri3Response(
        {"items": items, **told, "total": len(items), "links": [link("self", "/gridusage"), link("parent", "/")]}
    )


def numbers_of_clusters(asked: Cigri3Request) -> dict[str, int]:
    """By name."""
    return {status.cluster.name: status.cluster.id for status in walk(asked.grid, endpoints.clusters)}


def _as_cluster(status: ClusterStatus) -> dict[str, Any]:
    """What is missing is a part of the way that CiGri 3 went to its clusters; `stress_factor` is what is not asked."""
    cluster = status.cluster
    return {
        "id": str(cluster.id),
        "name": cluster.name,
        "ssh_host": status.host,
        "batch": cluster.config.get("driver"),
        "resource_unit": "core",
        "enabled": cluster.is_enabled,
        "blacklisted": status.state in AWAY,
        "under_stress": cluster.pace < 1,
        "stress_factor": f"{1 - cluster.pace:.2f}/1",
        "links": [link("self", f"/clusters/{cluster.id}"), link("parent", "/clusters")],
    }


def _at_last_visits(asked: Cigri3Request) -> list[dict[str, Any]]:
    """Clusters that nobody has visited are left out, as clients divide by cores."""
    visited = [status.cluster for status in walk(asked.grid, endpoints.clusters) if status.cluster.total]
    moments = [int(cluster.visited_at.timestamp()) for cluster in visited if cluster.visited_at]
    full = [_as_usage(one.name, one.id, one.total, one.used, one.used_by_us, one.unavailable) for one in visited]
    return [{"date": max(moments, default=0), "clusters": full}]


def _between(asked: Cigri3Request, numbers: dict[str, int]) -> list[dict[str, Any]]:
    """Means of 24 parts of the time from the first moment until now, those that begin until the second one."""
    now = asked.grid.call(notices, user=asked.caller.user).now.timestamp()
    since, until = asked.count("from", int(now) - 24 * HOUR), asked.count("to", int(now))
    if not since < until:
        raise UsageError(f"from={since} to={until}: the first moment comes before the second")
    usage = walk(asked.grid, endpoints.cluster_usage, hours=max(1, now - since) / HOUR)
    chosen = sorted((one for one in usage if one.at.timestamp() <= until), key=_moment)
    return [
        {
            "date": moment,
            "clusters": [
                _as_usage(
                    one.cluster,
                    numbers[one.cluster],
                    *map(round, (one.total, one.used, one.used_by_us, one.unavailable)),
                )
                for one in of_moment
            ],
        }
        for moment, of_moment in groupby(chosen, key=_moment)
    ]


def _moment(usage: ClusterUsagePeriod) -> int:
    return int(usage.at.timestamp())


def _as_usage(
    name: str, number: int, total: int | None, used: int | None, ours: int | None, unavailable: int | None
) -> dict[str, Any]:
    """The grid's own are among those that are used."""
    return {
        "cluster_name": name,
        "cluster_id": number,
        "max_resources": total or 0,
        "used_resources": used or 0,
        "used_by_cigri": ours or 0,
        "unavailable_resources": unavailable or 0,
    }
