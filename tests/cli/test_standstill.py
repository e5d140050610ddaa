"""Whoever submits or looks is told when nothing works for the campaign; and nothing else is claimed."""

import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from cigri.cli import gridstat, watching
from cigri.database import Database
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import find_cluster
from cigri.flow.module_passes import HOLD_LIFE
from cigri.flow.quarantines import put_campaign_failures, put_visit_failure
from cigri.flow.views.heartbeats import GridHeartbeat, ModuleHeartbeat, read_heartbeats
from cigri.lifecycle import CYCLE
from cigri.presentation.outages import LATE_PASS, describe_outages
from tests.callers import ALICE
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster, note_passes
from tests.waiting import looks

COMMAND = gridstat
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def pulse(*modules: ModuleHeartbeat, almighty: bool = False) -> GridHeartbeat:
    return GridHeartbeat(almighty, modules, NOW)


def module(name: str, ago: float = 3.0, *, by_almighty: bool = True, failing: float | None = None) -> ModuleHeartbeat:
    since = None if failing is None else NOW - timedelta(seconds=failing)
    error = None if failing is None else "Traceback (most recent call last):\n  File\nKeyError: 'x'\n"
    return ModuleHeartbeat(name, NOW - timedelta(seconds=ago), by_almighty, since, error)


def all_modules(ago: float = 3.0, *, by_almighty: bool = True) -> list[ModuleHeartbeat]:
    return [module(name, ago, by_almighty=by_almighty) for name in CYCLE]


def test_nothing_is_said_while_an_almighty_cycles() -> None:
    assert describe_outages(pulse(*all_modules(), almighty=True)) == []


@pytest.mark.parametrize("ago", [0.0, 61.0, LATE_PASS.total_seconds() - 1])
def test_cron_or_a_person_may_run_the_modules_instead(ago: float) -> None:
    assert describe_outages(pulse(*all_modules(ago, by_almighty=False))) == []


def test_cron_may_have_taken_over_from_an_almighty() -> None:
    begun = [module(name, 40.0) for name in CYCLE[1:]]
    assert describe_outages(pulse(*begun, module("updator", 1.0, by_almighty=False))) == []


def test_an_almighty_that_is_gone_is_missed_at_once() -> None:
    (said,) = describe_outages(pulse(*all_modules(ago=2.0)))
    assert said.startswith("the scheduler (the almighty) has been down since 20")


def test_modules_that_nobody_runs_any_more_are_missed_after_a_while() -> None:
    (said,) = describe_outages(pulse(*all_modules(LATE_PASS.total_seconds() + 1, by_almighty=False)))
    assert said.startswith("no module has ended a pass since 20")
    (said,) = describe_outages(pulse(*all_modules(LATE_PASS.total_seconds() + 1), almighty=True))
    assert said.startswith("no module has ended a pass since 20")


def test_a_grid_on_which_nothing_ever_ran_says_so() -> None:
    (said,) = describe_outages(pulse(almighty=False))
    assert said.startswith("no module has run yet")


def test_a_module_that_fails_or_is_forgotten_is_named() -> None:
    others = [module(name) for name in CYCLE if name not in ("updator", "runner", "killer")]
    said = describe_outages(pulse(*others, module("updator", failing=600.0), module("killer", 900.0), almighty=True))
    assert [sentence.split(" since ")[0] for sentence in said] == [
        "module updator fails",
        "module runner has not run yet",
        "module killer has ended no pass",
    ]
    assert said[0].endswith("KeyError: 'x'")


def note(database: Database, error: str = "", *, by_almighty: bool = False) -> None:
    with database.begin() as conn:
        note_passes(conn, error, by_almighty=by_almighty)


@pytest.fixture
def campaign(database: Database, both_ways: None) -> int:
    with database.begin() as conn:
        a_cluster(conn)
        return a_campaign(conn, 2)


def test_a_module_fails_since_it_first_did(database: Database) -> None:
    note(database, "KeyError: 'x'")
    note(database, "KeyError: 'y'")
    with database.begin() as conn:
        (first,) = [one for one in read_heartbeats(conn).modules if one.name == "updator"]
    assert first.failing_since is not None
    assert first.failing_since < first.at
    note(database)
    with database.begin() as conn:
        assert [one.failing_since for one in read_heartbeats(conn).modules] == [None] * len(CYCLE)


def test_a_killed_almighty_is_known_as_soon_as_its_connection_is_gone(database: Database, database_url: str) -> None:
    def has_almighty() -> bool:
        with database.begin() as conn:
            return read_heartbeats(conn).has_almighty

    assert not has_almighty()
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(HOLD_LIFE)
        assert has_almighty()
    for _ in looks():
        if not has_almighty():
            break


@pytest.mark.parametrize("view", [(), ("--why",), ("-s",)])
def test_whoever_looks_is_told_that_the_almighty_does_not_run(
    run: Run, database: Database, campaign: int, view: tuple[str, ...]
) -> None:
    note(database, by_almighty=True)
    assert "the scheduler (the almighty) has been down" in run(*view, campaign).err
    note(database)
    assert "almighty" not in run(*view, campaign).err


def test_why_is_not_ok_while_nothing_runs(run: Run, database: Database, campaign: int) -> None:
    note(database)
    (part,) = run("--why", campaign, "--json").json
    assert part["state"] == "ok"
    note(database, by_almighty=True)
    (part,) = run("--why", campaign, "--json").json
    assert part["state"] == "nothing runs"
    assert part["why"].startswith("the scheduler (the almighty) has been down")


def test_what_is_left_out_or_set_aside_is_named_with_the_reason(run: Run, database: Database, campaign: int) -> None:
    note(database)
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        put_failure(conn, cluster, "CLUSTER_UNREACHABLE", "no shell of ann: cd: can't cd to /home/ann\nmore")
        put_visit_failure(conn, "runner", cluster.id, "dahu", "KeyError: 'jobs'")
        put_campaign_failures(conn, "campaign_schedulers", {campaign: "ZeroDivisionError: float division by zero"})
    said = run(campaign).err
    assert "cluster dahu is set aside since" in said
    assert said.count("can't cd to /home/ann\n") == 1
    assert "cluster dahu is left out by module runner, since" in said
    assert f"campaign {campaign} is left out by module campaign_schedulers, since" in said
    (part,) = run("--why", campaign, "--json").json
    assert part["state"] == "left out"
    assert "ZeroDivisionError" in part["why"]


def test_a_campaign_that_has_ended_misses_nothing(run: Run, database: Database, campaign: int) -> None:
    with database.begin() as conn:
        assert cancel_campaign(conn, campaign, ALICE)
    assert run(campaign).err == ""


def test_a_watch_says_what_has_stopped_meanwhile(
    run: Run, database: Database, campaign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PERIOD", 0.02)
    note(database)
    looked: list[list[watching.WatchSnapshot]] = []
    show = watching.ProgressLines.show

    def look_on(lines: watching.ProgressLines, found: list[watching.WatchSnapshot]) -> None:
        show(lines, found)
        looked.append(found)

    monkeypatch.setattr(watching.ProgressLines, "show", look_on)

    def stop() -> None:
        for _ in looks():
            if looked:
                break
        note(database, by_almighty=True)
        for _ in looks():
            if looked[-1][0].notices:
                break
        with database.begin() as conn:
            assert cancel_campaign(conn, campaign, ALICE)

    stopper = threading.Thread(target=stop)
    stopper.start()
    printed = run("--watch", campaign)
    stopper.join()
    assert printed.out.count("the scheduler (the almighty) has been down") == 1
    assert printed.status == 1
