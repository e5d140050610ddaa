"""A description is looked at as a submission is, by the settings of the process that looks, and nothing is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic import ValidationError

from cigri import admission, jdl
from cigri.backend_options import ClusterBackendOptions, read_choices
from cigri.errors import AdmissionRefused, AdmissionRuleFailed, DescriptionError, DescriptionProblem
from cigri.flow.clusters import list_every_cluster
from cigri.flow.dependencies import find_required
from cigri.flow.event_fixes import end_broken_rules, put_broken_rule
from cigri.flow.submissions import list_impossible, tested_tasks
from cigri.identity.callers import Caller
from cigri.jdl import CampaignDescription, Parameter
from cigri.jdl.problems import problem_of
from cigri.jdl.sweep import SizedIterable
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import Settings
from cigri.submission.backend_options import apply_backend_options
from cigri.submission.cluster_placement import (
    drop_unable_clusters,
    drop_unknown_clusters,
    place_on_all_clusters,
    place_on_eligible_clusters,
    unheard,
    unknown_clusters,
)
from cigri.submission.driver_checks import task_peaks
from cigri.submission.feedback import SubmissionFeedback
from cigri.submission.local_submission import on_local
from cigri.submission.new_campaign import new_campaign, wanted_before

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.jdl.task_amounts import Peaks


NO_STAGES: Mapping[str, int] = MappingProxyType({})


class SubmissionOptions(NamedTuple):
    """What its user says beside the description: `fields` count as written in it."""

    fields: Mapping[str, Any]
    is_local: bool
    backend: Sequence[ClusterBackendOptions]

    def without(self, field: str) -> "SubmissionOptions":
        """The others."""
        return self._replace(fields={name: value for name, value in self.fields.items() if name != field})


def wishes_of(
    type: str | None,
    priority: int | None,
    local: bool,
    backend: Sequence[str] | None,
    behind: Sequence[str] | None = None,
) -> SubmissionOptions:
    """Raise UsageError for options of a batch system that are none. None: the description says it."""
    fields = {"campaign_type": type, "priority": priority, "after": behind or None}
    given = {name: value for name, value in fields.items() if value is not None}
    return SubmissionOptions(given, local, read_choices(backend or ()))


class ExaminedDescription(NamedTuple):
    """None: it describes no campaign, or no rule admits it. `changes` were made by rules of admission, `dropped` counts
    the tasks that a test leaves out, `missing` are the clusters that there are not."""

    description: CampaignDescription | None
    changes: list[str]
    dropped: int
    missing: list[str]
    clusters: Mapping[str, ClusterConfig]


def check_submission(
    database: "Database | None",
    settings: Settings,
    caller: Caller,
    described: object,
    beside: SizedIterable[object],
    wishes: SubmissionOptions,
    remarks: SubmissionFeedback,
    stages: Mapping[str, int] = NO_STAGES,
) -> ExaminedDescription:
    """With the database away nothing is asked about clusters. `beside` are the parameters of cigri.jdl.

    `stages` are to be stored before it, of so many tasks each.
    """
    user = caller.user
    clusters = declared(database) if database else {}
    nothing = ExaminedDescription(None, [], 0, [], clusters)
    description = _parse(settings, described, beside, wishes, remarks)
    if description is None:
        remarks.problems += unknown_clusters(described, clusters) if database and not wishes.is_local else []
        return nothing
    missing: list[str] = []
    if database:
        place = on_local if wishes.is_local else place_on_all_clusters
        description = place(description, clusters, remarks)
        missing = sorted(description.clusters.keys() - clusters.keys())
        description = drop_unknown_clusters(description, clusters, remarks)
    description = apply_backend_options(description, wishes.backend, clusters, remarks)
    try:
        description, changes = _admit(database, settings, description, user, clusters)
    except AdmissionRefused as refusal:
        remarks.problems.append(DescriptionProblem("", str(refusal)))
        return nothing._replace(missing=missing)
    except DescriptionError as error:
        remarks.problems += error.problems
        return nothing._replace(missing=missing)
    description = place_on_eligible_clusters(database, description) if database else description
    description, dropped = _tested(description)
    peaks, problems = task_peaks(description)
    remarks.problems += problems
    if problems:
        return nothing._replace(missing=missing)
    if database:
        description = _possible(database, settings, description, user, peaks, remarks)
        remarks.notes += unheard(database, description)
        _find_required(database, caller, description, stages, remarks)
    return ExaminedDescription(description, changes, dropped, missing, clusters)


def declared(database: "Database") -> dict[str, ClusterConfig]:
    """Every cluster of the grid."""
    with database.begin() as conn:
        return {cluster.name: cluster.config for cluster in list_every_cluster(conn)}


def ask_rules(
    database: "Database | None",
    settings: Settings,
    description: CampaignDescription,
    user: str,
    clusters: Mapping[str, ClusterConfig],
) -> tuple[CampaignDescription, list[str]]:
    """As admission.admit; operators hear of a rule that is broken, until all rules answer again."""
    rules = admission.find_rules(settings.admission_directory, settings.admission_without)
    try:
        admitted = admission.admit(description, user, rules, clusters)
    except AdmissionRuleFailed as error:
        if database:
            with database.begin() as conn:
                put_broken_rule(conn, user, error.rule, str(error))
        raise
    if database:
        with database.begin() as conn:
            end_broken_rules(conn)
    return admitted


def _parse(
    settings: Settings,
    described: object,
    beside: SizedIterable[object],
    wishes: SubmissionOptions,
    remarks: SubmissionFeedback,
) -> CampaignDescription | None:
    jobs = settings.jobs
    try:
        description = jdl.parse_described(described, beside, jdl.JobDefaults(jobs.walltime, jobs.cpu, jobs.mem))
        return description.with_options(**wishes.fields) if wishes.fields else description
    except DescriptionError as error:
        remarks.problems += error.problems
    except ValidationError as invalid:
        remarks.problems += [problem_of(error, str(error["loc"][0]), ()) for error in invalid.errors()]
    return None


def _admit(
    database: "Database | None",
    settings: Settings,
    description: CampaignDescription,
    user: str,
    clusters: Mapping[str, ClusterConfig],
) -> tuple[CampaignDescription, list[str]]:
    description, changes = ask_rules(database, settings, description, user, clusters)
    _check_scheduler(description.scheduler)
    return description, changes


def _check_scheduler(name: str) -> None:
    """A scheduler is a file; it is looked for without being run."""
    import pkgutil
    from importlib.util import find_spec

    from cigri.jdl.problems import did_you_mean

    spec = find_spec("modules.campaign_schedulers")
    files = pkgutil.iter_modules(spec.submodule_search_locations if spec else None)
    known = [module.name for module in files if not module.ispkg]
    if name and name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(sorted(known))}"
        raise DescriptionError([DescriptionProblem("scheduler", f"there is no campaign scheduler {name!r}", hint)])


def _tested(description: CampaignDescription) -> tuple[CampaignDescription, int]:
    """With as many tasks as the campaign's type runs, and the number of those that are left out."""
    if description.campaign_type != "test":
        return description, 0
    kept = cast("list[Parameter]", [*tested_tasks(description.parameters(), len(description.clusters))])
    return replace(description, tasks=kept), max(0, description.count - len(kept))


