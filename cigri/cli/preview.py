"""What a campaign would run on each cluster: for `gridsub --check` and `--details`."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from cigri.jdl import ClusterSettings, Command, Description
from cigri.requirements import BUILT_IN, parse_requirement
from cigri.text.units import COUNTED_IN_MB, as_clock

SHOWN_TASKS = 3
SHOWN_LINES = 50
LONGEST_PREVIEW_LINE = 1000
GROUPING = {  # one after the other, side by side
    (True, True): "short tasks, several in a job",
    (True, False): "short tasks, several in a job, one after the other",
    (False, True): "short tasks, several in a job, side by side",
    (False, False): "never: one task in a job",
}


def preview(description: Description, user: str, missing: Collection[str], campaign_id: int | None) -> Iterator[str]:
    """Lines for a person; `missing` are the clusters that do not exist, `campaign_id` is None while it has none."""
    for line in _lines(description, user, missing, campaign_id):
        yield line if len(line) <= LONGEST_PREVIEW_LINE else f"{line[:LONGEST_PREVIEW_LINE]}..."


def _lines(description: Description, user: str, missing: Collection[str], campaign_id: int | None) -> Iterator[str]:
    kind = (
        f"{description.campaign_type}, {description.scheduler}" if description.scheduler else description.campaign_type
    )
    yield f"campaign {description.name} ({kind}) of {user}: {_tasks(description.count)}"
    if description.project:
        yield f"  project      {description.project}"
    if description.priority:
        yield f"  priority     {description.priority} among your campaigns"
    if replicate := description.replicate:
        share = f"{100 * replicate.budget:g} % of the core-seconds used"
        yield f"  replicate    the last tasks, with at most {share}, {replicate.max_replicas} at a time for each task"
    if (wanted := description.requirements) is not None:
        yield f"  requirements {parse_requirement(wanted, BUILT_IN)}"
    for name, settings in _places(description):
        yield f"  on {name}{' (NO SUCH CLUSTER)' if name in missing else ''}:"
        for label, value in _facts(settings):
            yield f"    {label:<12} {value}"
        for number, (directory, line) in enumerate(_commands(description, settings, campaign_id)):
            yield f"    task {number:<7} cd {directory} && {line}"
        if description.count > SHOWN_TASKS:
            yield f"    and {_tasks(description.count - SHOWN_TASKS)} more"


def _places(description: Description) -> Iterator[tuple[str, ClusterSettings]]:
    """Clusters that the grid may choose are one place, but for those on which a rule has changed something."""
    if description.anywhere:
        yield "any eligible cluster", description.anywhere
    for name, settings in description.clusters.items():
        if settings != description.anywhere:
            yield name, settings


def preview_json(description: Description, user: str, campaign_id: int | None) -> dict[str, Any]:
    """The same for a program."""
    return {
        "name": description.name,
        "user": user,
        "type": description.campaign_type,
        "scheduler": description.scheduler,
        "project": description.project,
        "priority": description.priority,
        "replicate": description.replicate.model_dump() if description.replicate else None,
        "requirements": description.requirements,
        "tasks": description.count,
        "anywhere": description.anywhere.model_dump(mode="json") if description.anywhere else None,
        "clusters": {
            name: {
                "settings": settings.model_dump(mode="json"),
                "commands": [line for _, line in _commands(description, settings, campaign_id)],
            }
            for name, settings in description.clusters.items()
        },
    }


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
        every = f", every {as_clock(checkpoint.period)}" if checkpoint.period else ""
        yield "checkpoint", f"SIG{checkpoint.signal} {as_clock(checkpoint.before_walltime)} before the walltime{every}"
    if settings.idempotent:
        yield "idempotent", "yes"
    ways = (settings.temporal_grouping, settings.may_share_a_node)
    yield "grouping", GROUPING[ways]
    for step in ("prologue", "epilogue"):
        lines = getattr(settings, step)
        for line in lines[:SHOWN_LINES]:
            yield step, line
        if len(lines) > SHOWN_LINES:
            yield step, f"and {len(lines) - SHOWN_LINES} more lines"


def _amount(name: str, amount: int | str) -> str:
    if isinstance(amount, str):
        return f"{name} = {amount}"
    return f"{amount} MB{' of tmp' if name == 'tmp' else ''}" if name in COUNTED_IN_MB else f"{amount} {name}"


def _commands(
    description: Description, settings: ClusterSettings, campaign_id: int | None
) -> Iterator[tuple[str, str]]:
    """Directory and command of the first tasks, quoted as a shell would need them; an unknown campaign is number 0."""
    command = Command(settings, description.names)
    for number, parameter in enumerate(islice(description.parameters(), SHOWN_TASKS)):
        values = {"campaign_id": campaign_id or 0, "number": number}
        words = [word.quoted() for word in command.words(parameter, **values)]
        variables = [f"{name}={value!r}" for name, value in command.environment(parameter, **values).items()]
        yield command.directory(parameter, **values).quoted(), " ".join([*variables, *words])
