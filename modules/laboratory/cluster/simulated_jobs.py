"""What the grid asks of a simulated batch system, and what it is told; times are seconds since the scenario's start."""

from collections.abc import Sequence
from typing import NamedTuple

from cigri.drivers import RemoteJobState


class SimulatedTask(NamedTuple):
    """`seconds`: how long it would run on this cluster, left alone."""

    seconds: float
    exit_code: int = 0


class SimulatedJob(NamedTuple):
    """One element of an array; its tasks run one after the other, each whatever the end of the one before.

    `exclude`: the mask of nodes where it shall not run.
    """

    tag: str
    array_index: int
    owner: str
    cores: int
    walltime: float
    besteffort: bool
    tasks: Sequence[SimulatedTask]
    exclude: int = 0


class ReportedJob(NamedTuple):
    """A job of ours as the batch system shows it, which is not always as it is; `node` is where it began."""

    tag: str
    array_index: int
    remote_id: str
    state: RemoteJobState
    exit_code: int | None = None
    started: float | None = None
    ended: float | None = None
    node: str = ""


class SimulatedTaskEnd(NamedTuple):
    """The record of an ended task; `number` is what it is acknowledged by, `position` counts from 0 within its job."""

    number: int
    tag: str
    array_index: int
    position: int
    exit_code: int
    started: float
    seconds: float
    node: str
