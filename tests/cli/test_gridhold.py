"""gridhold and gridresume: what they do, what they say, and how gridstat shows it."""

import json
import re
from collections.abc import Callable

import pytest
from sqlalchemy import func, select, text

from cigri.cli import griddel, gridstat
from cigri.cli.gridhold import hold, resume
from cigri.database import Database
from cigri.drivers import JobControl
from cigri.drivers.local import LocalDriver
from cigri.tables.campaigns import Hold
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster, run_jobs, submitted_jobs

Act = Callable[[list[str]], int]
Capture = pytest.CaptureFixture[str]


def griddel_pause(words: list[str]) -> int:
    return griddel.main(["--pause", *words])


def griddel_resume(words: list[str]) -> int:
    return griddel.main(["-r", *words])


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser, both_ways: None) -> None:
    """Campaign 1 of alice's with jobs 1 (running) and 2 (waiting), and campaign 2 of bob's."""
    as_user("alice")
    with grid.begin() as conn:
        cluster = a_cluster(conn, options={"spool": "/nowhere"})
        for user in ("alice", "bob"):
            a_campaign(conn, 3, user=user)
        submitted_jobs(conn, 1, cluster, 2)
        run_jobs(conn, [1])


def shown(capsys: Capture, *words: str) -> str:
    capsys.readouterr()
    assert gridstat.main(list(words)) == 0
    return capsys.readouterr().out


def count(grid: Database) -> int:
    with grid.begin() as conn:
        return conn.execute(select(func.count(Hold.c.id))).scalar_one()


def test_a_campaign_is_held_and_goes_on(grid: Database, capsys: Capture) -> None:
    assert hold(["1", "-v"]) == 0
    said = capsys.readouterr().out
    assert (
        "campaign 1 is held: no new jobs are made; jobs: 1 waiting are being held, 1 running are being suspended"
        in said
    )
    assert "jobs that have not ended: 2" in said
    assert "  H  " in shown(capsys)
    with grid.begin() as conn:
        conn.execute(text("UPDATE jobs SET halted_since = now()"))
    told = shown(capsys, "1")
    assert "in treatment, held" in told
    assert "1 of 1 waiting jobs held, 1 of 1 running jobs suspended; `gridresume 1` lets it go on" in told
    assert resume(["1"]) == 0
    assert "campaign 1 goes on" in capsys.readouterr().out
    assert count(grid) == 0
    assert "held" not in shown(capsys, "1").partition("Cluster")[0]


@pytest.mark.parametrize("goes_on", [resume, griddel_resume], ids=["gridresume", "griddel -r"])
def test_what_is_paused_or_held_goes_on_by_either_command(goes_on: Act, grid: Database, capsys: Capture) -> None:
    for act in ([griddel_pause], [hold], [griddel_pause, hold], [hold, griddel_pause]):
        for each in act:
            assert each(["1"]) == 0
        assert goes_on(["1"]) == 0
        assert "goes on" in capsys.readouterr().out
        assert count(grid) == 0
        assert "State:     in treatment\n" in shown(capsys, "1")
        assert goes_on(["1"]) == 1
    assert griddel_pause(["1"]) == 0
    assert hold(["1", "--cluster", "dahu"]) == 0
    assert goes_on is griddel_resume or resume(["1", "--cluster", "dahu"]) == 1
    assert goes_on(["1"]) == 0


@pytest.mark.parametrize("act", [hold, griddel_pause], ids=["gridhold", "griddel -p"])
def test_a_pause_is_a_hold_in_all_that_is_said(act: Act, grid: Database, capsys: Capture, as_user: AsUser) -> None:
    as_user("root")
    assert act(["1"]) == 0
    said = "campaign 1 is held: no new jobs are made; jobs: 1 waiting are being held, 1 running are being suspended"
    assert said in capsys.readouterr().out
    as_user("alice")
    assert re.search(r"State: +in treatment, held by root since 20..-..-.. ..:..:..\n", shown(capsys, "1"))
    [told] = json.loads(shown(capsys, "1", "--json"))
    assert (told["is_held"], told["held_by"], told["held_at"] is not None) == (True, "root", True)
    assert resume(["1"]) == 0, "whoever may hold it may let it go on"
    [told] = json.loads(shown(capsys, "1", "--json"))
    assert (told["is_held"], told["held_by"], told["held_at"]) == (False, None, None)


