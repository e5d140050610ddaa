"""`gridstat` as a user meets it."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text, update

from cigri.cli import gridstat
from cigri.database import Database, server_time
from cigri.drivers.local import LocalDriver
from cigri.flow.archive import archive_campaign
from cigri.flow.campaigns import cancel_campaign, close_campaigns, set_own_priority, set_priority
from cigri.flow.cancellations import kill_job
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import enable_cluster, find_cluster
from cigri.flow.doubtful_results import DoubtfulResults, mark_doubtful
from cigri.flow.error_budgets import ErrorBudgetUpdate, update_error_budgets
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.flow.holds import hold_campaign
from cigri.flow.launches import NewJob, put_jobs, put_replicas
from cigri.flow.pending_reasons import NewPendingReason, PendingReasonView, put_cuts
from cigri.flow.tasks import WaitingTask, take_waiting
from cigri.presentation.pending_reasons import QUOTAS, SENTENCES, cut_sentence
from cigri.settings.sections import BudgetSettings
from cigri.states import Outcome, PendingReasonCode
from cigri.tables.jobs import Batch
from tests.callers import ALICE, BOB, ROOT
from tests.cli.running import Run
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, launch_jobs, run_jobs, set_time, submitted_jobs
from tests.flow.test_buckets import SIZED, sized

pytestmark = pytest.mark.usefixtures("both_ways")

COMMAND = gridstat


@pytest.fixture
def campaign(database: Database) -> int:
    """Six tasks: two done, one failed, one preempted, one running, one in the queue; on one of its two clusters."""
    with database.begin() as conn:
        dahu = a_cluster(conn)
        a_cluster(conn, "luke")
        enable_cluster(conn, "luke", enabled=False)
        campaign = a_campaign(conn, 6, clusters=("dahu", "luke"))
        jobs = submitted_jobs(conn, campaign, dahu, 6)
        run_jobs(conn, jobs[:5])
        end_jobs(conn, dahu, jobs[:2])
        end_jobs(conn, dahu, jobs[2:3], Outcome.FAILURE, exit_code=3, reason="bad luck")
        end_jobs(conn, dahu, jobs[3:4], Outcome.PREEMPTED, exit_code=None)
        whole = NewForecast(campaign, None, 1.0, 360.0, 10.0, 0.5, 3, None, median=9.5, p95=12.0)
        put_forecasts(conn, [whole, whole._replace(cluster_id=dahu, throughput=36.05)], 60.0)
    return campaign


@pytest.mark.noon
def test_open_campaigns_are_listed(run: Run, campaign: int, database: Database) -> None:
    with database.begin() as conn:
        paused, cancelled = a_campaign(conn, 3, name="pause", user="bob"), a_campaign(conn, 1, name="gone")
        hold_campaign(conn, paused, BOB)
        set_time(conn, NOON + timedelta(hours=1))
        cancel_campaign(conn, cancelled, ALICE)
    header = "Campaign id  Name    User   Submission time      S   Progress   End\n"
    first = "1            povray  alice  2026-03-01 12:00:00  Re  2/6 (33%)  -\n"
    second = "2            pause   bob    2026-03-01 12:00:00  H   0/3 (0%)   -\n"
    third = "3            gone    alice  2026-03-01 12:00:00  C   0/1 (0%)   2026-03-01 13:00:00\n"
    assert run() == (0, header + first + second, "")
    assert run("-a") == (0, header + first + second + third, "")
    assert run("-H", "-u", "bob").out.split() == second.split()
    assert [view["id"] for view in run("--json", "-a").json] == [1, 2, 3]


def test_no_campaign_is_no_failure_but_says_what_to_do(run: Run) -> None:
    printed = run()
    assert (printed.status, printed.out) == (0, "")
    assert "gridsub" in printed.err
    assert run("--json").json == []


def test_a_job_tells_how_often_the_grid_asks_it_to_save_as_its_page_says(
    run: Run, campaign: int, database: Database
) -> None:
    assert "Checkpoints:" not in run("-j", 1).out
    chosen = {"checkpoint_period": 1900, "checkpoint_life": 14_400.0, "checkpoint_cost": 120.0}
    with database.begin() as conn:
        conn.execute(update(Batch).values(chosen))
    line = next(line for line in run("-j", 1).out.splitlines() if line.startswith("Checkpoints:"))
    page = Path(__file__).parents[2] / "docs" / "how-to" / "continue-from-checkpoints.md"
    assert " ".join(line.split()) in page.read_text()
    assert run("-j", 1, "--json").json.items() >= chosen.items()


@pytest.mark.noon
def test_one_campaign_is_shown_with_its_clusters(run: Run, campaign: int) -> None:
    assert (
        run(campaign).out
        == """\
