"""Which clusters a campaign may use: those that its user names, or all that are eligible where the grid chooses."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cigri.cli.capabilities import impossible
from cigri.cli.command import complain
from cigri.errors import DescriptionError, Problem

PLACES_SHOWN = 20

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.flow.submissions import NewCampaign
    from cigri.jdl import Description
    from cigri.jdl.needs import Peaks
    from cigri.settings.cluster import ClusterConfig


def declared(database: "Database") -> "dict[str, ClusterConfig]":
    """Every cluster of the grid."""
    from cigri.flow.clusters import list_every_cluster

    with database.begin() as conn:
        return {cluster.name: cluster.config for cluster in list_every_cluster(conn)}


def on_any(
    name: str, description: "Description", clusters: "Mapping[str, ClusterConfig]", faults: list[str]
) -> "Description":
    """On every cluster there is, where the grid chooses: rules and drivers are then asked about each."""
    if description.anywhere and not clusters:
        faults.append(f"{name}: {Problem('clusters', 'no cluster is declared yet', 'see `cigri cluster add`')}")
    if description.is_unplaced and len(clusters) > 1:
        hint = f"there are: {', '.join(sorted(clusters))}; or write any to use all that are eligible"
        faults.append(f"{name}: {Problem('clusters', 'is missing, and there are several', hint)}")
    placed = description.on_any(clusters)
    return replace(placed, anywhere=None) if description.is_unplaced and len(clusters) == 1 else placed


def on_known(
    name: str, description: "Description", clusters: "Mapping[str, ClusterConfig]", faults: list[str]
) -> "Description":
    """Without the clusters that there are not, which is told; that none is left is a fault, each with a hint."""
    missing = [one for one in description.clusters if one not in clusters]
    if not missing:
        return description
    problems = [_no_cluster(one, clusters, with_hint=number < PLACES_SHOWN) for number, one in enumerate(missing)]
    if len(missing) == len(description.clusters):
        faults += (f"{name}: {problem}" for problem in problems)
        return description
    for problem in problems[:PLACES_SHOWN]:
        complain(f"{name}: left out: {problem}")
    if len(problems) > PLACES_SHOWN:
        complain(f"{name}: left out: {len(problems) - PLACES_SHOWN} more clusters that there are not")
    kept = {one: settings for one, settings in description.clusters.items() if one in clusters}
    return replace(description, clusters=kept)


def _no_cluster(name: str, clusters: Collection[str], *, with_hint: bool) -> Problem:
    from cigri.jdl.problems import did_you_mean

    known = sorted(clusters)
    listed = f"there are: {', '.join(known)}" if known else "no cluster is declared yet: see `cigri cluster add`"
    hint = f"{did_you_mean(name, known)} {listed}".strip() if with_hint else ""
    return Problem(f"clusters.{name}", "there is no such cluster", hint)


def on_eligible(database: "Database", description: "Description") -> "Description":
    """Where the grid chooses: on the clusters that are eligible, unless none is; why, is told elsewhere."""
    if description.anywhere is None:
        return description
    from cigri.flow.views.eligibility import choose_clusters

    settings = {name: one.model_dump(mode="json") for name, one in description.clusters.items()}
    try:
        with database.begin() as conn:
            chosen = choose_clusters(conn, description.project, description.requirements, settings).clusters
    except DescriptionError:
        return description
    return description.chosen(chosen) if chosen else description


def on_able(
    database: "Database", name: str, description: "Description", peaks: "Peaks"
) -> tuple["Description", list[str]]:
    """Where the grid chooses: without the clusters that can never take its jobs, unless that leaves none.

    The others are told, or are problems. What the user has named stays, and each thing that can never be is a problem.
    """
    everywhere = {**description.clusters, **description.spare}
    found = [*impossible(database, replace(description, clusters=everywhere), peaks)]
    unable = {cluster for cluster, _ in found}
    if description.anywhere is None or not description.clusters.keys() - unable:
        return description, [f"{name}: {problem}" for _, problem in found]
    for _, problem in found:
        complain(f"{name}: left out: {problem}")
    for cluster in unable:
        description = description.without_cluster(cluster)
    return description, []


def tell_unheard(database: "Database | None", name: str, description: "Description") -> None:
    """What may be meant all the same, as `not el7` where no queue has it, or one site of several: it goes on."""
    if database is None or description.requirements is None:
        return
    from cigri.flow.views.eligibility import unheard_of

    with suppress(DescriptionError), database.begin() as conn:
        unheard = unheard_of(conn, description.project, description.requirements)
        for sentence in (*unheard.sites, *unheard.properties) if unheard.has_known_site else unheard.properties:
            complain(f"{name}: requirements: {sentence}")


def to_simulate(database: "Database", campaign: "NewCampaign") -> "NewCampaign":
    """Without requirements, of which simulated clusters know nothing: on the clusters that satisfy them."""
    from cigri.flow.views.eligibility import choose_clusters

    settings = {name: part.settings for name, part in campaign.clusters.items()}
    with database.begin() as conn:
        chosen = choose_clusters(conn, campaign.project, campaign.wanted, settings).clusters
    kept = {name: part for name, part in campaign.clusters.items() if name in chosen}
    return campaign._replace(clusters=kept, wanted=None, anywhere=None)
