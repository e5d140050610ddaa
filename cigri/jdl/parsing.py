"""From text to a campaign: every problem is found before any is told."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.jdl.appending import check_added, with_append
from cigri.jdl.cluster_settings import ClusterSettings, JobDefaults
from cigri.jdl.command import unknown_names, unused_columns, unused_names
from cigri.jdl.command_length import check_length
from cigri.jdl.description import CampaignDescription, CampaignFields
from cigri.jdl.dirac import is_dirac, translate
from cigri.jdl.earlier_fields import (
    DESTINATION,
    FIELDS_OF_LATER,
    GATHERING,
    Block,
    gathered,
    is_desktop,
    is_test,
    without_later,
)
from cigri.jdl.parameter_files import ParameterFileLines, is_table
from cigri.jdl.parameter_tables import ParameterTable
from cigri.jdl.parameters import SOURCES, Parameter, names_of, parse_items, parse_source
from cigri.jdl.problems import ProblemCounter, did_you_mean, place_of, problem_of, shown
from cigri.jdl.shell_lines import SHELL_FIELD, read_by_shell
from cigri.jdl.stages import STAGES
from cigri.jdl.storable_values import check_plain
from cigri.jdl.sweep import SizedIterable
from cigri.jdl.text_formats import Format, read
from cigri.jdl.value_types import HOME
from cigri.jdl.writing import as_written

FIELDS_OF_FILES = ("inputs", "task_inputs", "outputs", "output_file")
"""With one of them each task has a directory of its own, unless another one is named."""
ANYWHERE_KEY = ""
"""The name of the block that holds for all clusters, where the grid chooses them."""
CAMPAIGN_FIELDS = (*CampaignFields.model_fields, "clusters", "jobs_type", "test_mode", *SOURCES)
OF_CLUSTERS = {
    *ClusterSettings.model_fields,
    *FIELDS_OF_LATER,
    SHELL_FIELD,
    "cluster_job_type",
    "output_file",
    GATHERING,
    DESTINATION,
}
KNOWN_FIELDS = sorted({*OF_CLUSTERS, *CAMPAIGN_FIELDS, STAGES})

USUAL_DEFAULTS = JobDefaults()
Model = TypeVar("Model", bound=BaseModel)


def parse(
    text: str, *, format: Format | None = None, base: Path, home: Path, defaults: JobDefaults = USUAL_DEFAULTS
) -> CampaignDescription:
    """The campaign a text describes; raise DescriptionError with all that is wrong.

    `param_file` is read here, as the calling user: relative to `base`, with `home` for ~, $HOME and {HOME}.
    """
    described = read_description(text, format)
    lines: list[object] = []
    faults: list[DescriptionProblem] = []
    try:
        lines += param_file(described, base, home)
    except DescriptionError as error:
        faults = error.problems
    return parse_described(described, lines, defaults, faults)


def read_description(text: str, format: Format | None) -> object:
    """The object that a text describes; the text itself where it is in DIRAC's language."""
    text = text.removeprefix("\ufeff")
    return text if format is None and is_dirac(text) else read(text, format)


def param_file(described: object, base: Path, home: Path) -> ParameterFileLines | ParameterTable | tuple[()]:
    """The lines, or the rows, of the file that a description names, if it does.

    It is relative to `base`, with `home` for ~ and $HOME.
    """
    named = [value for key, value in described.items() if key.lower() == "param_file"] if is_object(described) else []
    if len(named) != 1 or not isinstance(named[0], str):
        return ()
    lines = ParameterFileLines(base / HOME.sub(lambda _: str(home), named[0].strip(), count=1))
    return ParameterTable(named[0].strip(), lines) if is_table(named[0]) else lines


def without_params(described: object) -> tuple[object, list[object]]:
    """A description whose params are an empty list, and what they were; as it is, where they are not clear."""
    keys = [key for key in described if key.lower() == "params"] if is_object(described) else []
    if len(keys) != 1 or not is_object(described) or not isinstance(params := described[keys[0]], list):
        return described, []
    return {**described, keys[0]: []}, params


def is_object(described: object) -> TypeGuard[dict[str, Any]]:
    """Has it fields? Anything else is told to be no description by whoever parses it."""
    return isinstance(described, dict)


def parse_described(
    described: object,
    beside: SizedIterable[object],
    defaults: JobDefaults = USUAL_DEFAULTS,
    faults: Sequence[DescriptionProblem] = (),
) -> CampaignDescription:
    """The campaign that an object describes, or a text in DIRAC's language; raise DescriptionError with all problems.

    `beside` it are its parameters, or the lines of its param_file; `faults` are known already, and told with the rest.
    """
    if not isinstance(described, str) or not is_dirac(described):
        return _campaign(described, beside, defaults, faults)
    translation = translate(described)
    try:
        return _campaign(translation.fields, beside, defaults, faults, translation.tasks)
    except DescriptionError as error:
        raise DescriptionError(list(map(translation.located, error.problems))) from None


