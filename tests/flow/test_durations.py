"""What the same task took when it last succeeded: each sentence of open-lmake's on estimates is a test."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import Connection, func, select, text, update

from cigri.database import Database
from cigri.estimates.speeds import FEWEST_FOR_SPEED
from cigri.flow import task_durations
from cigri.flow.archive import forget_durations
from cigri.flow.campaign_totals import add_up_counts
from cigri.flow.expected_durations import match_tasks
from cigri.flow.submissions import put_tasks
from cigri.flow.task_durations import PastDurations, find_known_past, relearn_durations
from cigri.flow.tasks import Backlog, list_backlogs, take_waiting
from cigri.flow.views.campaign_progress import CampaignProgress, list_progress
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.cluster_service import list_under_way
from cigri.flow.views.invariants import examine
from cigri.flow.views.job_sizing import LiveJobTotals, list_live_job_totals
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.states import Outcome, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.tasks import LastDuration, Task, TaskCount
from modules import predictor
from modules.predictor.campaign_estimates import estimate, usual
from modules.predictor.campaign_work import build_work_model
from modules.predictor.eta.published_dates import pressure
from modules.predictor.freed_cores import endings
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.modules.test_predictor import progress

pytestmark = pytest.mark.noon


def do(conn: Connection, cluster: int, parameters: Sequence[object], *lasted: float, user: str = "alice") -> int:
    """A campaign whose tasks succeed in so many seconds each; give its id."""
    campaign = a_campaign(conn, parameters, user=user)
    for seconds in lasted:
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), seconds=seconds)
    return campaign


def expected(conn: Connection, campaign: int) -> list[float | None]:
    """By number."""
    return list(conn.scalars(select(Task.c.expected).where(Task.c.campaign_id == campaign).order_by(Task.c.number)))


def test_for_jobs_that_have_already_run_last_successful_execution_time_is_used(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a", "b"], 10.0, 20.0)
        do(conn, cluster, ["b"], 25.0)
        again = a_campaign(conn, ["c", "b", "a"])
        assert match_tasks(conn) == 2
        assert expected(conn, again) == [None, 25.0, 10.0]
        assert match_tasks(conn) == 0


def test_where_clusters_run_different_commands_the_latest_success_counts(database: Database) -> None:
    """Whichever the database comes upon first."""
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        both = a_campaign(conn, ["a", "b"], clusters=("dahu", "luke"))
        other = "settings || jsonb_build_object('exec_file', '/bin/other')"
        conn.execute(text(f"UPDATE campaign_clusters SET settings = {other} WHERE cluster_id = 2"))
        for number, minutes in ((0, (1, 2)), (1, (2, 1))):
            for cluster, later in zip((1, 2), minutes, strict=True):
                set_time(conn, NOON)
                one = a_campaign(conn, [["a", "b"][number]], clusters=("dahu", "luke"))
                conn.execute(text(f"UPDATE campaign_clusters SET settings = {other} WHERE cluster_id = 2"))
                jobs = submitted_jobs(conn, one, cluster, 1)
                set_time(conn, NOON + timedelta(minutes=later))
                end_jobs(conn, cluster, jobs, seconds=float(cluster))
        match_tasks(conn)
        assert expected(conn, both) == [2.0, 1.0]


def on_two(conn: Connection) -> int:
    """A campaign of six tasks on a slow and on a fast cluster, where they took 40, 80 and 120, and 10, 20, 30 s."""
    a_cluster(conn), a_cluster(conn, "luke")
    campaign = a_campaign(conn, list("abcdef"), clusters=("dahu", "luke"))
    for cluster, each in ((1, 40.0), (2, 10.0)):
        for number in (1, 2, 3):
            end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), seconds=each * number)
    return campaign


def totals(conn: Connection, campaign: int) -> list[tuple[float | None, int, float]]:
    part = CampaignCluster.c
    found = conn.execute(
        select(part.speed, part.known, part.expected).where(part.campaign_id == campaign).order_by(part.cluster_id)
    )
    return [(speed, known, seconds) for speed, known, seconds in found]


def test_what_took_long_on_a_slow_cluster_is_less_work(database: Database) -> None:
    """300 s for 6 tasks: 50 s for a usual one, which takes 80 s there, and 20 s on the other."""
    with database.begin() as conn:
        first = on_two(conn)
        assert totals(conn, first) == [(None, 0, 0.0)] * 2
        again = a_campaign(conn, list("abcdefg"), clusters=("dahu", "luke"))
        match_tasks(conn)
        assert totals(conn, again) == [(0.625, 0, 0.0), (2.5, 0, 0.0)]
        assert expected(conn, again) == pytest.approx([25.0, 50.0, 75.0, 25.0, 50.0, 75.0, None])


def test_what_known_tasks_take_now_says_how_fast_a_cluster_is(database: Database) -> None:
    """New ones tell nothing of it, and doubted results do not either."""
    with database.begin() as conn:
        on_two(conn)
        again = a_campaign(conn, list("abcdefg"), clusters=("dahu", "luke"))
        match_tasks(conn)
        end_jobs(conn, 2, submitted_jobs(conn, again, 2, 4), seconds=30.0)  # the new one, 75, 75 and 50
        assert totals(conn, again) == [(0.625, 0, 0.0), (2.5, 3, 200.0)]
        third = a_campaign(conn, ["a"], clusters=("dahu", "luke"))
        match_tasks(conn)
        (slow, _, _), (fast, _, _) = totals(conn, third)
        mean = 420 / 10
        assert slow == pytest.approx(3 * mean / 240)
        assert fast == pytest.approx((200 + 4 * mean) / 180)
        relearn_durations(conn, again, 2)
        assert totals(conn, again) == [(0.625, 0, 0.0), (2.5, 0, 0.0)]


def test_what_runs_of_a_known_task_is_what_it_took_before_less_its_age(database: Database) -> None:
    """75 s of work at a speed of 2.5, begun 20 s ago: it may end from 25 s on, and has in 35 s."""
    with database.begin() as conn:
        on_two(conn)
        again = a_campaign(conn, list("cca"), clusters=("dahu", "luke"))
        match_tasks(conn)
        run_jobs(conn, submitted_jobs(conn, again, 2, 2))
        later = NOON + timedelta(seconds=20)
        set_time(conn, later)
        jobs = list_under_way(conn, [2])
        assert [endings(jobs, {2: left})[2].cores for left in (0.5, 15.5)] == [0.0, 2.0]
        assert list_live_job_totals(conn, again) == {1: LiveJobTotals(0, 0.0, 0, 10), 2: LiveJobTotals(2, 40.0, 0, 10)}
        set_time(conn, NOON)
        submitted_jobs(conn, again, 2, 1)
        set_time(conn, later)
        assert list_live_job_totals(conn, again)[2].waiting == 1


def test_a_command_that_has_succeeded_on_a_cluster_needs_few_scouts_there(database: Database) -> None:
    with database.begin() as conn:
        on_two(conn)
        again = a_campaign(conn, list("abc"), clusters=("dahu", "luke"))
        assert [want.successes for want in list_cluster_demands(conn, 9, 0.0) if want.campaign_id == again] == [0, 0]
        match_tasks(conn)
        assert [want.successes for want in list_cluster_demands(conn, 9, 0.0) if want.campaign_id == again] == [
            FEWEST_FOR_SPEED,
            FEWEST_FOR_SPEED,
        ]


def test_a_cluster_takes_no_task_that_is_known_to_be_too_long_for_it(database: Database) -> None:
    with database.begin() as conn:
        on_two(conn)
        again = a_campaign(conn, list("abcg"), clusters=("dahu", "luke"))
        assert list_backlogs(conn, [again]) == {}
        match_tasks(conn)
        assert list_backlogs(conn, [1, again]) == {again: Backlog(4, 3, 150.0, 75.0)}
        assert [task.expected for task in take_waiting(conn, again, 9)] == [None, 75.0, 50.0, 25.0]
        assert [task.expected for task in take_waiting(conn, again, 9, longest=50.0)] == [None, 50.0, 25.0]
        submitted_jobs(conn, again, 1, 2)
        assert list_backlogs(conn, [again]) == {again: Backlog(4, 3, 150.0, 50.0)}
        submitted_jobs(conn, again, 1, 2)
        assert list_backlogs(conn, [again]) == {}  # nothing waits


@pytest.mark.parametrize("outcome", [Outcome.FAILURE, Outcome.WALLTIME, Outcome.LOST])
def test_an_execution_that_was_no_success_tells_nothing(database: Database, outcome: Outcome) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a"], 10.0)
        failed = a_campaign(conn, ["a"])
        end_jobs(conn, cluster, submitted_jobs(conn, failed, cluster, 1), outcome, seconds=1.0)
        again = a_campaign(conn, ["a"])
        match_tasks(conn)
        assert expected(conn, again) == [10.0]


def test_the_same_task_has_the_same_user_command_and_parameter(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, [{"x": 1, "long name": ["é\t", 2.5]}], 10.0)
        same = a_campaign(conn, [{"long name": ["é\t", 2.5], "x": 1}, {"x": 1}, {"x": 2, "long name": ["é\t", 2.5]}])
        other_user = a_campaign(conn, [{"x": 1, "long name": ["é\t", 2.5]}], user="bob")
        other_command = a_campaign(conn, [{"x": 1, "long name": ["é\t", 2.5]}])
        changed = "settings || jsonb_build_object('exec_file', '/bin/false')"
        conn.execute(text(f"UPDATE campaign_clusters SET settings = {changed} WHERE campaign_id = {other_command}"))
        assert match_tasks(conn) == 1
        assert expected(conn, same) == [10.0, None, None]
        assert expected(conn, other_user) == expected(conn, other_command) == [None]


def test_the_longest_of_the_known_tasks_go_first_and_before_them_those_that_nobody_knows(database: Database) -> None:
    """The one with the highest pressure: its own time, as nothing waits for it."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a", "b", "c"], 10.0, 300.0, 50.0)
        again = a_campaign(conn, ["a", "b", "c", "new", "c"])
        match_tasks(conn)
        conn.execute(update(Task).where(Task.c.campaign_id == again, Task.c.number == 0).values(priority=20))
        numbers = dict(conn.execute(select(Task.c.id, Task.c.number)).all())
        assert [numbers[task.id] for task in take_waiting(conn, again, 9)] == [0, 3, 1, 2, 4]
        assert [numbers[task.id] for task in take_waiting(conn, again, 2)] == [0, 3]


