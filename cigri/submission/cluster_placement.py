"""Which clusters a campaign may use: those that its user names, or all that are eligible where the grid chooses."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.submission.driver_checks import list_driver_problems
from cigri.submission.feedback import SubmissionFeedback

PLACES_SHOWN = 20

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.flow.submissions import NewCampaign
    from cigri.jdl import CampaignDescription
    from cigri.jdl.task_amounts import Peaks
    from cigri.settings.cluster_config import ClusterConfig
    from cigri.settings.sections import HoursSettings


def place_on_all_clusters(
    description: "CampaignDescription", clusters: "Mapping[str, ClusterConfig]", remarks: SubmissionFeedback
) -> "CampaignDescription":
    """On every cluster there is, where the grid chooses: rules and drivers are then asked about each."""
    if description.anywhere and not clusters:
        remarks.problems.append(DescriptionProblem("clusters", "no cluster is declared yet", "see `cigri cluster add`"))
    if description.is_unplaced and len(clusters) > 1:
        hint = f"there are: {', '.join(sorted(clusters))}; or write any to use all that are eligible"
        remarks.problems.append(DescriptionProblem("clusters", "is missing, and there are several", hint))
    placed = description.on_any(clusters)
    return replace(placed, anywhere=None) if description.is_unplaced and len(clusters) == 1 else placed


def drop_unknown_clusters(
    description: "CampaignDescription", clusters: "Mapping[str, ClusterConfig]", remarks: SubmissionFeedback
) -> "CampaignDescription":
    """Without the clusters that there are not, which is told; that none is left is a fault, each with a hint."""
    missing = [cluster for cluster in description.clusters if cluster not in clusters]
    if not missing:
        return description
    problems = [
        _no_cluster(cluster, clusters, with_hint=number < PLACES_SHOWN) for number, cluster in enumerate(missing)
    ]
    if len(missing) == len(description.clusters):
        remarks.problems += problems
        return description
    remarks.notes += (f"left out: {problem}" for problem in problems[:PLACES_SHOWN])
    if len(problems) > PLACES_SHOWN:
        remarks.notes.append(f"left out: {len(problems) - PLACES_SHOWN} more clusters that there are not")
    kept = {cluster: settings for cluster, settings in description.clusters.items() if cluster in clusters}
    return replace(description, clusters=kept)


def unknown_clusters(described: object, clusters: "Mapping[str, ClusterConfig]") -> list[DescriptionProblem]:
    """The clusters of a description that is wrong in other ways, where none of a few is there."""
    written = {key.lower(): value for key, value in described.items()} if isinstance(described, dict) else {}
    blocks = written.get("clusters")
    named = blocks if isinstance(blocks, dict | list) else ()
    missing = [name for name in named if isinstance(name, str) and name.strip() and name not in clusters]
    if len(missing) < len(named) or len(missing) > PLACES_SHOWN:
        return []
    return [_no_cluster(name, clusters, with_hint=True) for name in missing]


def _no_cluster(name: str, clusters: Collection[str], *, with_hint: bool) -> DescriptionProblem:
    from cigri.jdl.problems import did_you_mean

    names = sorted(clusters)
    listed = f"there are: {', '.join(names)}" if names else "no cluster is declared yet: see `cigri cluster add`"
    hint = f"{did_you_mean(name, names)} {listed}".strip() if with_hint else ""
    return DescriptionProblem(f"clusters.{name}", "there is no such cluster", hint)


def place_on_eligible_clusters(database: "Database", description: "CampaignDescription") -> "CampaignDescription":
    """Where the grid chooses: on the clusters that are eligible, unless none is; why, is told elsewhere."""
    if description.anywhere is None:
        return description
    from cigri.flow.views.queue_verdicts import choose_clusters

    settings = {name: wish.model_dump(mode="json") for name, wish in description.clusters.items()}
    try:
        with database.begin() as conn:
            chosen = choose_clusters(conn, description.project, description.requirements, settings).clusters
    except DescriptionError:
        return description
    return description.chosen(chosen) if chosen else description


def drop_unable_clusters(
    database: "Database",
    hours: "HoursSettings",
    description: "CampaignDescription",
    peaks: "Peaks",
    remarks: SubmissionFeedback,
) -> "CampaignDescription":
    """Where the grid chooses: without the clusters that can never take its jobs, unless that leaves none.

    The others are noted, or are problems. What the user has named stays, and each thing that can never be is a problem.
    """
    everywhere = {**description.clusters, **description.spare}
    refused = [*list_driver_problems(database, hours, replace(description, clusters=everywhere), peaks, remarks)]
    unable = {cluster for cluster, _ in refused}
    if description.anywhere is None or not description.clusters.keys() - unable:
        remarks.problems += (problem for _, problem in refused)
        return description
    remarks.notes += (f"left out: {problem}" for _, problem in refused)
    for cluster in unable:
        description = description.without_cluster(cluster)
    return description


def unheard(database: "Database", description: "CampaignDescription") -> list[str]:
    """What may be meant all the same, as `not el7` where no queue has it, or one site of several: it goes on."""
    if description.requirements is None:
        return []
    from cigri.flow.views.queue_verdicts import unheard_of

    with suppress(DescriptionError), database.begin() as conn:
        names = unheard_of(conn, description.project, description.requirements)
        sentences = (*names.sites, *names.properties) if names.has_known_site else names.properties
        return [f"requirements: {sentence}" for sentence in sentences]
    return []


def to_simulate(conn: "Connection", campaign: "NewCampaign") -> "NewCampaign":
    """Without requirements, of which simulated clusters know nothing: on the clusters that satisfy them."""
    from cigri.flow.views.queue_verdicts import choose_clusters

    settings = {name: part.settings for name, part in campaign.clusters.items()}
    chosen = choose_clusters(conn, campaign.project, campaign.wanted, settings).clusters
    kept = {name: part for name, part in campaign.clusters.items() if name in chosen}
    return campaign._replace(clusters=kept, wanted=None, anywhere=None)
