"""Options of the batch systems in a campaign, which override what it says, and the tables of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cigri.api_models.submissions import BackendOptionTableView, BackendOptionView
from cigri.backend_options import IGNORED, ClusterBackendOptions
from cigri.drivers import Driver
from cigri.errors import ConfigError, DescriptionProblem, UsageError
from cigri.jdl import ClusterSettings
from cigri.submission.feedback import SubmissionFeedback

if TYPE_CHECKING:
    from cigri.backend_options import BackendOptionTable
    from cigri.drivers import Driver
    from cigri.jdl import CampaignDescription, ClusterSettings
    from cigri.settings.cluster_config import ClusterConfig


def apply_backend_options(
    description: "CampaignDescription",
    choices: Sequence[ClusterBackendOptions],
    clusters: "Mapping[str, ClusterConfig]",
    remarks: SubmissionFeedback,
) -> "CampaignDescription":
    """The description with its own options and those of the command line in force."""
    for choice in choices:
        if choice.cluster and choice.cluster not in description.clusters:
            message = f"the campaign has {', '.join(description.clusters)} only"
            remarks.problems.append(DescriptionProblem(f"-b {choice.cluster}", message))
    if description.anywhere and (description.anywhere.backend or any(not choice.cluster for choice in choices)):
        message = "the grid chooses the clusters, and each kind has options of its own"
        remarks.problems.append(
            DescriptionProblem("backend", message, "name the clusters, or write -b CLUSTER:OPTIONS")
        )
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
            remarks.problems.append(DescriptionProblem(f"clusters.{cluster}.backend", str(error), hint))
    return replace(description, clusters=parts, written=written)


def _obeyed(
    cluster: str,
    config: "ClusterConfig",
    settings: "ClusterSettings",
    words: Sequence[str],
    remarks: SubmissionFeedback,
) -> "ClusterSettings":
    pass

    try:
        driver = _load(config.driver, config.options)
    except ConfigError as error:
        raise ValueError(f"cannot be checked: {error}") from None
    if driver.backend is None:
        remarks.notes.append(f"{cluster} {IGNORED}")
    return override(settings, driver, words)


def tables(clusters: "Mapping[str, ClusterConfig]", named: Collection[str]) -> list[BackendOptionTableView]:
    """What the drivers of the clusters take: of those named, or of all."""
    if unknown := sorted(set(named) - clusters.keys()):
        raise UsageError(f"there is no cluster {unknown[0]!r}; there are: {', '.join(sorted(clusters)) or 'none yet'}")
    places: dict[str, list[str]] = {}
    for name, config in sorted(clusters.items()):
        if not named or name in named:
            places.setdefault(config.driver, []).append(name)
    return [_table(driver, some, _load(driver, clusters[some[0]].options).backend) for driver, some in places.items()]


def _table(driver: str, clusters: list[str], table: "BackendOptionTable | None") -> BackendOptionTableView:
    if table is None:
        return BackendOptionTableView(driver, clusters, None, "")
    options = [
        BackendOptionView(option.spelling, ", ".join(option.attributes), option.field, option.help)
        for option in table.options
    ]
    return BackendOptionTableView(driver, clusters, options, table.note)


def _load(driver: str, options: Mapping[str, Any]) -> "Driver":
    from cigri.drivers import load

    return load(driver, options)


# Options of one submission laid over a campaign's settings on a cluster, field by field; pure.

OF_RESOURCES = ("cpu", "mem", "tmp")


def override(settings: ClusterSettings, driver: Driver, words: Sequence[str] = ()) -> ClusterSettings:
    """The settings with their own `backend` and then `words` obeyed; ValueError with all that is wrong.

    What has a field of its own is found there afterwards, the rest in `backend`.
    """
    if driver.backend is None:
        return settings.model_copy(update={"backend": ()})
    chosen = driver.read_backend(settings.backend) | driver.read_backend(words)
    fields, words_left = _sorted(driver, chosen)
    given = settings.model_dump() | {"backend": words_left}
    given["resources"] = given["resources"] | {name: fields.pop(name) for name in OF_RESOURCES if name in fields}
    given |= {name: value.split("\n") if name == "resources" else value for name, value in fields.items()}
    try:
        return ClusterSettings.model_validate(given)
    except ValidationError as wrong:
        raise ValueError("; ".join(_text(error["loc"], error["msg"]) for error in wrong.errors())) from None


def _sorted(driver: Driver, chosen: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Values by field, and the words for what has none."""
    assert driver.backend is not None
    field_of = {option.name: option.field for option in driver.backend.options}
    fields: dict[str, Any] = {field_of[name]: value for name, value in chosen.items() if field_of[name]}
    words_left = [f"--{name}={value}" for name, value in sorted(chosen.items()) if not field_of[name]]
    return fields, words_left


def _text(place: Sequence[int | str], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message}"