Campaign:      1
Name:          povray
User:          alice
Submitted:     2026-03-01 12:00:00
State:         in treatment
Progress:      2/6 (33%)
Tasks:         1 waiting, 2 in jobs, 2 done, 1 failed, 0 cancelled; running jobs: 1
Duration:      10 s on average, deviation 0.5 s
Median:        9.5 s, 95 % within 12 s
Throughput:    360 tasks/h
Failure rate:  25.0 %
Resubmit rate: 25.0 %
Errors:        1 to fix: `gridstat -e 1`
Scheduler:     workqueue

Cluster  State     To launch  Waiting  Running  Prologue  Epilogue  Done  Failures  Resubmitted  Tasks/h  Mean  Deviation
dahu     ok        0          1        1        none      none      2     1         1            36.0     10 s  0.5 s
luke     disabled  0          0        0        none      none      0     0         0            -        -     -
luke: the operator gives this cluster no new jobs

1 x exit 3 on dahu: no such file
`gridstat --failed 1` shows the tasks, `gridsub --resubmit 1` redoes them
"""  # noqa: E501  # as wide as the table
    )


@pytest.mark.noon
def test_priorities_are_shown_where_somebody_gave_one(run: Run, campaign: int, database: Database) -> None:
    assert "Priority" not in run(str(campaign)).out
    with database.begin() as conn:
        set_own_priority(conn, campaign, ROOT, 3)
        set_priority(conn, campaign, -1)
    assert "3 among those of alice, -1 among all, by the operator" in run(str(campaign)).out


def test_the_end_is_told_as_a_date_and_as_a_duration(run: Run, campaign: int, database: Database) -> None:
    with database.begin() as conn:
        now = conn.exec_driver_sql("SELECT now()").scalar_one()
        eta = now + timedelta(hours=5, minutes=30, seconds=30)
        put_forecasts(conn, [NewForecast(campaign, None, 1.0, 1.0, 1.0, None, 3, eta)], 60.0)
    assert f"{eta:%Y-%m-%d %H:%M:%S} (in 5 h 30 min)" in run(campaign).out
    assert "in 5 h 30 min" in run().out
    with database.begin() as conn:
        hold_campaign(conn, campaign, ALICE)
    assert "5 h 30 min" not in run(campaign).out


def test_the_end_is_told_with_its_interval(run: Run, campaign: int, database: Database) -> None:
    with database.begin() as conn:
        eta = conn.exec_driver_sql("SELECT now()").scalar_one() + timedelta(hours=5, seconds=30)
        low, high = eta - timedelta(hours=1), eta + timedelta(hours=2)
        whole = NewForecast(campaign, None, 1.0, 1.0, 1.0, None, 3, eta, eta_low=low, eta_high=high)
        put_forecasts(conn, [whole], 60.0)
    assert f"(in 5 h, 90 %: {low:%Y-%m-%d %H:%M:%S} to {high:%Y-%m-%d %H:%M:%S})" in run(campaign).out
    assert "90 %" not in run().out
    (found,) = run(campaign, "--json").json
    assert [found[name][:19] for name in ("eta_low", "eta_high")] == [f"{at:%Y-%m-%dT%H:%M:%S}" for at in (low, high)]
    assert found["calibration"] is None


@pytest.mark.noon
def test_an_ended_campaign_tells_whether_its_forecasts_were_right(run: Run, campaign: int, database: Database) -> None:
    """Of five intervals three held the end; what was told when nothing was left, or after, does not count."""
    hour = timedelta(hours=1)
    rows = [(0.5, 1, 3), (1, 1.5, 4), (2, 3, 4), (2.2, 2.5, 4), (2.4, 3, 4), (2.5, 0, 9)]
    with database.begin() as conn:
        for at, low, high in rows:
            left = 0 if low == 0 else 3
            times = (NOON + hour * low, NOON + hour * high)
            told = NewForecast(campaign, None, 1.0, 1.0, 1.0, None, left, times[1], eta_low=times[0], eta_high=times[1])
            set_time(conn, NOON + hour * at)
            put_forecasts(conn, [told], 60.0)
        conn.exec_driver_sql(
            "UPDATE campaigns SET state = 'terminated', ended_at = timestamptz '2026-03-01 14:45+00' WHERE id = %s",
            (campaign,),
        )
    assert "Forecasts:     the actual end was inside 3 of 5 predicted intervals of 90 %\n" in run(campaign).out
    assert run(campaign, "--json").json[0]["calibration"] == 3 / 5
    with database.begin() as conn:
        conn.exec_driver_sql("DELETE FROM forecast_history WHERE eta_low = timestamptz '2026-03-01 15:00+00'")
    assert "Forecasts:" not in run(campaign).out  # of three nobody can tell how good they are


@pytest.mark.noon
def test_a_full_view_shows_the_tasks(run: Run, campaign: int) -> None:
    full = run("-f", campaign, "-H").out
    assert full.endswith("""
