"""Options of the batch systems in a campaign, which override what it says, and the tables of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cigri.api_models.submissions import BackendOptionView, BackendTableView
from cigri.backend.choices import IGNORED, BackendChoice
from cigri.errors import ConfigError, Problem, UsageError
from cigri.submission.feedback import Remarks

if TYPE_CHECKING:
    from cigri.backend_options import BackendTable
    from cigri.drivers import Driver
    from cigri.jdl import ClusterSettings, Description
    from cigri.settings.cluster_config import ClusterConfig


def obey(
    description: "Description",
    choices: Sequence[BackendChoice],
    clusters: "Mapping[str, ClusterConfig]",
    remarks: Remarks,
) -> "Description":
    """The description with its own options and those of the command line in force."""
    for choice in choices:
        if choice.cluster and choice.cluster not in description.clusters:
            message = f"the campaign has {', '.join(description.clusters)} only"
            remarks.problems.append(Problem(f"-b {choice.cluster}", message))
    if description.anywhere and (description.anywhere.backend or any(not choice.cluster for choice in choices)):
        message = "the grid chooses the clusters, and each kind has options of its own"
        remarks.problems.append(Problem("backend", message, "name the clusters, or write -b CLUSTER:OPTIONS"))
        return description
    from cigri.jdl.writing import with_options_of_backend

    parts, written = dict(description.clusters), description.written
    for cluster, settings in description.clusters.items():
        words = [word for choice in choices if choice.cluster in ("", cluster) for word in choice.words]
        if not words and not settings.backend:
            continue
        if cluster not in clusters:
            remarks.notes.append(f"the options of the batch system of {cluster} were not checked")
            continue
        written = with_options_of_backend(written, cluster, [*settings.backend, *words])
        try:
            parts[cluster] = _obeyed(cluster, clusters[cluster], settings, words, remarks)
        except ValueError as error:
            hint = f"`gridsub -b {cluster}:-h` shows what it takes"
            remarks.problems.append(Problem(f"clusters.{cluster}.backend", str(error), hint))
    return replace(description, clusters=parts, written=written)


def _obeyed(
    cluster: str,
    config: "ClusterConfig",
    settings: "ClusterSettings",
    words: Sequence[str],
    remarks: Remarks,
) -> "ClusterSettings":
    from cigri.backend.overriding import override

    try:
        driver = _load(config.driver, config.options)
    except ConfigError as error:
        raise ValueError(f"cannot be checked: {error}") from None
    if driver.backend is None:
        remarks.notes.append(f"{cluster} {IGNORED}")
    return override(settings, driver, words)


def tables(clusters: "Mapping[str, ClusterConfig]", named: Collection[str]) -> list[BackendTableView]:
    """What the drivers of the clusters take: of those named, or of all."""
    if unknown := sorted(set(named) - clusters.keys()):
        raise UsageError(f"there is no cluster {unknown[0]!r}; there are: {', '.join(sorted(clusters)) or 'none yet'}")
    places: dict[str, list[str]] = {}
    for name, config in sorted(clusters.items()):
        if not named or name in named:
            places.setdefault(config.driver, []).append(name)
    return [_table(driver, some, _load(driver, clusters[some[0]].options).backend) for driver, some in places.items()]


def _table(driver: str, clusters: list[str], table: "BackendTable | None") -> BackendTableView:
    if table is None:
        return BackendTableView(driver, clusters, None, "")
    options = [
        BackendOptionView(option.spelling, ", ".join(option.attributes), option.field, option.help)
        for option in table.options
    ]
    return BackendTableView(driver, clusters, options, table.note)


def _load(driver: str, options: Mapping[str, Any]) -> "Driver":
    from cigri.drivers import load

    return load(driver, options)
