"""What people read says what is meant, in the same figures everywhere."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.api_models.health import CheckStatus
from cigri.cli import gridclusters, gridstat
from cigri.database import Database
from cigri.flow.campaigns import close_campaigns
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.presentation.formatting import STATE_LETTERS, format_count, format_relative
from modules.operator.health_checks import HealthCheckList
from tests.cli.running import Run
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

COMMAND = gridstat
ROOT = Path(__file__).parents[2]
RIDDLES = (
    "waiting tasks are given up, jobs on clusters",
    "only that one",
    "it lets a browser in as",
    "the almighty does not run, nor has",
    "of the usual is asked of it",
    "who shows one of yours is you",
    "What is larger lies better",
    "cd a fresh one of its own",
    "per core, 10 is borne",
    "was told beforehand",
    "Where nothing is drawn, nobody has looked",
    "Each bar stands where it was said",
    "Jobs/h",
    "no core is free for it",
    '"no core is free"',
    "wait behind those that can start",
    'are kept waiting"',
    "every job of ours",
    "jobs of ours live",
    ": not so\n",
    "stages no files",
    "Too little kills it",
    "brings them",
    "brings what is left",
    'brings all"',
    "is told so;",
    'stand still"',
    "on a cluster gives no sense",
    ">nobody has looked<",
    "nobody has looked: the campaign",
    "others go first: they were given",
    "the forecast lets",
    "older life of this grid lies",
)
"""Sentences that nobody understood at once; there are plain ones in their place."""


@pytest.fixture
def dahu(database: Database) -> int:
    with database.begin() as conn:
        return a_cluster(conn)


def test_an_ended_campaign_has_one_throughput(run: Run, database: Database, dahu: int) -> None:
    with database.begin() as conn:
        campaign = a_campaign(conn, 6)
        whole = NewForecast(campaign, None, 1.0, 360.0, 10.0, 0.5, 3, None)
        put_forecasts(conn, [whole, whole._replace(cluster_id=dahu)], 60.0)
        end_jobs(conn, dahu, submitted_jobs(conn, campaign, dahu, 6))
        set_time(conn, NOON + timedelta(hours=2))
        close_campaigns(conn)
    shown = run(campaign).out
    assert "Throughput:    3.0 tasks/h\n" in shown
    assert shown.splitlines()[-1].split()[10:12] == ["3.0", "10"]
    (told,) = run(campaign, "--json").json
    assert (told["throughput"], told["clusters"][0]["throughput"]) == (3.0, 3.0)
    assert [one["throughput"] for one in run("-a", "--json").json] == [3.0]


def test_an_ordinary_campaign_is_not_called_a_test(run: Run, database: Database, dahu: int) -> None:
    with database.begin() as conn:
        first, second = a_campaign(conn, 2, max_replicas=1), a_campaign(conn, 2)
        conn.execute(text("UPDATE campaigns SET scheduler = ''"))
        end_jobs(conn, dahu, submitted_jobs(conn, first, dahu, 1))
    usual = "Scheduler:     workqueue\n"
    assert usual in run(first).out
    trying = "workqueue; until a first task has succeeded, a few are tried on each cluster"
    assert f"Scheduler: {trying}\n" in run(second).out
    assert [run(id, "--json").json[0]["served_by"] for id in (first, second)] == ["workqueue", "test"]
    with database.begin() as conn:
        submitted_jobs(conn, first, dahu, 1)
    assert "Scheduler:     workqueue, and finalize now that no task waits" in run(first).out
    with database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET type = 'test'"))
    assert "Scheduler: test\n" in run(second).out


def test_zero_tasks_are_all_tasks(run: Run, database: Database, dahu: int) -> None:
    with database.begin() as conn:
        a_campaign(conn, 150)

    def numbers(*options: object) -> list[int]:
        return [task["number"] for task in run("-f", 1, *options, "--json").json[0]["tasks"]]

    assert len(numbers()) == 100
    assert numbers("-n", 0) == list(range(150))
    assert numbers("-o", 140, "-n", 0) == list(range(140, 150))


def test_the_help_explains_every_letter(run: Run) -> None:
    shown = run("--help").out
    states = shown[shown.index("states:") :]
    for letter in [*STATE_LETTERS.values(), "H", "e"]:
        assert f" {letter} " in states or f" {letter}: " in states


def test_the_settings_of_a_cluster_are_written_for_people(
    run: Run, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.begin() as conn:
        ssh = {"host": "f.example.org", "key_file": "~/.ssh/id"}
        options = {"pools": {"tmp": 5000}, "queues": ["a", "b"], "is_odd": True, "none": None}
        a_cluster(conn, "new", driver="slurm", transport="ssh", ssh=ssh, options=options, hours_overrun=False)
    assert gridclusters.main(["-i", "new"]) == 0
    shown = capsys.readouterr().out
    assert "host=f.example.org, key_file=~/.ssh/id" in shown
    assert "pools.tmp=5000, is_odd=yes, queues=a b\n" in shown
    assert "Hours overrun: no\n" in shown
    for word in ("True", "False", "None", "{", "["):
        assert word not in shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (3600, "1 hour ago"),
        (2 * 86400, "2 days ago"),
        (-30, "in less than 1 min"),
        (-7200, "in 2 hours"),
    ],
)
def test_a_time_is_told_from_now(seconds: float, words: str) -> None:
    assert format_relative(seconds) == words


def test_one_thing_is_no_things() -> None:
    assert [format_count(number, "task") for number in (0, 1, 2062)] == ["0 tasks", "1 task", "2,062 tasks"]


@pytest.mark.parametrize("riddle", RIDDLES)
def test_no_riddle_comes_back(riddle: str) -> None:
    places = [ROOT / "README.md"]
    for room, kind in (
        ("cigri", "*.py"),
        ("modules", "*.py"),
        ("modules", "*.html"),
        ("docs", "*.md"),
        ("etc", "*.yaml"),
    ):
        places += (ROOT / room).rglob(kind)
    assert [str(path) for path in places if riddle in path.read_text()] == []


def test_a_failed_check_of_the_doctor_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    checks = HealthCheckList(prints=True)
    checks.tell("the cat is in", [], CheckStatus.ODD, "the cat is out")
    checks.tell("the cat is in", ["since noon"], CheckStatus.ODD, "the cat is out")
    checks.tell("the dog is in", ["since one"], CheckStatus.BROKEN)
    told = "\N{CHECK MARK} the cat is in\n! the cat is out\n  since noon\n"
    assert capsys.readouterr().out == f"{told}\N{BALLOT X} check failed: the dog is in\n  since one\n"