def test_what_remains_is_counted_with_what_it_is_expected_to_take(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a", "b", "c"], 10.0, 300.0, 50.0)
        again = a_campaign(conn, ["a", "b", "c", "new"])
        match_tasks(conn)
        (part,) = [part for part in list_progress(conn, 3600.0) if part.campaign_id == again]
        assert (part.remaining, part.known, part.expected, part.longest) == (4, 3, 360.0, 300.0)
        end_jobs(conn, cluster, submitted_jobs(conn, again, cluster, 2), seconds=301.0)  # the new one and the longest
        add_up_counts(conn, longest=0)
        (part,) = [part for part in list_progress(conn, 3600.0) if part.campaign_id == again]
        assert (part.remaining, part.known, part.longest) == (2, 2, 50.0)
        assert part.expected == pytest.approx(60.0)
        assert examine(conn) == []
        conn.execute(update(TaskCount).where(TaskCount.c.known > 0).values(known=TaskCount.c.known + 1))
        assert [finding.rule for finding in examine(conn)] == ["the counts of tasks are those of the tasks"]


def test_future_jobs_execution_times_are_estimated_by_the_best_that_is_known() -> None:
    """What a task took itself, else the average of those that share its rule, else the user's guess."""
    part = progress(durations=(10.0, 10.0), remaining=4, running=1)
    assert estimate(part._replace(known=4, expected=400.0)) == 100.0
    assert estimate(part._replace(known=1, expected=50.0)) == (50 + 3 * 10) / 4
    assert estimate(part._replace(guess=7.0)) == usual(part) == 10.0
    new = progress(remaining=4, running=1)
    assert estimate(new._replace(guess=7.0)) == 7.0
    assert estimate(new._replace(guess=7.0, known=2, expected=10.0)) == 6.0
    assert estimate(new._replace(known=2, expected=10.0)) == 5.0


def test_the_end_is_reckoned_with_what_each_task_took() -> None:
    new = progress(remaining=10, running=2)._replace(known=10, expected=1000.0)
    assert begun(new) == pytest.approx(8 * 100 / 2, rel=0.15)
    steady = progress(durations=(10.0,) * 60, window=600, remaining=61, running=1)
    short = steady._replace(known=61, expected=61 * 5.0)
    assert begun(short) == pytest.approx(begun(steady) / 2, rel=0.01)


def begun(part: CampaignProgress) -> float:
    """Seconds until its last task begins."""
    found = build_work_model([part], {})
    assert found is not None
    return found.work / found.cores


def test_the_longest_remaining_task_that_is_known_is_the_critical_path() -> None:
    part = progress(durations=(10.0, 10.0), remaining=4)
    assert pressure(part._replace(known=4, expected=400.0, longest=250.0)) == 250.0
    assert pressure(part._replace(known=3, expected=3.0, longest=1.0)) == pytest.approx(10.0, rel=0.19)
    assert pressure(progress(remaining=4)._replace(known=1, expected=9.0, longest=9.0)) == 9.0


def test_a_large_campaign_is_looked_up_little_by_little(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["6", "2"], 10.0, 20.0)
        match_tasks(conn)
        large, small = a_campaign(conn, 7), a_campaign(conn, ["2"])
        assert match_tasks(conn, 3) == 1
        assert expected(conn, large) == [None, None, 20.0, None, None, None, None]
        assert [match_tasks(conn, 3) for _ in range(3)] == [0, 2, 0]
        assert expected(conn, large) == [None, None, 20.0, None, None, None, 10.0]
        assert expected(conn, small) == [20.0]
        assert set(conn.scalars(select(Campaign.c.unmatched_from).where(Campaign.c.id >= large))) == {None}


def test_tasks_that_are_added_later_are_looked_up_too(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a"], 10.0)
        campaign = a_campaign(conn, ["x"])
        match_tasks(conn)
        put_tasks(conn, campaign, ALICE, ["y", "a"])
        assert match_tasks(conn) == 1
        assert expected(conn, campaign) == [None, None, 10.0]


def test_tasks_that_wait_are_ordered_anew_when_their_durations_become_known(database: Database) -> None:
    def ordered() -> list[int]:
        return [task.id - first for task in take_waiting(conn, campaign, 2)]

    with database.begin() as conn:
        do(conn, a_cluster(conn), ["b", "c"], 10.0, 20.0)
        campaign = a_campaign(conn, ["a", "b", "c"])
        first = conn.execute(select(func.min(Task.c.id)).where(Task.c.campaign_id == campaign)).scalar_one()
        assert ordered() == [0, 1]
        match_tasks(conn)
        assert ordered() == [0, 2]


def test_several_tasks_that_are_the_same_are_remembered_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, ["a", "a", "b"])
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 3), seconds=10.0)
        assert sorted(conn.scalars(select(LastDuration.c.seconds))) == [10.0, 10.0]


