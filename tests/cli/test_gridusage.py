"""gridusage: who has used how many core-hours, of what, where, and when; over the portal and on the database."""

import csv

import pytest
from sqlalchemy import text

from cigri.cli import gridusage
from cigri.database import Database
from cigri.flow.accounting import Days, list_accounted
from cigri.formats.units import DAY, HOUR
from cigri.states import Outcome
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.flow.test_accounting import one_ended

COMMAND = gridusage
pytestmark = [pytest.mark.noon, pytest.mark.usefixtures("both_ways")]


@pytest.fixture(autouse=True)
def _used(database: Database) -> None:
    """On 2026-03-01 at noon these have ended, after so long; the first on the day before, too."""
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", DAY, cores=2)
        one_ended(conn, "alice", HOUR, outcome=Outcome.FAILURE)
        one_ended(conn, "alice", 2 * HOUR, outcome=Outcome.PREEMPTED)
        one_ended(conn, "bob", HOUR / 2)


def table(run: Run, *argv: object) -> list[list[str]]:
    told = run(*argv, "--csv")
    assert told.status == 0, told.err
    return list(csv.reader(told.out.splitlines()))


EVERY_DAY = ("--from", "2026-01-01", "--to", "2026-12-31")


def test_what_failed_and_what_was_lost_are_told_apart(run: Run) -> None:
    assert table(run, *EVERY_DAY) == [
        ["user", "jobs", "well", "failed", "lost", "replicas", "asked"],
        ["alice", "3", "48.00", "1.00", "2.00", "0.00", "4.00"],
        ["bob", "1", "0.50", "0.00", "0.00", "0.00", "1.00"],
    ]


def test_days_are_told_apart_and_chosen(run: Run) -> None:
    both = table(run, *EVERY_DAY, "--by", "user,day", "--user", "alice")
    assert both[0][:2] == ["day", "user"]
    assert [(row[0][:10], row[2:4]) for row in both[1:]] == [
        ("2026-02-28", ["0", "24.00"]),
        ("2026-03-01", ["3", "24.00"]),
    ]
    assert table(run, "--from", "2026-02-28", "--to", "2026-02-28")[1:] == [
        ["alice", "0", "24.00", "0.00", "0.00", "0.00", "0.00"]
    ]


def test_json_is_in_core_seconds(run: Run) -> None:
    (told,) = run(*EVERY_DAY, "--by", "cluster", "--json").json
    assert told == {
        **dict.fromkeys(("day", "user", "project", "type")),
        **{
            "cluster": "dahu",
            "jobs": 4,
            "well": 48.5 * HOUR,
            "failed": 1.0 * HOUR,
            "lost": 2.0 * HOUR,
            "replicas": 0.0,
            "asked": 5.0 * HOUR,
        },
    }


def test_types_are_told_apart_and_chosen(run: Run, database: Database) -> None:
    with database.begin() as conn:
        campaign = a_campaign(conn, 1, user="bob")
        nightly = 'UPDATE campaign_clusters SET settings = settings || \'{"type": "nightly"}\' WHERE campaign_id = :id'
        conn.execute(text(nightly), {"id": campaign})
        ids = submitted_jobs(conn, campaign, 1, 1)
        run_jobs(conn, ids)
        end_jobs(conn, 1, ids, seconds=HOUR)
    both = table(run, *EVERY_DAY, "--by", "type,user")
    assert both[0][:2] == ["user", "type"]
    assert [(*row[:4], row[-1]) for row in both[1:]] == [
        ("alice", "best-effort", "3", "48.00", "4.00"),
        ("bob", "best-effort", "1", "0.50", "1.00"),
        ("bob", "nightly", "1", "1.00", "1.00"),
    ]
    assert [row[:3] for row in table(run, *EVERY_DAY, "--type", "nightly")[1:]] == [["bob", "1", "1.00"]]


def test_the_sums_are_those_that_accounting_tells(run: Run, database: Database) -> None:
    with database.begin() as conn:
        accounted = list_accounted(conn, Days(900))
    told = run(*EVERY_DAY, "--by", "user,project,cluster", "--json").json
    names = ("user", "project", "cluster", "jobs", "well")
    assert [tuple(work[name] for name in names) for work in told] == [work[:5] for work in accounted]
    assert [work["failed"] + work["lost"] for work in told] == [work.lost for work in accounted]


def test_a_person_gets_a_table(run: Run) -> None:
    told = run(*EVERY_DAY).out
    assert told.splitlines()[0].split() == ["user", "jobs", "well", "failed", "lost", "replicas", "asked"]
    assert "no job has ended in these days" in run("--to", "2020-01-01").err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--by", "moon"], "'moon' groups nothing; there are day, user, project, cluster"),
        (["--type", "moon"], "'moon' is no type of jobs; there are best-effort, semi-best-effort, nightly, normal"),
        (["--from", "yesterday"], "'yesterday' is no day"),
        (["--from", "2026-03-02", "--to", "2026-03-01"], "before they begin on 2026-03-02"),
        (["--csv", "--json"], "not allowed with"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told(argv: list[str], says: str, run: Run) -> None:
    told = run(*argv)
    assert (told.status, says in told.err) == (2, True), told.err
