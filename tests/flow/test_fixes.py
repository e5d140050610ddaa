"""A user deals with events, and reads them."""

import pytest
from sqlalchemy import Column, Connection, select, update

from cigri.database import Database
from cigri.errors import NotFound
from cigri.flow.archive import purge_campaign
from cigri.flow.campaigns import cancel_campaign, close_campaigns, own_campaign
from cigri.flow.cancellations import count_remaining
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import find_cluster
from cigri.flow.error_budgets import ErrorBudgetUpdate, update_error_budgets
from cigri.flow.event_fixes import fix_events, fix_global_events
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.views.events import EventFilter, count_events, database_owner, list_events, list_fixable, require_own
from cigri.flow.views.invariants import examine
from cigri.settings.sections import BudgetSettings
from cigri.states import CampaignState, EventLevel, Outcome, StepState, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.tasks import Task
from tests.callers import ALICE, BOB, ROOT
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.noon


def test_fixed_without_resubmission_the_task_stays_failed_and_the_campaign_may_end(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 2)
        assert close_campaigns(conn) == 0
        events = list_fixable(conn, EventFilter(ALICE, [campaign]))
        assert fix_events(conn, events, ALICE, resubmit=False) == 2
        assert count_remaining(conn, campaign)[0] == {TaskState.FAILED: 2}
        assert list_fixable(conn, EventFilter(ALICE)) == []
        assert close_campaigns(conn) == 1
        assert fix_events(conn, events, ALICE, resubmit=True) == 0
        assert examine(conn) == []


def test_a_resubmitted_task_goes_first_with_a_clean_past(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 2)
        first, second = list_fixable(conn, EventFilter(ALICE, [campaign]))
        assert fix_events(conn, [first], ALICE, resubmit=True) == 1
        row = Task
        states = conn.execute(
            select(row.c.state, row.c.priority, row.c.failures, row.c.deaths).order_by(row.c.number)
        ).all()
        assert tuple(states[0]) == (TaskState.WAITING, 20, 0, 0)
        assert states[1].state is TaskState.FAILED
        assert list_fixable(conn, EventFilter(ALICE)) == [second]
        assert own_campaign(conn, campaign, ALICE) is CampaignState.IN_TREATMENT
        assert examine(conn) == []


def test_resubmission_opens_an_ended_campaign_and_its_steps_again(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 1)
        (event,) = list_fixable(conn, EventFilter(ALICE))
        conn.execute(update(Event).values(code="OTHER"))  # nothing keeps the campaign open
        conn.execute(update(CampaignCluster).values(prologue=StepState.DONE, epilogue=StepState.DONE))
        assert close_campaigns(conn) == 1
        fix_events(conn, [event], ALICE, resubmit=True)
        assert own_campaign(conn, campaign, ALICE) is CampaignState.IN_TREATMENT
        steps = conn.execute(select(CampaignCluster.c.prologue, CampaignCluster.c.epilogue)).one()
        assert tuple(steps) == (StepState.WAITING, StepState.WAITING)
        assert examine(conn) == []


@pytest.mark.parametrize("step", ["prologue", "epilogue"])
def test_a_failed_step_runs_again_when_it_is_resubmitted(database: Database, step: str) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        conn.execute(update(CampaignCluster).values({step: StepState.FAILED}))
        column = CampaignCluster.c.prologue if step == "prologue" else CampaignCluster.c.epilogue
        for resubmit, then in ((False, StepState.FAILED), (True, StepState.WAITING)):
            code, subject = f"{step.upper()}_FAILED", f"campaign {campaign} on dahu"
            put_events(conn, [NewEvent(code, EventLevel.ERROR, subject, "no", campaign, cluster)])
            assert fix_events(conn, list_fixable(conn, EventFilter(ALICE)), ALICE, resubmit=resubmit) == 1
            assert conn.execute(select(column)).scalar_one() is then


