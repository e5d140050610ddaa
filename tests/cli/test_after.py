"""A campaign that waits for others, as its user sees it: `gridsub --after`, `gridstat`, `gridresume --regardless`."""

import json
from types import SimpleNamespace

import pytest

from cigri.cli import gridhold, gridstat, gridsub
from cigri.database import Database
from cigri.flow.dependencies import NewDependency, release_tasks
from cigri.flow.views.dependencies import list_after
from tests.cli.conftest import AsUser
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

PROGRAMS = {"gridsub": gridsub.main, "gridstat": gridstat.main, "gridresume": gridhold.resume}
COMMAND = SimpleNamespace(main=lambda argv: PROGRAMS[argv[0]](argv[1:]))
CAMPAIGN = {"name": "solve", "exec_file": "true", "clusters": {"dahu": {}}, "params": [str(n) for n in range(37)]}
DESCRIBED = json.dumps(CAMPAIGN)


@pytest.fixture(autouse=True)
def alice(as_user: AsUser) -> None:
    as_user("alice")


def required(database: Database, campaign_id: int) -> list[tuple[int, str, str]]:
    with database.begin() as conn:
        return [(one.campaign_id, one.tasks, one.state) for one in list_after(conn, campaign_id)]


@pytest.mark.usefixtures("both_ways")
def test_it_waits_for_what_is_said_beside_the_description(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 40, name="make")
        other = a_campaign(conn, 2, name="other")
    printed = run("gridsub", "--after", f"{first}:same", "--after", "other", "-j", DESCRIBED)
    assert printed.out == f"Campaign successfully submitted\nCAMPAIGN_ID={other + 1}\n"
    assert required(database, other + 1) == [(first, "same", "waits"), (other, "all", "waits")]


def test_the_portal_takes_it_in_the_description(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 40)
    described = json.dumps({**CAMPAIGN, "after": [{"campaign": first, "when": "end"}]})
    assert run("gridsub", "-j", described).status == 0
    assert required(database, first + 1) == [(first, "all", "waits")]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("99", "after[0]: there is no such campaign as 99"),
        ("solve", "after[0]: there is no such campaign as solve"),  # it is none before it is stored
        ("2", "after[0]: there is no such campaign as 2"),  # of somebody else
        ("1:same", "after[0]: campaign 1 has 3 tasks, and this one 37"),
    ],
)
@pytest.mark.parametrize("check", [[], ["--check"]])
def test_what_cannot_be_waited_for_is_refused(
    run: Run, database: Database, after: str, message: str, check: list[str]
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3, name="make")
        a_campaign(conn, 40, name="theirs", user="bob")
    printed = run("gridsub", *check, "--after", after, "-j", DESCRIBED)
    assert printed.status == 1
    assert message in printed.err
    assert "nothing was submitted" in printed.err


def test_a_check_shows_what_it_would_wait_for(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 40)
    printed = run("gridsub", "--check", "--after", first, "-j", DESCRIBED)
    assert f"  after        once campaign {first} has ended well\n" in printed.out
    assert run("gridsub", "--check", "--after", first, "-j", DESCRIBED, "--output", "json").json[0]["after"] == [
        f"once campaign {first} has ended well"
    ]


def test_options_that_do_not_go_together(run: Run) -> None:
    assert run("gridsub", "-c", "1", "-J", "[]", "--after", "2").status == 2
    assert run("gridsub", "--resubmit", "1", "--after", "2").status == 2
    for options in (["-j", "1"], ["1", "--cluster", "dahu"]):
        printed = run("gridresume", *options, "--regardless")
        assert printed.status == 2
        assert "--regardless is for whole campaigns" in printed.err


@pytest.mark.noon
@pytest.mark.usefixtures("both_ways")
def test_its_user_is_told_for_what_it_waits(run: Run, database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first = a_campaign(conn, 2, name="make")
        second = a_campaign(conn, 37, name="solve", after=[NewDependency(first)])
    told = run("gridstat", second).out
    assert "37 blocked, 0 waiting" in told
    assert f"AFTER:     37 of 37 wait for campaign {first}, which has not begun" in told
    assert f"dahu: 37 of 37 tasks wait for other campaigns: `gridstat --why {second}`" in " ".join(told.split())
    whys = run("gridstat", "--why", second).out
    assert whys.startswith(f"AFTER: 37 of 37 wait for campaign {first}, which has not begun\n\n")
    [view] = run("gridstat", "--json", second).json[0]["after"]
    assert (view["campaign_id"], view["state"], view["has_begun"], view["left"]) == (first, "waits", False, 2)
    with database.begin() as conn:
        end_jobs(conn, cluster, submitted_jobs(conn, first, cluster, 1))
        eta = "INSERT INTO forecasts (campaign_id, at, ratio, remaining, eta) "
        conn.exec_driver_sql(eta + f"VALUES ({first}, now(), 1, 1, '2026-03-01 15:38+00')")
    assert "which ends at 2026-03-01 15:38" in run("gridstat", "--why", second).out
    with database.begin() as conn:
        conn.exec_driver_sql("DELETE FROM forecasts")
        end_jobs(conn, cluster, submitted_jobs(conn, first, cluster, 1))
        release_tasks(conn)
    assert "AFTER" not in run("gridstat", second).out
    assert not run("gridstat", "--why", second).out.startswith("AFTER")


@pytest.mark.usefixtures("both_ways")
def test_its_user_need_not_wait(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 2)
        second = a_campaign(conn, 3, after=[NewDependency(first)])
    printed = run("gridresume", second, "--regardless", "-v")
    assert printed.out == (
        f"campaign {second} waits for no other any more: 3 tasks go on\n"
        "  tasks: 3 waiting; jobs that have not ended: 0\n"
    )
    assert required(database, second) == [(first, "all", "waived")]
    assert "waits for no other" in run("gridresume", second, "--regardless").err
