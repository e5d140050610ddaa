"""What a campaign would run on each cluster: for `gridsub --check` and `--details`."""

from collections.abc import Collection, Iterator
from typing import Literal

from cigri.api_models.submissions import NEW_DIRECTORY, CampaignPreview, ClusterPreview
from cigri.formats.units import COUNTED_IN_MB, as_clock, as_duration
from cigri.jdl import ClusterSettings
from cigri.jdl.outputs import CollectSettings
from cigri.presentation.formatting import format_size
from cigri.requirements import BUILT_IN, parse_requirement

SHOWN_LINES = 50
LONGEST_PREVIEW_LINE = 1000
COLLECTING = {"success": "after a success", "end": "however the task has ended"}
GROUPING = {  # one after the other, side by side
    (True, True): "short tasks, several in a job",
    (True, False): "short tasks, several in a job, one after the other",
    (False, True): "short tasks, several in a job, side by side",
    (False, False): "never: one task in a job",
}


def preview(campaign: CampaignPreview, missing: Collection[str]) -> Iterator[str]:
    """Lines for a person; `missing` are the clusters that do not exist."""
    for line in _lines(campaign, missing):
        yield line if len(line) <= LONGEST_PREVIEW_LINE else f"{line[:LONGEST_PREVIEW_LINE]}..."


def _lines(campaign: CampaignPreview, missing: Collection[str]) -> Iterator[str]:
    kind = f"{campaign.type}, {campaign.scheduler}" if campaign.scheduler else campaign.type
    yield f"campaign {campaign.name} ({kind}) of {campaign.user}: {_tasks(campaign.tasks)}"
    if campaign.project:
        yield f"  project      {campaign.project}"
    if campaign.priority:
        yield f"  priority     {campaign.priority} among your campaigns"
    for told in campaign.notify:
        yield f"  notify       {told}"
    if replicate := campaign.replicate:
        share = f"{100 * replicate['budget']:g} % of the core-seconds used"
        most = f"at most {share}, {replicate['max_replicas']} at a time for each task"
        yield f"  replicate    the last tasks, with {most}"
    for after in campaign.after:
        yield f"  after        {after}"
    if (wanted := campaign.requirements) is not None:
        yield f"  requirements {parse_requirement(wanted, BUILT_IN)}"
    for name, place in _places(campaign):
        yield f"  on {name}{' (NO SUCH CLUSTER)' if name in missing else ''}:"
        for label, value in _facts(ClusterSettings.model_validate(place.settings)):
            yield f"    {label:<12} {value}"
        for number, (directory, line) in enumerate(zip(place.directories, place.commands, strict=True)):
            yield f"    task {number:<7} {_in(directory)}{line}"
        if (more := campaign.tasks - len(place.commands)) > 0:
            yield f"    and {_tasks(more)} more{', the last of them:' if more > 1 else ':'}"
            yield f"    task {campaign.tasks - 1:<7} {_in(place.last_directory)}{place.last_command}"


def _in(directory: str) -> str:
    return f"({directory}) " if directory == NEW_DIRECTORY else f"cd {directory} && "


def _places(campaign: CampaignPreview) -> Iterator[tuple[str, ClusterPreview]]:
    """Clusters that the grid may choose are one place, but for those on which a rule has changed something."""
    if campaign.on_any:
        yield "any eligible cluster", campaign.on_any
    for name, place in campaign.clusters.items():
        if place.settings != campaign.anywhere:
            yield name, place


def _tasks(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"


def _facts(settings: ClusterSettings) -> Iterator[tuple[str, str]]:
    wish = settings.resources
    cores = "1 core" if wish.cpu == 1 else f"{wish.cpu} cores"
    resources = f"{wish.nodes} x {cores}" if wish.nodes > 1 else cores
    amounts = [_amount(name, amount) for name, amount in wish.amounts.items()]
    yield "resources", " or ".join(wish.native) or ", ".join([resources, *amounts])
    yield "walltime", as_clock(settings.walltime)
    if settings.duration:
        yield "duration", f"{as_clock(settings.duration)} expected"
    yield "type", settings.type
    yield "queue", settings.queue or "(the cluster's default)"
    if settings.types:
        yield "types", ", ".join(settings.types)
    if settings.backend:
        yield "backend", " ".join(settings.backend)
    for label in ("project", "properties", "max_jobs", "retries"):
        if value := getattr(settings, label):
            yield label, str(value)
    if checkpoint := settings.checkpoint:
        before = f"SIG{checkpoint.signal} {as_clock(checkpoint.before_walltime)} before the walltime"
        yield "checkpoint", f"{before}{_how_often(checkpoint.period)}"
    if settings.idempotent:
        yield "idempotent", "yes"
    if settings.outputs:
        yield "outputs", ", ".join(settings.outputs)
        yield from _collecting(settings.collect)
    if shared := settings.outputs_mode:
        yield "outputs mode", f"{shared.mode}{f', group {shared.group}' if shared.group else ''}"
    for needed in settings.inputs[:SHOWN_LINES]:
        kind = "directory, packed " if needed.packed else ""
        yield "input", f"{needed.to} from {needed.path} ({kind}{format_size(needed.size)})"
    if own := settings.task_inputs:
        for file in own.files[:SHOWN_LINES]:
            yield "task input", f"{file.to} from {file.path}"
        yield "task inputs", f"{own.number} different files, {format_size(own.size)}"
    if more := settings.inputs[SHOWN_LINES:]:
        yield "input", f"and {len(more)} more, {format_size(sum(needed.size for needed in more))}"
    ways = (settings.temporal_grouping, settings.may_share_a_node)
    yield "grouping", GROUPING[ways]
    for step in ("prologue", "epilogue"):
        lines = getattr(settings, step)
        for line in lines[:SHOWN_LINES]:
            yield step, line
        if len(lines) > SHOWN_LINES:
            yield step, f"and {len(lines) - SHOWN_LINES} more lines"


def _how_often(period: int | Literal["never"] | None) -> str:
    """A checkpoint is asked for so before the walltime is near."""
    if period is None:
        return ", before that as often as the cluster's kills make it pay"
    return "" if period == "never" else f", every {as_clock(period)}"


def _collecting(collect: CollectSettings) -> Iterator[tuple[str, str]]:
    yield "collect", COLLECTING[collect.when]
    if collect.to is None:
        return
    most = f", at most {collect.max} MB of a task" if collect.max else ""
    yield "collect to", f"{collect.to}{most}"
    kept = f"{as_duration(collect.keep)} more" if collect.keep else "no longer"
    yield "collected", f"stays on the cluster {kept}"


def _amount(name: str, amount: int | str) -> str:
    if isinstance(amount, str):
        return f"{name} = {amount}"
    return f"{amount} MB{' of tmp' if name == 'tmp' else ''}" if name in COUNTED_IN_MB else f"{amount} {name}"
