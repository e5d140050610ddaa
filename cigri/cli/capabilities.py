"""Whether the clusters of a campaign have words for what it wants; where it wants cores alone no driver is loaded."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cigri.cli.command import complain
from cigri.errors import ConfigError, Problem

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.drivers import BatchRequest
    from cigri.jdl import ClusterSettings, Description


def impossible(database: "Database", description: "Description") -> Iterator[Problem]:
    """What can never be, in the words of the clusters' drivers."""
    special = {name: settings for name, settings in description.clusters.items() if not _is_plain(settings)}
    if not special:
        return
    from cigri.drivers import load
    from cigri.flow.anyone_to_clusters import list_every_cluster

    with database.begin() as conn:
        clusters = [cluster for cluster in list_every_cluster(conn) if cluster.name in special]
    for cluster in clusters:
        request = _request(special[cluster.name], description.campaign_type == "test")
        try:
            problems = load(cluster.config.driver, cluster.config.options).problems(request)
        except ConfigError as error:
            complain(f"whether {cluster.name} can take its jobs was not checked: {error}")
            continue
        yield from (Problem(f"clusters.{cluster.name}", problem) for problem in problems)


def _is_plain(settings: "ClusterSettings") -> bool:
    """Every batch system has cores, and most have queues, which are its own to check."""
    request = settings.resources.request()
    wishes = (request.native, request.mem, request.others, settings.types, settings.queue, settings.properties)
    return request.nodes == 1 and not any(wishes)


def _request(settings: "ClusterSettings", is_test: bool) -> "BatchRequest":
    from cigri.drivers import BatchRequest

    return BatchRequest(
        tag="cigri-check",
        size=1,
        walltime=settings.walltime,
        resources=settings.resources.request(),
        besteffort=settings.besteffort and not is_test,
        queue=settings.queue,
        project=settings.project,
        properties=settings.properties,
        types=settings.types,
    )