@pytest.mark.parametrize("step", [CampaignCluster.c.prologue, CampaignCluster.c.epilogue], ids=lambda step: step.name)
def test_a_step_that_runs_again_already_is_not_begun_twice(database: Database, step: Column[StepState]) -> None:
    """Its campaign was opened again by new tasks, which leaves the event of its failure open."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        conn.execute(update(CampaignCluster).values({step: StepState.RUNNING}))
        code, subject = f"{step.name.upper()}_FAILED", f"campaign {campaign} on dahu"
        put_events(conn, [NewEvent(code, EventLevel.ERROR, subject, "no", campaign, cluster)])
        fix_events(conn, list_fixable(conn, EventFilter(ALICE)), ALICE, resubmit=True)
        assert conn.execute(select(step)).scalar_one() is StepState.RUNNING


def test_a_cluster_set_aside_is_given_back_at_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 1), a_campaign(conn, 1)
        trial = ErrorBudgetUpdate(has_success=False, failures=10, example="no")
        update_error_budgets(conn, cluster, "dahu", {campaign: trial, other: trial}, BudgetSettings())
        events = list_fixable(conn, EventFilter(ALICE, [campaign]))
        assert fix_events(conn, events, ALICE, resubmit=False) == 1
        part = CampaignCluster
        columns = (part.c.errors, part.c.strikes, part.c.blocked_until)
        assert tuple(conn.execute(select(*columns).where(part.c.campaign_id == campaign)).one()) == (0, 0, None)
        assert tuple(conn.execute(select(*columns).where(part.c.campaign_id == other)).one())[:2] == (10, 1)


def test_very_many_events_are_fixed_at_once(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 1)
        (event,) = list_fixable(conn, EventFilter(ALICE, [campaign]))
        assert fix_events(conn, [event, *range(event + 1, event + 70_000)], ALICE, resubmit=True) == 1


def test_very_many_events_are_opened_counted_up_and_closed_at_once(database: Database) -> None:
    many = [NewEvent("A", EventLevel.ERROR, f"task {number}", "m") for number in range(70_000)]
    with database.begin() as conn:
        put_events(conn, many[:10])
        put_events(conn, many)
        assert sorted(set(conn.scalars(select(Event.c.count)))) == [1, 2]
        assert close_events(conn, ["A"], [event.subject for event in many], "me") == len(many)


def test_text_that_postgres_cannot_hold_is_told_all_the_same(database: Database) -> None:
    with database.begin() as conn:
        put_events(conn, [NewEvent("A", EventLevel.ERROR, "task 1", "binary \0 output")])
        assert conn.execute(select(Event.c.message)).scalar_one() == r"binary \x00 output"


def test_an_event_about_an_odd_name_is_closed_by_that_name(database: Database) -> None:
    odd = ["node a\x1b[2J", "node b\0", "node c\nd"]
    with database.begin() as conn:
        put_events(conn, [NewEvent("A", EventLevel.ERROR, subject, "m") for subject in odd])
        assert close_events(conn, ["A"], odd, "me") == len(odd)


def test_nobody_sees_or_fixes_the_events_of_somebody_else(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 1)
        (event,) = list_fixable(conn, EventFilter(ALICE))
        assert fix_events(conn, [event], BOB, resubmit=True) == 0
        for choice in (EventFilter(BOB), EventFilter(BOB, [campaign]), EventFilter(BOB, (), [event])):
            assert list_events(conn, choice) == []
            assert count_events(conn, choice) == 0
            assert list_fixable(conn, choice) == []
        with pytest.raises(NotFound, match=f"you have no campaign {campaign}, 99"):
            require_own(conn, [campaign, 99], BOB)
        require_own(conn, [campaign], ALICE)
        require_own(conn, [campaign], ROOT)
        assert fix_events(conn, [event], ROOT, resubmit=False) == 1


def test_an_event_tells_its_task_and_cluster(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 3)
        put_events(conn, [NewEvent("NEWS", EventLevel.INFO, "campaign", "hello", campaign)])
        last, other = list_events(conn, EventFilter(ALICE), 2)
        assert (last.code, last.task, last.parameter, last.cluster) == ("TASK_FAILED", 1, "1", "dahu")
        assert last.id < other.id
        assert count_events(conn, EventFilter(ALICE)) == 3
        assert [event.code for event in list_events(conn, EventFilter(ALICE, closed_too=True))][-1] == "NEWS"


def test_the_wish_to_purge_is_withdrawn_only_by_name(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        close_campaigns(conn)
        purge_campaign(conn, campaign, ALICE)
        (event,) = list_events(conn, EventFilter(ALICE, [campaign]))
        assert list_fixable(conn, EventFilter(ALICE, [campaign])) == []
        assert list_fixable(conn, EventFilter(ALICE, (), [event.id])) == [event.id]


def test_fixing_the_event_of_a_cluster_lets_it_be_visited_again(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 1)
        dahu = find_cluster(conn, "dahu")
        assert dahu is not None
        put_failure(conn, dahu, "CLUSTER_UNREACHABLE", "no route")
        events = list_fixable(conn, EventFilter(BOB, is_global=True))
        assert [event.code for event in list_events(conn, EventFilter(BOB, is_global=True))] == ["CLUSTER_UNREACHABLE"]
        assert fix_events(conn, events, ALICE, resubmit=False) == 0
        assert fix_global_events(conn, list_fixable(conn, EventFilter(ALICE)), ROOT) == 0
        assert fix_global_events(conn, events, ROOT) == 1
        row = conn.execute(select(Cluster.c.failures, Cluster.c.blocked_until)).one()
        assert tuple(row) == (0, None)
        assert len(list_fixable(conn, EventFilter(ALICE, [campaign]))) == 1


def test_events_of_a_cancelled_campaign_are_closed(database: Database) -> None:
    with database.begin() as conn:
        campaign = _failed(conn, 2)
        cancel_campaign(conn, campaign, ALICE)
        assert list_fixable(conn, EventFilter(ALICE)) == []
        assert count_remaining(conn, campaign)[0] == {TaskState.CANCELLED: 2}
        assert examine(conn) == []


def test_the_owner_of_the_database_is_known(database: Database) -> None:
    with database.begin() as conn:
        assert database_owner(conn) == "cigri"


def _failed(conn: Connection, tasks: int) -> int:
    """A campaign of alice's whose tasks have all failed."""
    cluster = a_cluster(conn)
    campaign = a_campaign(conn, tasks)
    end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, tasks), Outcome.FAILURE, exit_code=1)
    return campaign