def _campaign(
    value: object,
    beside: SizedIterable[object],
    defaults: JobDefaults,
    faults: Sequence[DescriptionProblem],
    known_tasks: SizedIterable[Parameter] | None = None,
) -> CampaignDescription:
    """`known_tasks`: those that the description does not name itself."""
    problems = [*faults]
    top = _lowered(value, problems)
    _check_plain(top)
    if STAGES in top:
        hint = "`gridsub` makes campaigns of them, and what calls the portal itself sends these to /campaigns/stages"
        raise DescriptionError([DescriptionProblem(STAGES, "are several campaigns, and here is place for one", hint)])
    blocks = _blocks(top, problems)
    heading = _heading(top, blocks, problems)
    before = len(problems)
    clusters = _clusters(top, blocks, defaults, problems)
    are_sound = len(problems) == before
    wants_desktop = is_desktop(top, problems)
    tasks = known_tasks or (None if wants_desktop else parse_source(top, beside, problems))
    first = next(iter(tasks), None) if tasks is not None else None
    names = names_of(first)
    if names or (first is not None and known_tasks is None):  # DIRAC's language has marks of its own
        problems += unknown_names(clusters, names, lambda *steps: _origin(top, blocks, *steps))
    if names and are_sound:
        problems += (
            unused_columns(clusters, names) if is_table(top.get("param_file")) else unused_names(clusters, names)
        )
    if heading and heading.replicate and any(part.task_inputs for part in clusters.values()):
        message = "tasks with inputs of their own are not replicated: these are on one cluster only"
        problems.append(DescriptionProblem("replicate", message, "leave it out, or name the files in inputs"))
    if tasks is not None:
        clusters = with_append(clusters, tasks, problems)
    if tasks is not None and not problems:
        check_length(clusters, tasks, problems)
    if problems or heading is None or tasks is None:
        raise DescriptionError(list(dict.fromkeys(problems)))
    anywhere, written = clusters.pop(ANYWHERE_KEY, None), as_written(top, heading.campaign_type)
    is_unplaced = "clusters" not in top and not top.get("requirements")
    return CampaignDescription(
        **dict(heading), clusters=clusters, tasks=tasks, anywhere=anywhere, written=written, is_unplaced=is_unplaced
    )


def additional(
    items: SizedIterable[object], clusters: Mapping[str, ClusterSettings], *, like: Parameter | None = None
) -> SizedIterable[Parameter]:
    """More parameters for a campaign on these clusters: of the kind, and with the names, of one that it has."""
    problems: list[DescriptionProblem] = []
    parameters = parse_items(items, problems, like)
    if not problems:
        check_added(clusters, parameters, problems)
        check_length(clusters, parameters, problems, partial(place_of, "params"))
    if problems:
        raise DescriptionError(problems)
    return parameters


def _check_plain(top: Block) -> None:
    """Of what everything below relies on; parameters may be millions, and each is looked at when it is read."""
    problems: list[DescriptionProblem] = []
    faults = ProblemCounter(problems, "such problems")
    check_plain({name: value for name, value in top.items() if name not in SOURCES}, faults)
    faults.close("the description")
    if problems:
        raise DescriptionError(problems)


def _lowered(value: object, problems: list[DescriptionProblem]) -> dict[str, Any]:
    """The top of the description; CiGri takes its keys in any case."""
    if not isinstance(value, dict):
        raise DescriptionError(
            [DescriptionProblem("the description", f"expected an object of fields, not {shown(value)}")]
        )
    top: dict[str, Any] = {}
    for key, content in value.items():
        if key.lower() in top:
            problems.append(DescriptionProblem(key, "is given twice, with capitals and without"))
        top[key.lower()] = content
    return {key: content for key, content in top.items() if content is not None}


def _blocks(top: Block, problems: list[DescriptionProblem]) -> dict[str, Block]:
    """What each cluster's block holds of its own."""
    clusters = top.get("clusters")
    if clusters is None or _is_any(clusters):
        return {ANYWHERE_KEY: {}}
    if isinstance(clusters, list) and all(isinstance(name, str) for name in clusters):
        clusters = dict.fromkeys(clusters)
    if not isinstance(clusters, dict) or not clusters:
        hint = 'for example {"dahu": {}} or ["dahu"], or "any" to use all that are eligible'
        problems.append(DescriptionProblem("clusters", f"expected clusters by name, not {shown(clusters)}", hint))
        return {}
    blocks: dict[str, Block] = {}
    for name, block in clusters.items():
        if not name.strip():
            problems.append(DescriptionProblem("clusters", "a cluster has a name"))
        elif block is None or isinstance(block, dict):
            blocks[name] = block or {}
        else:
            place = place_of("clusters", name)
            problems.append(
                DescriptionProblem(
                    place, f"expected an object of fields, not {shown(block)}", "write {} for no own fields"
                )
            )
    return blocks


