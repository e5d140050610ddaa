"""What tasks wrote, as it is brought from where they ran."""

from typing import NamedTuple

from cigri.states import TaskState


class WrittenTask(NamedTuple):
    """A task that has ended, and where the attempt ran whose outputs are its own."""

    number: int
    """Its number in the campaign."""
    attempt: int
    """Which attempt it was: the one that was a success, or the last."""
    state: TaskState
    """How the task ended."""
    cluster: str
    """Where its outputs lie."""


class FetchedOutput(NamedTuple):
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


class FetchedOutputs(NamedTuple):
    """As many outputs as one answer holds; who wants the others asks for them again."""

    outputs: list[FetchedOutput]
    """In the order of the numbers; the last one may be a part."""
