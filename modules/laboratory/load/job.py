"""One job of a cluster's own users."""

from typing import NamedTuple


class LocalJob(NamedTuple):
    """A job of a cluster's own users; times in seconds since the scenario's start."""

    submitted: float
    cores: int
    seconds: float
    walltime: float
    user: str