def _is_any(clusters: object) -> bool:
    return isinstance(clusters, str) and clusters.strip().lower() == "any"


def _heading(top: Block, blocks: Mapping[str, Block], problems: list[DescriptionProblem]) -> CampaignFields | None:
    given = {key: top[key] for key in CampaignFields.model_fields if key in top}
    if is_test(top, blocks, problems) and given.setdefault("campaign_type", "test") != "test":
        problems.append(DescriptionProblem("test_mode", "contradicts campaign_type", "leave one of them out"))
    return _validated(CampaignFields, given, place_of, problems)


def _clusters(
    top: Block, blocks: Mapping[str, Block], defaults: JobDefaults, problems: list[DescriptionProblem]
) -> dict[str, ClusterSettings]:
    """The settings of each cluster; what the top says holds where the cluster says nothing."""
    unknown = ProblemCounter(problems, "fields are unknown")
    top = gathered(top, place_of, problems)
    blocks = {name: gathered(block, partial(place_of, "clusters", name), problems) for name, block in blocks.items()}
    shared = {key: value for key, value in top.items() if key not in CAMPAIGN_FIELDS or key == "project"}
    shared = without_later(_known(shared, place_of, unknown), place_of, problems)
    _check_shared(read_by_shell(shared, place_of, problems), problems)
    clusters = {}
    for name, block in blocks.items():
        for key in block:
            if (key in CAMPAIGN_FIELDS and key not in ("project", "test_mode")) or key == "task_inputs":
                problems.append(
                    DescriptionProblem(place_of("clusters", name, key), "belongs at the top, not in a cluster")
                )
        own = {key: value for key, value in block.items() if key not in CAMPAIGN_FIELDS or key == "project"}

        def place(*steps: str | int, name: str = name) -> str:
            return _origin(top, blocks, "clusters", name, *steps)

        given = shared | without_later(_known(own, place, unknown), place, problems)
        given = read_by_shell(given, place, problems)
        if str(given.get("own_directory")).strip().lower() == "true" and given.get("exec_directory") is not None:
            problems.append(
                DescriptionProblem(place("own_directory"), "contradicts exec_directory", "leave one of them out")
            )
        if any(given.get(field) for field in FIELDS_OF_FILES) and given.get("exec_directory") is None:
            given.setdefault("own_directory", True)
        given = defaults.filled({key: value for key, value in given.items() if value is not None})
        if settings := _validated(ClusterSettings, given, place, problems) or _sound_part(given):
            clusters[name] = settings
    unknown.close("the description")
    return clusters


def _known(block: Block, place: Callable[..., str], unknown: ProblemCounter) -> dict[str, Any]:
    """The fields that there are; what might be meant is looked for as often as it is told."""
    for key in (key for key in block if key not in OF_CLUSTERS):
        unknown.add(place(key), "unknown field", "" if unknown.is_full else did_you_mean(key, KNOWN_FIELDS))
    return {key: value for key, value in block.items() if key in OF_CLUSTERS}


def _sound_part(given: Block) -> ClusterSettings | None:
    """The settings without the wrong ones, so that what is left is looked at too."""
    try:
        ClusterSettings.model_validate(given)
    except ValidationError as invalid:
        wrong = {error["loc"][0] for error in invalid.errors()}
        return None if "exec_file" in wrong else ClusterSettings(**{k: v for k, v in given.items() if k not in wrong})
    return None


def _check_shared(shared: Block, problems: list[DescriptionProblem]) -> None:
    """What the top says is checked even where every cluster says otherwise, its walltime too."""
    _validated(ClusterSettings, {"exec_file": "true", "walltime": LARGEST_INTEGER, **shared}, place_of, problems)


def _origin(top: Block, blocks: Mapping[str, Block], *steps: str | int) -> str:
    """Where a cluster's setting was written: in its block, or at the top, or nowhere, which is told of the top."""
    match steps:
        case ("clusters", str(cluster), str(key), *_) if (
            cluster == ANYWHERE_KEY
            or (key in top and key not in blocks[cluster])
            or all(key not in block for block in blocks.values())
        ):
            return place_of(*steps[2:])
        case _:
            return place_of(*steps)


def _validated(
    model: type[Model], given: Block, place: Callable[..., str], problems: list[DescriptionProblem]
) -> Model | None:
    try:
        return model.model_validate(given)
    except ValidationError as invalid:
        for error in invalid.errors():
            steps = [step for step in error["loc"] if step != "[key]"]
            problems.append(problem_of(error, place(*steps), KNOWN_FIELDS))
        return None
