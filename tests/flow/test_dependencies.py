"""Campaigns that wait for others: when their tasks go on, what is said of it, and what is not taken for failed."""

from itertools import pairwise

import pytest
from sqlalchemy import Connection, select, text

from cigri.api_models.dependencies import BlockedTasks
from cigri.database import Database
from cigri.errors import CigriError, NotFound
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.dependencies import (
    NewDependency,
    RequiredCampaign,
    find_required,
    is_shut,
    open_regardless,
    release_tasks,
)
from cigri.flow.event_fixes import fix_events
from cigri.flow.holds import hold_campaign
from cigri.flow.submissions import put_tasks
from cigri.flow.tasks import redo_tasks, take_waiting
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.dependencies import list_after
from cigri.flow.views.invariants import examine
from cigri.lifecycle.dependency_gates import sentences
from cigri.states import AfterWhen, Outcome, TaskState
from cigri.tables.dependencies import Dependency
from cigri.tables.grid import Event
from cigri.tables.tasks import Task
from tests.callers import ALICE, BOB, ROOT
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.noon


def states(conn: Connection, campaign_id: int) -> list[str]:
    """Of its tasks, by number."""
    return list(conn.scalars(select(Task.c.state).where(Task.c.campaign_id == campaign_id).order_by(Task.c.number)))


def blocked(conn: Connection, campaign_id: int) -> list[int]:
    return [number for number, state in enumerate(states(conn, campaign_id)) if state == TaskState.BLOCKED]


def do(conn: Connection, campaign_id: int, cluster_id: int, well: int, badly: int = 0) -> None:
    """Its next tasks succeed, so many, and others behind them fail."""
    for number, outcome in ((well, Outcome.SUCCESS), (badly, Outcome.FAILURE)):
        if number:
            jobs = submitted_jobs(conn, campaign_id, cluster_id, number)
            end_jobs(conn, cluster_id, jobs, outcome, exit_code=int(outcome is Outcome.FAILURE))


def open_events(conn: Connection, code: str) -> list[str]:
    return list(conn.scalars(select(Event.c.message).where(Event.c.code == code, Event.c.closed_at.is_(None))))


def test_all_wait_until_the_last_has_ended_and_go_on_at_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 3)
        second = a_campaign(conn, 4, after=[NewDependency(first)])
        assert states(conn, second) == ["blocked"] * 4
        assert take_waiting(conn, second, 9) == []
        assert {want.campaign_id for want in list_cluster_demands(conn, 3, 600.0)} == {first}
        do(conn, first, cluster, 2)
        assert release_tasks(conn) == 0
        do(conn, first, cluster, 1)
        assert release_tasks(conn) == 4
        assert states(conn, second) == ["waiting"] * 4
        assert release_tasks(conn) == 0
        assert close_campaigns(conn) == 1
        assert examine(conn) == []
        assert not is_shut(conn, second)


@pytest.mark.parametrize(
    ("condition", "badly", "tolerated", "tolerance", "opens"),
    [
        (AfterWhen.SUCCESS, 0, 0, 0.0, True),
        (AfterWhen.SUCCESS, 1, 0, 0.0, False),
        (AfterWhen.SUCCESS, 1, 1, 0.0, True),
        (AfterWhen.SUCCESS, 2, 1, 0.0, False),
        (AfterWhen.SUCCESS, 1, 0, 0.1, True),
        (AfterWhen.SUCCESS, 2, 0, 0.19, False),
        (AfterWhen.SUCCESS, 2, 2, 0.1, True),
        (AfterWhen.END, 0, 0, 0.0, True),
        (AfterWhen.END, 9, 0, 0.0, True),
        (AfterWhen.FAILURE, 0, 0, 0.0, False),
        (AfterWhen.FAILURE, 1, 0, 0.0, True),
        (AfterWhen.FAILURE, 1, 0, 0.1, False),
    ],
)
def test_how_it_has_to_end(
    database: Database, condition: AfterWhen, badly: int, tolerated: int, tolerance: float, opens: bool
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 10)
        a_campaign(conn, 2, after=[NewDependency(first, False, condition, tolerated, tolerance)])
        do(conn, first, cluster, 10 - badly, badly)
        assert release_tasks(conn) == (2 if opens else 0)
        assert bool(open_events(conn, "AFTER_FAILED")) is not opens
        assert len(conn.scalars(select(Event.c.id).where(Event.c.code == "AFTER_MET")).all()) == opens