0  0  done                 1  1  dahu  r1  0  10 s  node-1
1  1  done                 1  2  dahu  r2  0  10 s  node-1
2  2  failed               1  3  dahu  r3  3  10 s  node-1
3  3  waiting (preempted)  1  4  dahu  r4  -  10 s  node-1
4  4  running              1  5  dahu  r5  -  -     node-1
5  5  submitted            1  6  dahu  r6  -  -     -
""")
    assert [task["number"] for task in run("-f", campaign, "-o", 4, "--json").json[0]["tasks"]] == [4, 5]
    assert [task["number"] for task in run("-f", campaign, "-n", 2, "--json").json[0]["tasks"]] == [5, 4]
    assert [task["number"] for task in run("-f", campaign, "-n", 2, "-o", 1, "--json").json[0]["tasks"]] == [1, 2]
    assert run(campaign, "--json").json[0].keys() >= {"clusters", "total", "done"}


@pytest.mark.noon
def test_the_scheduler_of_campaigns_that_name_none_is_a_setting(
    run: Run, campaign: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET scheduler = ''"))
    assert run(campaign, "--json").json[0]["served_by"] == "workqueue"
    monkeypatch.setenv("CIGRI_SET_POLICY__SCHEDULER", "prediction")
    assert run(campaign, "--json").json[0]["served_by"] == "prediction"


@pytest.mark.noon
def test_replicas_and_the_scheduler_of_now_are_shown(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 2, clusters=("dahu", "luke"), max_replicas=1)
        conn.execute(text("UPDATE campaigns SET scheduler = ''"))
    shown = run("-f", campaign).out
    assert "Scheduler: workqueue; until a first task has succeeded" in shown
    assert "Replicas:  0 begun, 0 won, 0 live; losers have burnt 0 core-seconds" in shown
    with database.begin() as conn:
        submitted_jobs(conn, campaign, 1, 2)
        put_replicas(conn, campaign, [NewJob(2, 1, 60, [WaitingTask(id, 1, 1, 0)]) for id in (1, 2)])
        run_jobs(conn, [1, 2, *launch_jobs(conn, 2, 2)])
        end_jobs(conn, 2, [3])
        end_jobs(conn, 1, [1], Outcome.SUPERSEDED, seconds=8.0)
    shown = run("-f", campaign).out
    assert "Scheduler:     workqueue, and finalize now that no task waits" in shown
    assert "Replicas:      2 begun, 1 won, 1 live; losers have burnt 8 core-seconds" in shown
    assert "Replicas" not in run(campaign).out
    (answer,) = run("-f", campaign, "--json").json
    assert answer["replicas"] == {"begun": 2, "won": 1, "live": 1, "burnt": 8.0}
    assert answer["served_by"] == "finalize"
    assert "running (replica)" in run("--task", 2).out
    assert run("-J", campaign).json["replicate"] == {"budget": 0.5, "max_replicas": 1}


@pytest.mark.noon
def test_several_campaigns_are_summed_up(run: Run, campaign: int, database: Database) -> None:
    with database.begin() as conn:
        a_campaign(conn, 4, user="bob")
    summary = """\