def test_it_is_told_where_suspended_jobs_may_keep_their_cores(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = "; suspended jobs may keep their cores on dahu: --waiting-only lets them run on\n"
    assert hold(["1"]) == 0
    assert "may keep their cores" not in capsys.readouterr().out, "this host lends them"
    monkeypatch.setattr(LocalDriver, "lends_cores", False)
    assert hold(["1"]) == 0
    assert capsys.readouterr().out.endswith(warning)
    assert hold(["-j", "1"]) == 0
    assert capsys.readouterr().out.endswith(warning)
    for words in (["1", "--waiting-only"], ["-j", "2"]):
        assert hold(words) == 0
        assert warning not in capsys.readouterr().out


def test_a_share_is_held(grid: Database, capsys: Capture) -> None:
    assert hold(["1", "--cluster", "dahu", "--waiting-only"]) == 0
    assert (
        "campaign 1 is held on dahu: no new jobs are made; jobs: 1 waiting are being held\n" in capsys.readouterr().out
    )
    assert "`gridresume 1 --cluster dahu` lets it go on" in shown(capsys, "1")
    assert "  R  " in shown(capsys)
    assert resume(["1", "--cluster", "dahu"]) == 0
    assert count(grid) == 0


def test_a_job_is_held_and_shown_so(grid: Database, capsys: Capture) -> None:
    assert hold(["-j", "1-2"]) == 0
    assert "job 1 is held; jobs: 1 running are being suspended" in capsys.readouterr().out
    with grid.begin() as conn:
        conn.execute(text("UPDATE jobs SET halted_since = now()"))
    told = shown(capsys, "-j", "1")
    assert "suspended" in told
    assert "held by its user; `gridresume -j 1` lets it go on" in told
    assert [line.split()[2] for line in shown(capsys, "-f", "1").splitlines()[-3:]] == ["suspended", "held", "waiting"]
    assert "held" in shown(capsys, "--task", "1:1")
    assert resume(["-j", "1,2"]) == 0
    assert count(grid) == 0


def test_what_a_batch_system_cannot_do_is_told_at_once(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalDriver, "controls", frozenset({JobControl.HOLD, JobControl.RELEASE}))
    assert hold(["1"]) == 0
    said = capsys.readouterr().out
    assert "1 waiting are being held, 1 running on dahu, which cannot suspend jobs, run on" in said
    assert "may keep their cores" not in said
    monkeypatch.setattr(LocalDriver, "controls", frozenset())
    assert hold(["1"]) == 0
    assert "1 waiting on dahu, which cannot hold jobs, start in their turn" in capsys.readouterr().out


def test_a_driver_that_is_not_known_here_is_no_reason_to_refuse(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        conn.execute(text('UPDATE clusters SET config = config || \'{"driver": "elsewhere"}\''))
    assert hold(["1"]) == 0
    assert "1 waiting are being held, 1 running are being suspended" in capsys.readouterr().out


def test_what_cannot_be_done_is_told_and_stops_nothing_else(grid: Database, capsys: Capture) -> None:
    assert hold(["2", "1", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [(deed["id"], deed["done"]) for deed in answer] == [(2, False), (1, True)]
    assert count(grid) == 1
    assert resume(["2", "-c", "1"]) == 1
    assert "you have no campaign 2" in capsys.readouterr().err
    assert count(grid) == 0


@pytest.mark.parametrize("words", [[], ["1", "-j", "1"], ["-j", "1", "--cluster", "dahu"], ["x"]])
def test_what_makes_no_sense_is_refused(words: list[str], grid: Database) -> None:
    assert hold(words) == 2
    assert resume(words) == 2
    assert count(grid) == 0
