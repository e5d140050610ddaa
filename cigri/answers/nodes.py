"""Nodes that get no jobs."""

from datetime import datetime
from typing import NamedTuple


class ExcludedNode(NamedTuple):
    """A node that is sick, on trial after that, or drained."""

    cluster: str
    """Its cluster."""
    node: str
    """Its name."""
    since: datetime
    """When it was left out."""
    until: datetime
    """When it gets jobs again; of a drained one, when it is to be empty, and it stays out after that."""
    strikes: int
    """How many times in a row it was found sick."""
    reason: str
    """What was found, or who drains it."""
    asked_by: str
    """Who left it out: cigri, or an operator."""
    is_out: bool
    """Whether it gets no job now; else it is on trial, until a task has ended there well."""
    is_drained: bool = False
    """Whether an operator wants it empty."""