Campaign id  Name         User   S   Waiting  In jobs  Done  Failed  Cancelled  Tasks/h  End
1            povray       alice  Re  1        2        2     1       0          360      -
2            povray       bob    R   4        0        0     0       0          -        -
total        2 campaigns  -      -   5        2        2     1       0          360      -
"""
    assert run("1-2") == run("1,2") == run(1, 2) == run("-c", 1, "-c", 2) == run("-s") == (0, summary, "")
    assert "total  1 campaigns" in run("-s", "-u", "bob", "-H").out
    partial = run("1-4")
    assert partial.status == 1
    assert "2            povray" in partial.out
    assert "no campaign 3, 4" in partial.err


@pytest.mark.noon
def test_an_ended_campaign_has_the_throughput_of_its_whole_life(run: Run, database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 6)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 6))
        set_time(conn, NOON + timedelta(hours=2))
        close_campaigns(conn)
        set_time(conn, NOON + timedelta(days=40))
        archive_campaign(conn, campaign)
    shown = run(campaign, "-f")
    assert "Throughput:    3.0 tasks/h\nEnd:           2026-03-01 14:00:00\n" in shown.out
    assert "State:         terminated, archived 2026-04-10 12:00:00\n" in shown.out
    assert "5     5          done   1         -    dahu" in shown.out
    assert "  ended  " in shown.out
    task = run("--task", f"{campaign}:5")
    assert "Last exit code: 0" in task.out


def test_what_stands_in_the_way_is_said_per_cluster(run: Run, database: Database) -> None:
    names = ("away", "aside", "full", "fine")
    with database.begin() as conn:
        ids = {name: a_cluster(conn, name, free=0 if name == "full" else 5) for name in names}
        campaign = a_campaign(conn, 1, clusters=names)
        away = find_cluster(conn, "away")
        assert away is not None
        put_failure(conn, away, "CLUSTER_UNREACHABLE", "no route to host")
        update_error_budgets(
            conn, ids["aside"], "aside", {campaign: ErrorBudgetUpdate(False, 10, "exit code 7")}, BudgetSettings()
        )
    printed = run(campaign, "--json").json[0]["clusters"]
    states = {part["cluster"]: part["obstacle"]["state"] for part in printed}
    assert states == {"away": "unreachable", "aside": "set aside", "full": "full", "fine": "ok"}
    text = run(campaign).out
    assert "exit code 7" in text
    assert "gridclusters -i away" in text
    with database.begin() as conn:
        hold_campaign(conn, campaign, ALICE)
    assert f"gridresume {campaign}" in run(campaign).out


@pytest.mark.noon
def test_errors_say_how_to_go_on(run: Run, campaign: int) -> None:
    printed = run("-e")
    assert printed.out.startswith("Event id  Code")
    assert "TASK_FAILED  1         dahu     3    1      2026-03-01 12:00:00  failure, exit code 3;" in printed.out
    assert "gridevents -f -e EVENT" in printed.out
    assert run("-e", campaign) == printed
    assert [error["code"] for error in run("-e", "--json").json] == ["TASK_FAILED"]
    others = run("-e", "-u", "bob")
    assert (others.status, others.out) == (0, "")
    assert "no error to fix" in others.err
    assert run("-e", 99).status == 1


@pytest.mark.noon
def test_a_job_is_shown_with_its_tasks(run: Run, campaign: int, database: Database) -> None:
    printed = run("-j", 3).out
    for line in ("Outcome:    failure", "Exit code:  3", "Reason:     bad luck", "Remote id:  r3", "Local user: alice"):
        assert line + "\n" in printed
    assert "1         2     1        failure  3          2026-03-01 11:59:50  10 s      2\n" in printed
    with database.begin() as conn:
        kill_job(conn, 6, ROOT)
    assert "Kill:       user, asked by root\n" in run("-j", 6).out
    assert run("-j", 6, "--json").json["attempts"][0]["task_number"] == 5


@pytest.mark.noon
def test_a_job_is_shown_with_exactly_what_it_was_given(run: Run, database: Database) -> None:
    resources = {"cpu": 1, "nodes": 1, "mem": "{} * 10", "tmp": 0, "gpu": 2, "native": []}
    with database.begin() as conn:
        cluster = a_cluster(conn, "dahu")
        sized_campaign = sized(conn, [9, 9.5], settings={**SIZED, "resources": resources})
        alone, both = (take_waiting(conn, sized_campaign, number) for number in (1, 2))
        put_jobs(conn, sized_campaign, [NewJob(cluster, 1, 60, alone)])
        put_jobs(conn, sized_campaign, [NewJob(cluster, 2, 60, both[1:], 2)])
    assert "Given:    gpu 2, mem 90 MB\n" in run("-j", 1).out
    assert run("-j", 2, "--json").json["given"] == {"gpu": 4, "mem": 190}


@pytest.mark.noon
def test_a_task_is_shown_with_all_its_attempts(run: Run, campaign: int, database: Database) -> None:
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        submitted_jobs(conn, campaign, cluster.id, 1)
    by_number = run("--task", f"{campaign}:3", "-H").out
    attempts = by_number.split("\n\n")[1].splitlines()
    assert [line.split()[:5] for line in attempts] == [
        ["1", "4", "dahu", "r4", "preempted"],
        ["2", "7", "dahu", "r1", "submitted"],
    ]
    task_id = run("--task", f"{campaign}:3", "--json").json["id"]
    assert run("--task", task_id, "-H").out == by_number


@pytest.mark.noon
def test_the_stored_description_is_json(run: Run, campaign: int) -> None:
    assert run("-J", campaign).json["clusters"].keys() == {"dahu", "luke"}


@pytest.mark.noon
@pytest.mark.parametrize(
    "argv",
    [("99",), ("-f", "99"), ("-J", "99"), ("-j", "99"), ("--task", "99"), ("--task", "1:99"), ("-w", "99")],
)
def test_what_does_not_exist_is_a_failure_with_a_hint(run: Run, campaign: int, argv: tuple[str, ...]) -> None:
    printed = run(*argv)
    assert (printed.status, printed.out) == (1, "")
    assert "`gridstat " in printed.err


@pytest.mark.parametrize(
    "argv",
    [
        ("-f",),
        ("-f", "1,2"),
        ("-J",),
        ("-o", "3"),
        ("-f", "1", "-o", "-1"),
        ("-O",),
        ("-j", "1", "-O", "--json"),
        ("-j", "1", "2"),
        ("-j", "1", "-u", "bob"),
        ("-j", "9999999999999999999"),
        ("-a", "1"),
        ("-w", "--json"),
        ("-H", "--json"),
        ("-e", "-w"),
        ("--task", "one"),
        ("x",),
        ("--watchful",),
    ],
)
def test_what_would_be_ignored_is_refused(run: Run, argv: tuple[str, ...]) -> None:
    printed = run(*argv)
    assert (printed.status, printed.out) == (2, "")
    assert "gridstat --help" in printed.err


@pytest.mark.noon
def test_control_characters_of_others_do_nothing_to_my_terminal(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, ["\033[2J"], name="\033]0;owned")
    for argv in ((), ("1",), ("-f", "1"), ("--task", "1:0"), ("-s",)):
        printed = run(*argv)
        assert printed.status == 0
        assert "\033" not in printed.out


def test_a_nightly_campaign_tells_when_its_cluster_opens(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        now = server_time(conn)
        a_campaign(conn, 1)
        conn.execute(text('UPDATE campaign_clusters SET settings = settings || \'{"type": "nightly"}\''))
    assert "the operator of cluster dahu has declared no hours for its jobs" in run(1).out

    def told(first: float, last: float) -> str:
        window = "-".join(f"{now + timedelta(hours=hours):%H:%M}" for hours in (first, last))
        with database.begin() as conn:
            a_cluster(conn, hours=[window])
        return run(1).out

    opening = f"{(now + timedelta(hours=2)):%Y-%m-%d %H:%M}:00"
    assert f"outside the hours of cluster dahu, opens at {opening}" in told(2, 3)
    assert f"the hours of cluster dahu end at {(now + timedelta(hours=0.5)):%Y-%m-%d %H:%M}:00, before" in told(-1, 0.5)
    assert "outside hours" not in told(-1, 2)


@pytest.mark.noon
def test_why_tells_what_keeps_a_campaign_from_more_jobs_on_each_cluster(
    run: Run, campaign: int, database: Database
) -> None:
    with database.begin() as conn:
        put_cuts(conn, [NewPendingReason(campaign, 1, PendingReasonCode.LIMIT, "matlab", 9, 9)])
        set_time(conn, NOON + timedelta(hours=1))
        put_cuts(conn, [NewPendingReason(campaign, 1, PendingReasonCode.LIMIT, "matlab", 8, 9)])
    status, told, _ = run("--why", str(campaign))
    assert status == 0
    dahu, luke, between, *queues = told.splitlines()[1:]
    assert between == ""
    assert [line.split()[:2] for line in queues] == [["Queue", "Eligible"], ["dahu", "yes"], ["luke", "yes"]]
    assert dahu.split()[:7] == ["dahu", "ok", "0", "1", "1", "2026-03-01", "12:00:00"]
    assert dahu.endswith("8 of 9 matlab are in use (`limits`)")
    assert luke.split()[:6] == ["luke", "disabled", "0", "0", "0", "-"]
    assert luke.endswith("the operator gives this cluster no new jobs")
    (first, second) = json.loads(run("--why", str(campaign), "--json")[1])
    assert (first["reason"], first["name"], first["used"], first["most"]) == ("limit", "matlab", 8, 9)
    assert (second["reason"], second["state"]) == (None, "disabled")


@pytest.mark.noon
def test_results_that_are_doubted_are_shown_with_the_way_on(run: Run, database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 2), seconds=0.1)
        mark_doubtful(conn, DoubtfulResults(campaign, cluster, "dahu", 0.5, None, "2 of 2 tasks ended within 0.5 s"))
    for words in ((str(campaign),), ("--why", str(campaign))):
        told = run(*words).out
        assert " doubted " in told
        assert "2 of 2 tasks ended within 0.5 s. 2 results are doubted, and the cluster is set aside" in told
        assert "with --resubmit the tasks are done again" in told
    assert run("-f", str(campaign)).out.count("done (doubtful)") == 2
    assert "RESULTS_DOUBTED" in run("-e", str(campaign)).out


def test_why_is_about_one_campaign(run: Run) -> None:
    assert run("--why")[0] == 2
    assert run("--why", "99")[0] == 1


@pytest.mark.parametrize("reason", PendingReasonCode)
def test_every_reason_has_a_sentence(reason: PendingReasonCode) -> None:
    name = "*,*,all,alice" if reason in QUOTAS else "alice"
    said = cut_sentence(PendingReasonView("dahu", reason, name, 1, 2, NOON))
    assert "{" not in said
    assert ("alice" in said) == ("{name}" in SENTENCES[reason] or reason in QUOTAS)


@pytest.mark.parametrize(
    ("used", "most", "said"),
    [
        (0, 0, "all cores are busy"),
        (0, 20, "all cores are busy; up to 20 jobs may be queued"),
        (3, 0, "all cores are busy; 3 jobs are queued ahead"),
        (1, 0, "all cores are busy; 1 job is queued ahead"),
        (3, 20, "all cores are busy; 3 jobs are queued ahead (limit 20)"),
    ],
)
def test_what_nobody_waits_for_is_no_part_of_why(used: int, most: int, said: str) -> None:
    assert cut_sentence(PendingReasonView("dahu", PendingReasonCode.FULL, "", used, most, NOON)) == said


@pytest.mark.parametrize(
    ("lends", "held"), [(False, "1 and 2 by suspended jobs"), (True, "1")], ids=["cores are kept", "cores are lent"]
)
def test_why_says_who_has_the_cores_of_a_full_cluster(
    lends: bool, held: str, run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalDriver, "lends_cores", lends)
    with database.begin() as conn:
        dahu = a_cluster(conn, options={"spool": "/nowhere"})
        urgent, slow, other = a_campaign(conn, 1), a_campaign(conn, 3, user="bob"), a_campaign(conn, 1)
        jobs = submitted_jobs(conn, slow, dahu, 3)
        run_jobs(conn, [*jobs, *submitted_jobs(conn, other, dahu, 1)])
        conn.execute(text(f"UPDATE jobs SET halted_since = now() WHERE id IN ({jobs[1]}, {jobs[2]})"))
        put_cuts(conn, [NewPendingReason(urgent, dahu, PendingReasonCode.FULL, "", 0, 0)])
    (part,) = run("--why", urgent, "--json").json
    users = f"campaign {slow} of bob {held}, campaign {other} of alice 1"
    assert part["why"] == f"all cores are busy; cores in use: {users}"


@pytest.mark.noon
def test_a_campaign_of_which_only_failures_are_left_waits_for_its_user(run: Run, database: Database) -> None:
    with database.begin() as conn:
        dahu = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        jobs = submitted_jobs(conn, campaign, dahu, 2)
        run_jobs(conn, jobs)
        end_jobs(conn, dahu, jobs[:1], Outcome.FAILURE, exit_code=3, reason="bad luck")
    assert "waits for you" not in run("--why", campaign).out
    with database.begin() as conn:
        end_jobs(conn, dahu, jobs[1:])
    (part,) = run("--why", campaign, "--json").json
    assert part["state"] == "waits for you"
    assert part["why"] == f"1 task failed: `gridstat -e {campaign}` says why and how to go on"
