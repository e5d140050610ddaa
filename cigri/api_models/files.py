"""What tasks wrote, as it is brought from where they ran."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import TaskState


class TaskOutputSummary(NamedTuple):
    """A task that has ended, and where the attempt ran whose outputs are its own."""

    number: int
    """Its number in the campaign."""
    attempt: int
    """Which attempt it was: the one that was a success, or the last."""
    state: TaskState
    """How the task ended."""
    cluster: str
    """Where its outputs lie."""
    files: int
    """How many files it has brought, of those that its campaign wants."""
    bytes: int
    """How much they are."""
    is_stored: bool
    """Whether they have been collected, and lie in the grid's store."""
    place: str | None
    """Where they have been written, and are no longer on the cluster; null: they are to be fetched."""
    mode: str | None
    """The mode that its campaign wants for files that it shares, as 0640; null: they are their owner's alone."""
    group: str | None
    """The group that shared files are given to; null or empty: the one that they have anyway."""


class StreamContent(NamedTuple):
    """An output of a task, or a part of it."""

    number: int
    """The task's number in the campaign."""
    attempt: int
    """Which attempt wrote it."""
    stream: str
    """Which one it is: out or err."""
    size: int | None
    """Its bytes in all; null: there is no such file, or something in its place that is none."""
    content: str
    """Its bytes, from the offset on that was asked for, in base64."""


class StreamContents(NamedTuple):
    """As many outputs as one answer holds; who wants the others asks for them again."""

    outputs: list[StreamContent]
    """In the order of the numbers; the last one may be a part."""


class OutputFileContent(NamedTuple):
    """A file that a task has brought, or a part of it."""

    number: int
    """The task's number in the campaign."""
    attempt: int
    """Which attempt wrote it."""
    path: str
    """Where it stood below the directory of the task; bytes that are no letters or digits are percent-encoded."""
    size: int | None
    """Its bytes in all; null: ask for it alone."""
    content: str
    """Its bytes, from the offset on that was asked for, in base64."""


class OutputFileContents(NamedTuple):
    """As many as one answer holds; none: there are no more."""

    files: list[OutputFileContent]
    """The last one may be a part."""


# Inputs as they are sent to the grid.


class LackedInputs(NamedTuple):
    """Inputs of which not all has come from you."""

    sums: list[str]
    """Their SHA-256 sums."""


class TakenInputs(NamedTuple):
    """What became of small inputs that were sent together."""

    taken: int
    """How many are stored: campaigns may name them."""
    wrong: list[str]
    """The sums of those whose bytes have another one, which are not."""


class InputUploadStatus(NamedTuple):
    """How much of an input the grid has from you."""

    sha256: str
    """The SHA-256 of its content."""
    held: int
    """Bytes of it that have come; the next ones are sent from there on."""
    is_stored: bool
    """Whether all have come, and are the right ones: campaigns may name it."""


class InputVersionView(NamedTuple):
    """A file that tasks of a campaign have on a cluster, or had there before another one was sent in its place."""

    cluster: str
    """Where."""
    version: int
    """Counts the inputs of the campaign there, all together: 1 are those of its submission."""
    replaced_at: datetime | None
    """When others were sent in their place; null: tasks that start now have them."""
    to: str
    """The name by which tasks find it."""
    path: str
    """The path on the host of the user, as it was written."""
    sha256: str
    """The SHA-256 of its content."""
    size: int
    """Its bytes."""
    packed: bool
    """Whether it was a directory, and its content is an archive of it."""


class CampaignInputs(NamedTuple):
    """What a campaign takes along, and took along before."""

    id: int
    """The campaign's number."""
    sent_from: str | None
    """Where relative paths began, on the host of the user; null: nobody knows."""
    inputs: list[InputVersionView]
    """By cluster, the latest version first."""


class RefreshedInputs(NamedTuple):
    """What became of new inputs of a campaign."""

    id: int
    """The campaign's number."""
    replaced: int
    """How many inputs have another content from now on."""
    recalled: int
    """Jobs that waited in queues with the earlier ones: they are taken back, and their tasks get the new ones."""
    running: int
    """Jobs that run with the earlier ones, and go on with them."""
