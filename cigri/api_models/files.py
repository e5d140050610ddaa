"""What tasks wrote, as it is brought from where they ran."""

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
