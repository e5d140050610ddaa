"""The one way to write a state: begun in it, or moved to it from where its life (cigri/states.py) allows."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from sqlalchemy import Column, case, false, literal, or_, update
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.elements import ColumnElement

from cigri.states import (
    ATTEMPT_LIFE,
    BATCH_LIFE,
    CAMPAIGN_LIFE,
    JOB_LIFE,
    MESSAGE_LIFE,
    STEP_LIFE,
    TASK_LIFE,
    StateMachine,
)

MovedState = TypeVar("MovedState")

LIVES: Mapping[str, StateMachine[Any]] = {
    "campaigns.state": CAMPAIGN_LIFE,
    "campaign_clusters.prologue": STEP_LIFE,
    "campaign_clusters.epilogue": STEP_LIFE,
    "tasks.state": TASK_LIFE,
    "attempts.outcome": ATTEMPT_LIFE,
    "jobs.state": JOB_LIFE,
    "batches.state": BATCH_LIFE,
    "messages.state": MESSAGE_LIFE,
}
"""By column, named: whoever moves a task does not wait until the tables of all the others are made."""


def initial_state(column: Column[MovedState], state: MovedState) -> MovedState:
    """The state that a new row has; raise ValueError when nothing begins so."""
    if state not in _life(column).begins:
        raise ValueError(f"{column} does not begin as {state}: see cigri/states.py")
    return state


def transition_to(
    column: Column[MovedState], target: MovedState, *, out_of: Collection[MovedState] | None = None
) -> Update:
    """An update of the rows that may move to `target`; `out_of`: only those that are in one of these states.

    It leaves the others alone: a lost race is normal. Raise ValueError when no such move is allowed.
    """
    allowed = _life(column).sources(target)
    sources = allowed if out_of is None else tuple(out_of)
    if not allowed or not set(sources) <= set(allowed):
        raise ValueError(f"{column} does not move to {target} from {_words(sources)}: see cigri/states.py")
    return update(column.table).where(_is_in(column, sources)).values({column: target})


def transition_each(column: Column[MovedState], states: ColumnElement[Any], among: Collection[MovedState]) -> Update:
    """As `transition_to`, each row to the state that `states` has for it, one of `among`, which may be the one that it
    has.

    Raise ValueError when there is no state from which all of them are allowed.
    """
    sources = _life(column).sources_of_all(among)
    if not sources:
        raise ValueError(f"{column} has no state from which it moves to {_words(among)}: see cigri/states.py")
    return update(column.table).where(_is_in(column, sources)).values({column: states})


def transitioned_value(column: Column[MovedState], source: MovedState, target: MovedState) -> ColumnElement[MovedState]:
    """The value of a state in an update about something else: `target` in rows that are in `source`."""
    if source not in _life(column).sources(target):
        raise ValueError(f"{column} does not move to {target} from {source}: see cigri/states.py")
    return case((column == source, literal(target, column.type)), else_=column)


def _life(column: Column[Any]) -> StateMachine[Any]:
    return LIVES[f"{column.table.name}.{column.name}"]


def _is_in(column: Column[MovedState], states: Collection[MovedState]) -> ColumnElement[bool]:
    return or_(false(), *(column.is_(None) if state is None else column == state for state in states))


def _words(states: Collection[MovedState]) -> str:
    return " or ".join(map(str, states)) or "any state"