def _find_required(
    database: "Database",
    caller: Caller,
    description: CampaignDescription,
    stages: Mapping[str, int],
    remarks: SubmissionFeedback,
) -> None:
    """What it is to wait for is there, or a stage before it."""
    wanted = wanted_before(description)
    outside = [(place, each) for place, each in enumerate(wanted) if each.campaign not in stages]
    with database.begin() as conn:
        found = [*find_required(conn, caller, [each for _, each in outside], description.count)]
    problems = {place: why for (place, _), why in zip(outside, found, strict=True) if isinstance(why, str)}
    for place, each in enumerate(wanted):
        there = stages.get(str(each.campaign), description.count)
        if each.is_same and there < description.count:
            problems[place] = f"stage {each.campaign} has {there:,} tasks, and this one {description.count:,}"
    remarks.problems += [DescriptionProblem(f"after[{place}]", problems[place]) for place in sorted(problems)]


def _possible(
    database: "Database",
    settings: Settings,
    description: CampaignDescription,
    user: str,
    peaks: "Peaks",
    remarks: SubmissionFeedback,
) -> CampaignDescription:
    """As the clusters can take it; what can never be is a problem."""
    description = drop_unable_clusters(database, settings.hours, description, peaks, remarks)
    with database.begin() as conn:
        for sentence in list_impossible(conn, new_campaign(description, user)):
            place, _, message = sentence.partition(": ")
            remarks.problems.append(DescriptionProblem(place, message))
    return description