def test_what_has_not_begun_or_is_held_has_not_failed(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 2)
        second = a_campaign(conn, 1, after=[NewDependency(first, condition=AfterWhen.FAILURE)])
        third = a_campaign(conn, 1, after=[NewDependency(second)])
        assert release_tasks(conn) == 0
        do(conn, first, cluster, 0, 1)
        [last] = submitted_jobs(conn, first, cluster, 1)
        hold_campaign(conn, first, ALICE)
        assert release_tasks(conn) == 0
        assert open_events(conn, "AFTER_FAILED") == []
        assert [(view.state, view.is_held) for view in list_after(conn, second)] == [("waits", True)]
        assert [(view.state, view.is_held) for view in list_after(conn, third)] == [("waits", False)]
        [sentence] = sentences(list_after(conn, second), BlockedTasks(1, 1))
        assert sentence == f"1 of 1 waits for campaign {first}, which is held"
        end_jobs(conn, cluster, [last])
        assert release_tasks(conn) == 1
        assert states(conn, third) == ["blocked"]


def test_what_ended_otherwise_tells_the_commands_that_help_and_heals_when_it_is_done_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 3)
        second = a_campaign(conn, 2, after=[NewDependency(first)])
        do(conn, first, cluster, 1, 2)
        assert release_tasks(conn) == 0
        [message] = open_events(conn, "AFTER_FAILED")
        assert message == (
            f"campaign {first} has ended, 2 of its 3 tasks not done: it was to end well first; `gridsub --resubmit "
            f"{first}` does its failed tasks again, `gridresume {second} --regardless` waits no longer, `griddel "
            f"{second}` gives this one up"
        )
        assert release_tasks(conn) == 0
        assert conn.scalar(select(Event.c.count).where(Event.c.code == "AFTER_FAILED")) == 1
        assert [view.state for view in list_after(conn, second)] == ["failed"]
        redo_tasks(conn, first, ALICE, None, [TaskState.FAILED])
        assert release_tasks(conn) == 0
        assert open_events(conn, "AFTER_FAILED") == []
        do(conn, first, cluster, 2)
        assert release_tasks(conn) == 2
        assert examine(conn) == []


def test_failures_that_are_accepted_are_failures_still(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 2)
        a_campaign(conn, 2, after=[NewDependency(first)])
        do(conn, first, cluster, 1, 1)
        fix_events(conn, conn.scalars(select(Event.c.id).where(Event.c.code == "TASK_FAILED")), ALICE, resubmit=False)
        assert close_campaigns(conn) == 1
        assert release_tasks(conn) == 0
        assert len(open_events(conn, "AFTER_FAILED")) == 1


def test_one_that_is_cancelled_did_not_end_well(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 2)
        tolerant = a_campaign(conn, 1, after=[NewDependency(first, tolerance=1.0)])
        patient = a_campaign(conn, 1, after=[NewDependency(first, condition=AfterWhen.END)])
        cancel_campaign(conn, first, ALICE)
        assert release_tasks(conn) == 1
        assert (states(conn, tolerant), states(conn, patient)) == (["blocked"], ["waiting"])
        [message] = open_events(conn, "AFTER_FAILED")
        assert message.startswith(f"campaign {first} was cancelled: it was to end well first; `gridresume {tolerant}")


def test_what_is_doubted_is_neither_success_nor_failure(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 2)
        second = a_campaign(conn, 2, after=[NewDependency(first)])
        same = a_campaign(conn, 2, after=[NewDependency(first, is_same=True)])
        do(conn, first, cluster, 2)
        conn.execute(text("UPDATE attempts SET outcome = 'doubtful'"))
        event = "INSERT INTO events (code, level, subject, message, campaign_id, opened_at, last_at, count) "
        conn.execute(text(event + f"VALUES ('RESULTS_DOUBTED', 'error', 'x', 'x', {first}, now(), now(), 1)"))
        assert release_tasks(conn) == 0
        assert open_events(conn, "AFTER_FAILED") == []
        conn.execute(text("UPDATE attempts SET outcome = 'success'"))
        conn.execute(text("UPDATE events SET closed_at = now(), closed_by = 'alice'"))
        assert release_tasks(conn) == 4
        assert blocked(conn, second) == blocked(conn, same) == []


