"""Random campaigns that wait for each other, ended at random, beside a small model of what may go on."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from cigri.database import Database
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.dependencies import NewDependency, open_regardless, release_tasks
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.flow.tasks import redo_tasks
from cigri.flow.views.invariants import examine
from cigri.states import AfterWhen, Outcome, TaskState
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.noon

TASKS = 3
CONDITIONS = st.sampled_from(AfterWhen)


@dataclass
class Modelled:
    """A campaign as the model has it: its tasks, and what it still waits for."""

    after: list[NewDependency]
    tasks: list[str] = field(default_factory=lambda: ["blocked"] * TASKS)
    is_held: bool = False
    is_cancelled: bool = False

    @property
    def is_over(self) -> bool:
        return not {"blocked", "waiting"} & {*self.tasks}


class Graphs(RuleBasedStateMachine):
    """What the statements of cigri/flow/dependencies.py say, said again by loops over tasks."""

    database: Database

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[int, Modelled] = {}
        with self.database.begin() as conn:
            for table in ("dependencies", "events", "kills", "attempts", "jobs", "batches", "tasks", "task_counts"):
                conn.exec_driver_sql(f"DELETE FROM {table}")
            for table in ("bucket_pools", "buckets", "campaign_clusters", "campaigns"):
                conn.exec_driver_sql(f"DELETE FROM {table}")
            self.cluster = a_cluster(conn)

    def pick(self, data: st.DataObject, *states: str) -> int | None:
        """A campaign in treatment with a task in one of these states."""
        able = [
            id
            for id, one in self.model.items()
            if {*states} & {*one.tasks} and not one.is_cancelled and not one.is_held
        ]
        return data.draw(st.sampled_from(able)) if able else None

    @precondition(lambda self: len(self.model) < 7)
    @rule(data=st.data())
    def submit(self, data: st.DataObject) -> None:
        required = data.draw(st.lists(st.sampled_from([*self.model]), unique=True, max_size=2)) if self.model else []
        after = [
            NewDependency(id, data.draw(st.booleans()), data.draw(CONDITIONS), data.draw(st.integers(0, 1)))
            for id in required
        ]
        after = [one._replace(tolerated=0) if one.is_same else one for one in after]
        with self.database.begin() as conn:
            new = Modelled(after)
            self.model[a_campaign(conn, TASKS, after=after)] = new
        if not after:
            new.tasks = ["waiting"] * TASKS

    @rule(data=st.data(), well=st.booleans())
    def end_one(self, data: st.DataObject, well: bool) -> None:
        if (id := self.pick(data, "waiting")) is None:
            return
        with self.database.begin() as conn:
            outcome = Outcome.SUCCESS if well else Outcome.FAILURE
            [job] = submitted_jobs(conn, id, self.cluster, 1)
            number = conn.exec_driver_sql(
                f"SELECT tasks.number FROM tasks JOIN attempts ON task_id = tasks.id WHERE job_id = {job}"
            ).scalar_one()
            end_jobs(conn, self.cluster, [job], outcome, exit_code=int(not well))
        self.model[id].tasks[number] = "done" if well else "failed"

    @rule(data=st.data())
    def do_again(self, data: st.DataObject) -> None:
        if (id := self.pick(data, "failed")) is None:
            return
        with self.database.begin() as conn:
            redo_tasks(conn, id, ALICE, None, [TaskState.FAILED])
        self.model[id].tasks = ["waiting" if state == "failed" else state for state in self.model[id].tasks]

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        if (id := self.pick(data, "blocked", "waiting")) is None or not data.draw(st.booleans()):
            return
        with self.database.begin() as conn:
            cancel_campaign(conn, id, ALICE)
        one = self.model[id]
        one.is_cancelled, one.after = True, []
        one.tasks = [state if state == "done" else "cancelled" for state in one.tasks]

    @rule(data=st.data())
    def hold_or_resume(self, data: st.DataObject) -> None:
        """One that is held and has nothing left to do is over all the same."""
        able = [id for id, one in self.model.items() if not one.is_cancelled]
        if not able:
            return
        one = self.model[id := data.draw(st.sampled_from(able))]
        with self.database.begin() as conn:
            (resume_campaign if one.is_held else hold_campaign)(conn, id, ALICE)
        one.is_held = not one.is_held

    @rule(data=st.data())
    def wait_no_longer(self, data: st.DataObject) -> None:
        able = [id for id, one in self.model.items() if one.after and not one.is_cancelled]
        if not able or not data.draw(st.booleans()):
            return
        one = self.model[id := data.draw(st.sampled_from(able))]
        with self.database.begin() as conn:
            open_regardless(conn, id, ALICE)
        one.after = []
        one.tasks = ["waiting" if state == "blocked" else state for state in one.tasks]

    @rule()
    def release(self) -> None:
        with self.database.begin() as conn:
            release_tasks(conn)
            assert examine(conn) == []
        standing = {id: (one.is_over, [*one.tasks]) for id, one in self.model.items()}
        for one in self.model.values():
            self.let_go(one, standing)

    def let_go(self, one: Modelled, standing: dict[int, tuple[bool, list[str]]]) -> None:
        """By the states before this pass; a dependency is met for good, or is looked at again."""
        one.after = [each for each in one.after if each.is_same or not self.is_met(each, standing)]
        for number, state in enumerate(one.tasks):
            held = [each for each in one.after if not (each.is_same and self.is_so(each, standing, number))]
            if state == "blocked" and not held:
                one.tasks[number] = "waiting"
        for each in [each for each in one.after if each.is_same and standing[each.required_id][0]]:
            left = [number for number, state in enumerate(one.tasks) if state == "blocked"]
            if all(self.is_so(each, standing, number) for number in left):
                one.after.remove(each)

    def is_met(self, each: NewDependency, standing: dict[int, tuple[bool, list[str]]]) -> bool:
        is_over, tasks = standing[each.required_id]
        not_done = sum(state in ("failed", "cancelled") for state in tasks)
        is_well = not_done <= each.tolerated and not self.model[each.required_id].is_cancelled
        wanted = {AfterWhen.SUCCESS: is_well, AfterWhen.FAILURE: not is_well, AfterWhen.END: True}
        return is_over and wanted[each.condition]

    def is_so(self, each: NewDependency, standing: dict[int, tuple[bool, list[str]]], number: int) -> bool:
        state = standing[each.required_id][1][number]
        ended = {AfterWhen.SUCCESS: ("done",), AfterWhen.FAILURE: ("failed", "cancelled")}
        return state in ended.get(each.condition, ("done", "failed", "cancelled"))

    @invariant()
    def tasks_are_as_the_model_has_them(self) -> None:
        with self.database.begin() as conn:
            found = conn.execute(select(Task.c.campaign_id, Task.c.state).order_by(Task.c.campaign_id, Task.c.number))
            there = [(row.campaign_id, row.state.value) for row in found]
        assert there == [(id, state) for id, one in self.model.items() for state in one.tasks]


def test_what_waits_goes_on_when_a_model_of_it_says_so(database: Database) -> None:
    machine = type("OnThisDatabase", (Graphs,), {"database": database})
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=25, deadline=None))
