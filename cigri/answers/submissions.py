"""What becomes, or would become, of a description."""

from typing import Any, NamedTuple

from cigri.errors import Problem


class PlacePreview(NamedTuple):
    """On one cluster: the settings in force, and of the first tasks the directory and the command, quoted for sh."""

    settings: dict[str, Any]
    directories: list[str]
    commands: list[str]


class CampaignPreview(NamedTuple):
    """A campaign as it would be stored, or is.

    `anywhere`: the settings on clusters that the grid chooses; `on_any`: the same with the first tasks.
    """

    name: str
    user: str
    type: str
    scheduler: str
    project: str
    priority: int
    replicate: dict[str, Any] | None
    requirements: Any
    tasks: int
    anywhere: dict[str, Any] | None
    clusters: dict[str, PlacePreview]
    on_any: PlacePreview | None


class HostPath(NamedTuple):
    """As it is written, or below the home directory of whoever runs the task."""

    is_below_home: bool
    text: str


class TaskStart(NamedTuple):
    """What a task starts where jobs run on this very host, and where; `search`: its PATH, None: that of the user.

    `may_be_made`: a prologue runs before.
    """

    cluster: str
    directory: HostPath
    program: HostPath
    search: str | None
    may_be_made: bool


class CheckedCampaign(NamedTuple):
    """A description that was looked at; None: it describes no campaign, or no rule admits it.

    `changes` were made by rules of admission, `dropped` counts the tasks that a test leaves out. For the `problems` it
    would be refused, for the `notes` it would not. `missing`: the clusters that it names and that there are not.
    """

    campaign: CampaignPreview | None
    changes: list[str]
    dropped: int
    problems: list[Problem]
    notes: list[str]
    missing: list[str]
    starts: list[TaskStart]


class SubmittedCampaign(NamedTuple):
    """A campaign that is stored now, or was when the same key was sent before; fields as of CheckedCampaign.

    `campaign` is None if it was stored before, and would be refused now.
    """

    id: int
    campaign: CampaignPreview | None
    changes: list[str]
    dropped: int
    notes: list[str]


class AddedTasks(NamedTuple):
    """So many tasks are added to a campaign, or would be."""

    id: int
    added: int


class BackendOptionView(NamedTuple):
    """An option in a batch system's own spelling, and which settings it overrides."""

    option: str
    attribute: str
    overrides: str
    meaning: str


class BackendTableView(NamedTuple):
    """What the clusters of one kind of batch system take of it; None: nothing, what is given there is ignored."""

    driver: str
    clusters: list[str]
    options: list[BackendOptionView] | None
    note: str