def test_the_predictor_looks_up_new_tasks(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a"], 10.0)
        again = a_campaign(conn, ["a"])
    tools = PassContext(database, Settings(), TransportGateway())
    assert predictor.run_once(tools)["known tasks"] == 1
    assert predictor.run_once(tools)["known tasks"] == 0
    with database.begin() as conn:
        assert expected(conn, again) == [10.0]


def test_the_latest_are_kept_and_the_rest_forgotten(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, ["a", "b", "c", "d"])
        for minutes in range(4):
            set_time(conn, NOON + timedelta(minutes=minutes))
            end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), seconds=float(minutes))
        assert [forget_durations(conn, most) for most in (9, 4)] == [0, 0]
        assert forget_durations(conn, 3) == 1
        assert sorted(conn.scalars(select(LastDuration.c.seconds))) == [1.0, 2.0, 3.0]
        assert forget_durations(conn, 0) == 3


def test_a_task_that_is_cancelled_meanwhile_is_left_alone(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a"], 10.0)
        campaign = a_campaign(conn, ["a", "a"])
        conn.execute(
            update(Task).where(Task.c.campaign_id == campaign, Task.c.number == 0).values(state=TaskState.CANCELLED)
        )
        assert match_tasks(conn) == 1
        assert expected(conn, campaign) == [None, 10.0]
        assert examine(conn) == []


def test_who_thinks_of_submitting_tasks_hears_what_they_took(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        do(conn, cluster, ["a", {"x": 1}, "c"], 10.0, 300.0, 50.0)
        wanted = ["a", "new", {"x": 1}, "a"]
        assert find_known_past(conn, "alice", {"/bin/true"}, wanted) == PastDurations(4, 3, 320.0, 90200.0)
        assert find_known_past(conn, "alice", {"/bin/true", "/bin/other"}, wanted).done == 3
        assert find_known_past(conn, "bob", {"/bin/true"}, wanted) == PastDurations()
        assert find_known_past(conn, "alice", {"/bin/other"}, wanted) == PastDurations()
        monkeypatch.setattr(task_durations, "TASKS_AT_ONCE", 2)
        assert find_known_past(conn, "alice", {"/bin/true"}, wanted) == PastDurations(4, 3, 320.0, 90200.0)
        monkeypatch.setattr(task_durations, "LOOKED_UP", 3)
        assert find_known_past(conn, "alice", {"/bin/true"}, wanted) == PastDurations(3, 2, 310.0, 90100.0)
