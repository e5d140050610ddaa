"""What becomes, or would become, of a description."""

from typing import Any, NamedTuple

from cigri.errors import DescriptionProblem

NEW_DIRECTORY = "in a new directory per task"
"""What stands among directories where a task has no other."""


class ClusterPreview(NamedTuple):
    """What a campaign would do on one cluster."""

    settings: dict[str, Any]
    """The settings in force there."""
    directories: list[str]
    """Where the first tasks would run."""
    commands: list[str]
    """What the first tasks would run, quoted for sh."""
    last_directory: str
    """Where the last task would run."""
    last_command: str
    """What the last task would run, quoted for sh."""


class CampaignPreview(NamedTuple):
    """A campaign as it would be stored, or is."""

    name: str
    """As its user called it."""
    user: str
    """Whose it is."""
    type: str
    """Whether it does its tasks, or tests clusters."""
    scheduler: str
    """The campaign scheduler that it names, or ""."""
    project: str
    """The project it counts for, or ""."""
    priority: int
    """Its priority among its owner's campaigns."""
    replicate: dict[str, Any] | None
    """How its last tasks are replicated; null: not at all."""
    requirements: Any
    """What it requires of nodes."""
    after: list[str]
    """What it waits for, each in words."""
    tasks: int
    """How many tasks it has."""
    anywhere: dict[str, Any] | None
    """The settings on clusters that the grid chooses; null: it names its clusters."""
    clusters: dict[str, ClusterPreview]
    """Each cluster that it names."""
    on_any: ClusterPreview | None
    """A cluster that the grid chooses; null: it names its clusters."""
    notify: list[str]
    """Who is told what happens to it, each with the tags of what."""


class HostPath(NamedTuple):
    """A path on this host."""

    is_below_home: bool
    """Whether it lies below the home directory of whoever runs the task."""
    text: str
    """The path."""


class LocalProgramStart(NamedTuple):
    """What a task starts where jobs run on this very host."""

    cluster: str
    """Where jobs run on this very host."""
    directory: HostPath
    """Where the task runs."""
    program: HostPath
    """What it runs."""
    search: str | None
    """Its PATH; null: that of the user."""
    may_be_made: bool
    """Whether a prologue, which may make the program, runs before."""


class CheckedCampaign(NamedTuple):
    """A description that was looked at."""

    campaign: CampaignPreview | None
    """As it would be stored; null: it describes no campaign, or no rule admits it."""
    changes: list[str]
    """What rules of admission changed."""
    dropped: int
    """Tasks that a test leaves out."""
    problems: list[DescriptionProblem]
    """For these it would be refused."""
    notes: list[str]
    """For these it would not be refused."""
    missing: list[str]
    """Clusters that it names and that there are not."""
    starts: list[LocalProgramStart]
    """What its first task starts on this very host."""


class SubmittedCampaign(NamedTuple):
    """A campaign that is stored now, or was when the same key was sent before."""

    id: int
    """The campaign's number."""
    campaign: CampaignPreview | None
    """As it is stored; null if it was stored before, and would be refused now."""
    changes: list[str]
    """What rules of admission changed."""
    dropped: int
    """Tasks that a test leaves out."""
    notes: list[str]
    """What its user may want to know."""


class AddedTasks(NamedTuple):
    """What became of more tasks for a campaign."""

    id: int
    """The campaign's number."""
    added: int
    """How many tasks are added, or would be."""


class BackendOptionView(NamedTuple):
    """An option in a batch system's own spelling."""

    option: str
    """An option in the batch system's own spelling."""
    attribute: str
    """The name by which its driver knows it."""
    overrides: str
    """The setting that it overrides, or ""."""
    meaning: str
    """What it does."""


class BackendOptionTableView(NamedTuple):
    """What the clusters of one kind of batch system take in its own spelling."""

    driver: str
    """The kind of batch system."""
    clusters: list[str]
    """Those that have it."""
    options: list[BackendOptionView] | None
    """What may be given; null: nothing, what is given is ignored."""
    note: str
    """What else is to be known."""


# Campaigns as their users described them.


class DescriptionView(NamedTuple):
    """A description as it was written; there may be millions of parameters."""

    described: dict[str, Any]
    """What `gridsub` takes."""
    has_list: bool
    """Whether its parameters are left out, and are asked for by themselves."""
