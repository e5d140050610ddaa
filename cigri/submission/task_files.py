"""The files that each task takes along, as they were sent before their campaign: which task has which."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cigri.errors import CigriError
from cigri.flow.stored_inputs import is_sent
from cigri.jdl import ClusterSettings, CommandTemplate, Parameter, names_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.inputs.store import InputStore
    from cigri.jdl import CampaignDescription

Sums = Iterator[list[str]]
"""Of each task."""


@contextmanager
def sums_of_tasks(
    conn: "Connection", store: "InputStore", user: str, description: "CampaignDescription"
) -> Iterator[Sums | None]:
    """Those of a description; None: its tasks have no inputs of their own."""
    parts = (*description.clusters.values(), *description.spare.values())
    settings = next((part for part in parts if part.task_inputs), None)
    if settings is None or settings.task_inputs is None:
        yield None
        return
    with _read(conn, store, user, settings, settings.task_inputs.sums, 0, description.parameters()) as sums:
        yield sums


@contextmanager
def sums_of_added(
    conn: "Connection",
    store: "InputStore",
    user: str,
    clusters: Mapping[str, ClusterSettings],
    sent: str,
    first: int,
    parameters: Iterable[Parameter],
) -> Iterator[Sums | None]:
    """Those of more tasks, numbered from `first` on, which stand in the file with this sum."""
    settings = next((part for part in clusters.values() if part.task_inputs), None)
    if settings is None:
        yield None
        return
    if not sent:
        raise CigriError("each task of this campaign takes files along, and those of the new ones were not sent")
    with _read(conn, store, user, settings, sent, first, iter(parameters)) as sums:
        yield sums


@contextmanager
def _read(
    conn: "Connection",
    store: "InputStore",
    user: str,
    settings: ClusterSettings,
    sent: str,
    first: int,
    parameters: Iterator[Parameter],
) -> Iterator[Sums]:
    from cigri.inputs.sums import read_sums

    assert settings.task_inputs
    if not is_sent(conn, user, sent):
        raise CigriError("task_inputs: the list of the files of tasks was not sent, or is not kept any more")
    with store.open_any(sent) as content:
        yield _checked(settings, first, parameters, read_sums(content, first, len(settings.task_inputs.files)))


def _checked(settings: ClusterSettings, first: int, parameters: Iterator[Parameter], sums: Sums) -> Sums:
    """Raise CigriError for a name that leads out of a task's directory."""
    command = None
    for number, (parameter, own) in enumerate(zip(parameters, sums, strict=False), start=first):
        command = command or CommandTemplate(settings, names_of(parameter))
        try:
            command.own_inputs(parameter, campaign_id=0, number=number)
        except ValueError as error:
            raise CigriError(f"task_inputs: of task {number}: {error}") from None
        yield own
    yield from sums  # more than there are tasks, which is told
