"""A state changes in one way: as its life allows; and docs/reference/states.md shows this life."""

from enum import Enum

import pytest
from sqlalchemy import Enum as Enumerated
from sqlalchemy import literal
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.dml import Update

from cigri.states import ATTEMPT_LIFE, CampaignState, JobState, Outcome, StepState, TaskState
from cigri.tables import everything
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import LIVES, initial_state, transition_each, transition_to, transitioned_value
from tests.arch.states import PAGE, ROOT, Source, page

HOME = ROOT / "cigri" / "tables" / "transitions.py"
SOURCES = sorted(path for room in ("cigri", "modules") for path in (ROOT / room).rglob("*.py") if path != HOME)
COPIES = {
    "task_counts.state",
    "task_history.state",
    "halts.state",
    "jobs.outcome",
    "end_counts.outcome",
    "accounting.outcome",
    "archived_accounting.outcome",
}
"""Of a state at some time, or, of a job, of how it ended."""


def test_every_state_is_written_by_the_one_helper() -> None:
    assert [
        f"{path.relative_to(ROOT)} {problem}" for path in SOURCES for problem in Source(path.read_text()).written()
    ] == []


@pytest.mark.parametrize(
    "written",
    [
        "update(Task).where(Task.c.id == 1).values(state=TaskState.DONE)",
        "update(Task).values({'state': TaskState.DONE})",
        "update(Task).values({Task.c.state: TaskState.DONE})",
        "update(Task).values(**given)",
        "update(part).values({kind.value: StepState.DONE})",
        "update(table).values(n=1)",
        "conn.execute(insert(Job), [{'state': JobState.ENDED}])",
        "insert(Job).from_select(['id', 'state'], chosen)",
        "insert(Batch).values(**{'size': 1} | {'state': BatchState.VOID})",
        "insert(Batch).values(size=1).on_conflict_do_update(set_={'state': BatchState.VOID})",
        "transition_to(Task.c.state, TaskState.DONE).values(state=TaskState.FAILED)",
        "text('UPDATE jobs SET state = 1')",
        "cursor.copy('COPY tasks (id, state) FROM STDIN')",
    ],
)
def test_another_way_to_write_a_state_is_noticed(written: str) -> None:
    text = f"def put(conn, table, kind, given):\n    part = CampaignCluster\n    statement = {written}\n"
    assert len([*Source(text).written()]) == 1


@pytest.mark.parametrize(
    "written",
    [
        "transition_to(Task.c.state, TaskState.DONE).where(Task.c.id == 1).values(priority=2)",
        "update(part).values(doubted=0, "
        "prologue=transitioned_value(part.c.prologue, StepState.DONE, StepState.WAITING))",
        "insert(Job).values(width=1, state=initial_state(Job.c.state, JobState.TO_LAUNCH))",
        "update(Halt).values(state='running')",
        "cursor.copy('COPY tasks (id, number) FROM STDIN')",
        "initial_state(Task.c.state, TaskState.BLOCKED), cursor.copy('COPY tasks (id, state) FROM STDIN')",
    ],
)
def test_the_right_ways_are_not_refused(written: str) -> None:
    assert [*Source(f"def put(conn):\n    part = CampaignCluster\n    statement = {written}\n").written()] == []


def test_every_column_of_states_has_its_life() -> None:
    lively = {type(state) for life in LIVES.values() for state in life.begins if state is not None} | {Outcome}
    found: dict[str, type[Enum] | None] = {}
    for table in everything().tables.values():
        for column in table.columns:
            if isinstance(column.type, Enumerated) and column.type.enum_class in lively:
                found[f"{table.name}.{column.name}"] = column.type.enum_class
                if column.server_default is not None:
                    assert column.server_default.arg in LIVES[f"{table.name}.{column.name}"].begins  # type: ignore[attr-defined]
    assert found.keys() == LIVES.keys() | COPIES
    for name, life in LIVES.items():
        states = {*life.begins, *(state for move in life.moves for state in move)} - {None}
        assert states == set(found[name] or ()), name


def test_a_move_names_its_sources() -> None:
    assert _condition(transition_to(Job.c.state, JobState.LAUNCHING)) == "jobs.state = 'to_launch'"
    assert _condition(transition_to(Attempt.c.outcome, Outcome.LOST)) == "attempts.outcome IS NULL"
    assert _condition(transition_to(Task.c.state, TaskState.WAITING, out_of=[TaskState.DONE])) == "tasks.state = 'done'"
    told = literal("done", Task.c.state.type)
    any_but_blocked = [state for state in TaskState if state is not TaskState.BLOCKED]
    assert _condition(transition_each(Task.c.state, told, any_but_blocked)) == "tasks.state = 'assigned'"
    with pytest.raises(ValueError, match=r"no state from which it moves to blocked"):
        transition_each(Task.c.state, told, list(TaskState))
    ended = transition_each(Attempt.c.outcome, literal("lost", Attempt.c.outcome.type), ATTEMPT_LIFE.targets(None))
    assert _condition(ended) == "attempts.outcome IS NULL"
    seen = transition_each(Job.c.state, told, [JobState.SUBMITTED, JobState.RUNNING])
    assert _condition(seen) == "jobs.state = 'submitted' OR jobs.state = 'running'"
    assert _condition(transition_to(Task.c.state, TaskState.WAITING, out_of=[])) == "false"


def test_a_move_that_no_life_has_cannot_be_said() -> None:
    part = CampaignCluster.c
    with pytest.raises(ValueError, match=r"jobs.state does not move to to_launch"):
        transition_to(Job.c.state, JobState.TO_LAUNCH)
    with pytest.raises(ValueError, match=r"campaigns.state does not move to terminated from cancelled"):
        transition_to(Campaign.c.state, CampaignState.TERMINATED, out_of=[CampaignState.CANCELLED])
    with pytest.raises(ValueError, match=r"jobs.state has no state from which it moves to to_launch or submitted"):
        transition_each(Job.c.state, literal(""), [JobState.TO_LAUNCH, JobState.SUBMITTED])
    with pytest.raises(ValueError, match=r"prologue does not move to failed from waiting"):
        transitioned_value(part.prologue, StepState.WAITING, StepState.FAILED)
    with pytest.raises(ValueError, match=r"tasks.state does not begin as done"):
        initial_state(Task.c.state, TaskState.DONE)


def test_what_makes_a_move_can_be_drawn() -> None:
    """Mermaid takes a colon or a semicolon for the end of it."""
    for life in LIVES.values():
        assert not [why for why in (*life.begins.values(), *life.moves.values()) if set(":;") & set(why)]


def test_the_page_shows_the_lives_of_today() -> None:
    text = PAGE.read_text()
    assert text == page(text), "run python -P -m tests.arch.states"
    for name in LIVES.keys() - {"campaign_clusters.epilogue"}:
        assert f"<!-- life of {name} -->" in text


def _condition(statement: Update) -> str:
    compiled = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})  # type: ignore[no-untyped-call]
    return str(compiled).split(" WHERE ")[1]
