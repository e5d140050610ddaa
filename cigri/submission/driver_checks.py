"""Whether the clusters of a campaign have words for what it wants; where it wants cores alone no driver is loaded."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cigri.errors import ConfigError, DescriptionProblem
from cigri.submission.feedback import SubmissionFeedback

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.drivers import BatchRequest
    from cigri.flow.clusters import ClusterRow
    from cigri.jdl import CampaignDescription, ClusterSettings
    from cigri.jdl.task_amounts import Peaks
    from cigri.settings.sections import HoursSettings


def list_driver_problems(
    database: "Database",
    hours: "HoursSettings",
    description: "CampaignDescription",
    peaks: "Peaks",
    remarks: SubmissionFeedback,
) -> Iterator[tuple[str, DescriptionProblem]]:
    """What can never be, by cluster, in the words of its driver; `peaks` of what is computed for each task."""
    if all(_is_plain(settings) for settings in description.clusters.values()):
        return
    from cigri.database import server_time
    from cigri.flow.clusters import list_every_cluster

    with database.begin() as conn:
        now, clusters = server_time(conn), list_every_cluster(conn)
    yield from list_problems_of(clusters, hours, now, description, peaks, remarks)


def list_problems_of(
    every: "Sequence[ClusterRow]",
    hours: "HoursSettings",
    now: datetime,
    description: "CampaignDescription",
    peaks: "Peaks",
    remarks: SubmissionFeedback,
) -> Iterator[tuple[str, DescriptionProblem]]:
    """The same, of the clusters that are given."""
    from cigri.drivers import load
    from cigri.settings.job_types import NIGHTLY

    special = {name: settings for name, settings in description.clusters.items() if not _is_plain(settings)}
    clusters = [cluster for cluster in every if cluster.name in special]
    is_test = description.campaign_type == "test"
    if not is_test and any(special[cluster.name].type == NIGHTLY for cluster in clusters):
        yield from _never_open(clusters, special, hours, now)
    by_cluster: dict[str, list[DescriptionProblem]] = {}
    partly = set()  # take tasks that ask for less
    for cluster in clusters:
        try:
            driver = load(cluster.config.driver, cluster.config.options)
        except ConfigError as error:
            remarks.notes.append(f"whether {cluster.name} can take its jobs was not checked: {error}")
            continue
        wish = special[cluster.name]
        formulas = wish.resources.formulas
        problems = driver.problems(_request(wish, is_test, _most(formulas, peaks)))
        which = _tasks_with_most(formulas, peaks)
        by_cluster[cluster.name] = [_problem(cluster.name, problem + which) for problem in problems]
        if problems and not driver.problems(_request(wish, is_test, dict.fromkeys(formulas, 1))):
            partly.add(cluster.name)
    others = [name for name in description.clusters if not by_cluster.get(name)]
    for name, refusals in by_cluster.items():
        if name in partly and others:  # the rest of the tasks may go to them
            remarks.notes += (f"{problem}; such tasks go to {', '.join(others)}" for problem in refusals)
        else:
            yield from ((name, problem) for problem in refusals)


def _problem(cluster: str, text: str) -> DescriptionProblem:
    return DescriptionProblem(f"clusters.{cluster}", text.replace(" NAME ", f" {cluster} "))


def task_peaks(description: "CampaignDescription") -> "tuple[Peaks, list[DescriptionProblem]]":
    """The most that any task asks for of what is computed for each, and the tasks for which it cannot be."""
    formulas = [settings.resources.formulas for settings in description.clusters.values()]
    if not any(formulas):
        return {}, []
    from cigri.jdl.task_amounts import find_peaks

    return find_peaks(formulas, description.parameters())


def _never_open(
    clusters: Sequence["ClusterRow"],
    wanted: Mapping[str, "ClusterSettings"],
    grid: "HoursSettings",
    now: datetime,
) -> Iterator[tuple[str, DescriptionProblem]]:
    """Hours in which the jobs cannot run, whatever the time."""
    from cigri.settings.job_types import hours_of, why_never_starts

    for name, config in ((cluster.name, cluster.config) for cluster in clusters):
        settings = wanted[name]
        if why := why_never_starts(
            settings.type, hours_of(config, grid), now, settings.walltime, overrun=config.hours_overrun
        ):
            yield (
                name,
                DescriptionProblem(f"clusters.{name}.type", f"no job of type {settings.type} can run there: {why}"),
            )


def _is_plain(settings: "ClusterSettings") -> bool:
    """Every batch system has a core, which is all that is asked for."""
    if settings.type == "nightly":
        return False
    wish = settings.resources
    wishes = (wish.native, wish.amounts, settings.types, settings.queue, settings.properties, settings.backend)
    return wish.width == 1 and not any(wishes)


def _tasks_with_most(formulas: Mapping[str, str], peaks: "Peaks") -> str:
    """Which tasks ask for the most of what is computed."""
    highest = [(name, peaks[name, text]) for name, text in formulas.items() if (name, text) in peaks]
    most = [f"{name}={peak.amount} by task {peak.task}" for name, peak in highest]
    return f" (the most of any task: {', '.join(most)})" if most else ""


def _most(formulas: Mapping[str, str], peaks: "Peaks") -> dict[str, int]:
    """The most of any task, 0 if there is none."""
    return {name: peaks[name, text].amount if (name, text) in peaks else 0 for name, text in formulas.items()}


def _request(settings: "ClusterSettings", is_test: bool, amounts: Mapping[str, int]) -> "BatchRequest":
    """One of its jobs, with these in place of the formulas."""
    from cigri.drivers import BatchRequest

    return BatchRequest(
        tag="cigri-check",
        size=1,
        walltime=settings.walltime,
        resources=settings.resources.request(amounts),
        besteffort=settings.besteffort and not is_test,
        queue=settings.queue,
        project=settings.project,
        properties=settings.properties,
        types=settings.types,
        backend=settings.backend,
    )