def test_each_waits_for_the_one_of_its_number(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 4)
        second = a_campaign(conn, 4, after=[NewDependency(first, is_same=True)])
        do(conn, first, cluster, 1, 1)
        assert release_tasks(conn) == 1
        assert blocked(conn, second) == [1, 2, 3]
        assert open_events(conn, "AFTER_FAILED") == []  # tasks of it are still to be done
        do(conn, first, cluster, 2)
        assert release_tasks(conn) == 2
        assert blocked(conn, second) == [1]
        assert "1 of its 4 tasks not done: tasks of the same numbers wait on" in open_events(conn, "AFTER_FAILED")[0]
        assert release_tasks(conn) == 0
        redo_tasks(conn, first, ALICE, None, [TaskState.FAILED])
        release_tasks(conn)
        assert open_events(conn, "AFTER_FAILED") == []
        do(conn, first, cluster, 1)
        assert release_tasks(conn) == 1
        assert not is_shut(conn, second)
        assert examine(conn) == []


def test_one_gate_of_two_is_not_enough(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, other = a_campaign(conn, 2), a_campaign(conn, 2)
        second = a_campaign(conn, 2, after=[NewDependency(first, is_same=True), NewDependency(other)])
        do(conn, first, cluster, 2)
        assert release_tasks(conn) == 0
        assert [view.state for view in list_after(conn, second)] == ["met", "waits"]
        do(conn, other, cluster, 2)
        assert release_tasks(conn) == 2


def test_its_user_need_not_wait(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 2)
        second = a_campaign(conn, 2, after=[NewDependency(first, is_same=True)])
        do(conn, first, cluster, 0, 2)
        release_tasks(conn)
        with pytest.raises(NotFound):
            open_regardless(conn, second, BOB)
        assert open_regardless(conn, second, ALICE) == 2
        assert open_events(conn, "AFTER_FAILED") == []
        assert states(conn, second) == ["waiting"] * 2
        put_tasks(conn, second, ALICE, ["x", "y", "z"])
        assert states(conn, second) == ["waiting"] * 5
        with pytest.raises(CigriError, match="waits for no other"):
            open_regardless(conn, second, ALICE)
        assert [view.state for view in list_after(conn, second)] == ["waived"]


def test_tasks_that_are_added_wait_as_the_others_did(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 3)
        second = a_campaign(conn, 1, after=[NewDependency(first)])
        same = a_campaign(conn, 1, after=[NewDependency(first, is_same=True)])
        put_tasks(conn, second, ALICE, ["x"])
        assert states(conn, second) == ["blocked"] * 2
        do(conn, first, cluster, 2, 1)
        release_tasks(conn)
        assert states(conn, same) == ["waiting"]
        assert not is_shut(conn, same)
        put_tasks(conn, same, ALICE, ["x", "y"])
        release_tasks(conn)
        assert states(conn, same) == ["waiting", "waiting", "blocked"]
        put_tasks(conn, first, ALICE, ["more"])
        assert states(conn, same)[:2] == ["waiting", "waiting"]


def test_a_task_without_one_to_wait_for_is_not_added(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 2)
        same = a_campaign(conn, 2, after=[NewDependency(first, is_same=True)])
    with pytest.raises(CigriError, match=f"of the same number of campaign {first}, which has 2"), database.begin() as c:
        put_tasks(c, same, ALICE, ["x"])
    with database.begin() as conn:
        assert len(states(conn, same)) == 2


def test_what_cannot_be_waited_for(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        old, new = a_campaign(conn, 2, name="solve"), a_campaign(conn, 3, name="solve")
        theirs = a_campaign(conn, 2, name="theirs", user="bob")

        def told(*wanted: RequiredCampaign, caller: object = ALICE, tasks: int = 3) -> list[NewDependency | str]:
            return [*find_required(conn, caller, wanted, tasks)]  # type: ignore[arg-type]

        assert told(RequiredCampaign("solve")) == [NewDependency(new)]
        assert told(RequiredCampaign(old), RequiredCampaign("solve", True)) == [
            NewDependency(old),
            NewDependency(new, True),
        ]
        for name in (theirs, "theirs", new + 999, "nobody"):
            assert told(RequiredCampaign(name)) == [f"there is no such campaign as {name}; `gridstat -a` lists all"]
        assert told(RequiredCampaign(theirs), caller=ROOT) == [NewDependency(theirs)]
        assert told(RequiredCampaign(new), RequiredCampaign("solve")) == [
            NewDependency(new),
            f"campaign {new} is named twice",
        ]
        assert "has 2 tasks, and this one 3" in str(told(RequiredCampaign(old, True)))
        conn.execute(text(f"UPDATE campaigns SET archived_at = now() WHERE id = {new}"))
        assert "is archived" in str(told(RequiredCampaign(new, True)))
        assert told(RequiredCampaign(new)) == [NewDependency(new)]


def test_no_campaign_waits_for_a_later_one(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first, second = a_campaign(conn, 1), a_campaign(conn, 1)
        rule = "ck_dependencies_earlier"
        for later in (second, first):
            with pytest.raises(Exception, match=rule), conn.begin_nested():
                conn.execute(
                    text(f"INSERT INTO dependencies (campaign_id, required_id, is_same, condition) "
                         f"VALUES ({first}, {later}, false, 'end')")
                )  # fmt: skip


def test_one_that_its_user_cancels_takes_its_blocked_tasks_along(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 1)
        second = a_campaign(conn, 2, after=[NewDependency(first)])
        assert close_campaigns(conn) == 0
        cancel_campaign(conn, second, ALICE)
        assert states(conn, second) == ["cancelled"] * 2
        do(conn, first, cluster, 1)
        assert release_tasks(conn) == 0
        assert examine(conn) == []


def test_a_task_that_nothing_holds_back_any_more_is_found(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 1)
        a_campaign(conn, 2, after=[NewDependency(first)])
        conn.execute(text("UPDATE dependencies SET met_at = now()"))
        assert [finding.rule for finding in examine(conn)] == [
            "a task is blocked only while its campaign waits for another"
        ]


def test_one_that_its_user_is_changing_is_left_for_the_next_cycle(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 1)
        second = a_campaign(conn, 1, after=[NewDependency(first)])
        do(conn, first, cluster, 1)
    with database.begin() as changing:
        put_tasks(changing, second, ALICE, ["more"])
        with database.begin() as conn:
            assert release_tasks(conn) == 0
    with database.begin() as conn:
        assert release_tasks(conn) == 2


def test_where_nobody_waits_nothing_is_looked_at(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaigns = [a_campaign(conn, 1) for _ in range(30)]
        for required, waiting in pairwise(campaigns):
            conn.execute(
                text("INSERT INTO dependencies (campaign_id, required_id, is_same, condition, met_at) "
                     f"VALUES ({waiting}, {required}, false, 'end', now())")
            )  # fmt: skip
        conn.execute(text("ANALYZE dependencies"))
        conn.execute(text("SET LOCAL enable_seqscan = off"))
        asked = str(
            select(Dependency.c.id)
            .where(Dependency.c.met_at.is_(None))
            .limit(1)
            .compile(conn, compile_kwargs={"literal_binds": True})
        )
        plan = "\n".join(conn.scalars(text(f"EXPLAIN {asked}")))
        assert "ix_dependencies_shut" in plan


def test_blocked_tasks_are_found_by_their_index(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3000)
        first = a_campaign(conn, 1)
        second = a_campaign(conn, 20, after=[NewDependency(first)])
        conn.execute(text("ANALYZE tasks"))
        found = f"SELECT id FROM tasks WHERE campaign_id = {second} AND state = 'blocked'"
        assert "ix_tasks_blocked" in "\n".join(conn.scalars(text(f"EXPLAIN {found}")))
