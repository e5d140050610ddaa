"""Signs of life: who stalls is seen by those who live, once, with what it holds; who goes on or is gone is not."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from sqlalchemy import text

from cigri.api_models.health import HealthReport
from cigri.database import Database, session_name
from cigri.endpoints.health import checks
from cigri.flow.module_passes import HOLD_LIFE
from cigri.flow.processes import ProcessSign, WorkerSign, list_stalled, put_sign, put_stalled, remove_process
from cigri.flow.views.heartbeats import read_heartbeats
from cigri.flow.views.metrics import find_figures
from cigri.presentation.outages import describe_outages
from cigri.runtime.heartbeat import ACTIVITY_GRACE, ProcessHeartbeat, StallWatch, repeating
from cigri.runtime.pass_context import process_identity
from cigri.settings.sections import Settings
from modules.portal.health import what_lacks
from tests.callers import ROOT
from tests.factories import a_cluster, note_passes
from tests.waiting import looks

HOST, PID, WORKER = "elsewhere", 4711, 4712
LIMIT = 120.0
EVENTS = text("SELECT subject, count AS times, closed_at IS NULL AS is_open FROM events WHERE code = 'PROCESS_STALLED'")


@contextmanager
def session(database: Database, pid: int) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """What a process of the other host has open in the database."""
    url = database.url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True, application_name=session_name(HOST, pid)) as conn:
        yield conn


def tell(database: Database, silence: float = 30.0, age: float = 0.0, activity: str = "the pass of updator") -> None:
    """The almighty there tells that it lives; silence below 0: it was to tell so again before."""
    workers = [WorkerSign("updator", WORKER, 3.0)]
    with database.begin() as conn:
        put_sign(conn, ProcessSign(HOST, PID, "almighty", activity, age, LIMIT, silence, workers))


def told(database: Database) -> list[tuple[str, int, bool]]:
    """Subject, count and whether it is open, of each event."""
    with database.begin() as conn:
        put_stalled(conn)
        return [(event.subject, event.times, event.is_open) for event in conn.execute(EVENTS)]


def test_who_gives_no_sign_is_told_once_and_the_event_closed_when_it_lives_again(database: Database) -> None:
    subject = f"process {PID} on {HOST}"
    with session(database, PID):
        tell(database)
        assert told(database) == []
        tell(database, silence=-1.0)
        assert told(database) == told(database) == [(subject, 1, True)]
        tell(database)
        assert told(database) == [(subject, 1, False)]


def test_a_thread_that_tells_of_life_hides_no_step_that_lasts_too_long(database: Database) -> None:
    with session(database, PID):
        tell(database, age=LIMIT - 1)
        assert told(database) == []
        tell(database, age=LIMIT + 1)
        with database.read() as conn:
            (stalled,) = list_stalled(conn)
        assert not stalled.is_silent
        assert stalled.sentence.startswith(f"almighty (process {PID} on {HOST}) has been at the pass of updator since ")
        assert told(database) == [(stalled.subject, 1, True)]
        tell(database, activity="")
        assert told(database) == [(stalled.subject, 1, False)]


def test_who_has_no_session_is_gone_and_holds_nothing(database: Database) -> None:
    with session(database, PID):
        tell(database, silence=-1.0)
        assert len(told(database)) == 1
    for _ in looks(what="the end of the session"):
        ((_, _, is_open),) = told(database)
        if not is_open:
            break
    with database.read() as conn:
        assert conn.scalar(text("SELECT count(*) FROM processes")) == 0


def test_a_worker_that_outlives_its_almighty_is_told_with_what_it_holds(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, "dahu")
        a_cluster(conn, "edel")
    tell(database, silence=-1.0)
    with session(database, WORKER) as worker:
        worker.execute(f"SELECT pg_advisory_lock(hashtextextended('cigri.updator.{cluster}', 0))")
        with database.read() as conn:
            (stalled,) = list_stalled(conn)
    assert (stalled.pids, stalled.locks) == ([WORKER], ["updator on dahu"])
    assert "keeps other processes from: updator on dahu" in stalled.message
    assert f"`kill -9 {WORKER}` ends it" in stalled.message


def test_an_almighty_that_ends_well_leaves_no_row(database: Database) -> None:
    with session(database, PID):
        tell(database, silence=-1.0)
        with database.begin() as conn:
            remove_process(conn, HOST, PID)
        assert told(database) == []


def test_users_operators_and_watchers_are_told_of_a_stalled_almighty(database: Database) -> None:
    with session(database, PID) as conn:
        conn.execute(HOLD_LIFE)
        tell(database)
        with database.begin() as noting:
            note_passes(noting, by_almighty=True)
        assert what_lacks(database) == ""
        tell(database, silence=-1.0)
        assert what_lacks(database) == "the almighty has stalled"
        with database.snapshot() as reading:
            first, second = describe_outages(read_heartbeats(reading))
            figures = find_figures(reading)
            report = checks.function(reading, ROOT, Settings())
        assert isinstance(report, HealthReport)
        assert first.startswith(f"almighty (process {PID} on {HOST}) has given no sign of life since ")
        assert second.startswith("the almighty has stalled, and no module has run since ")
        assert (figures.stalled, figures.has_almighty) == (1, False)
        (programs,) = [check for check in report.checks if check.rule == "everything runs that should"]
        assert f"`kill -9 {PID}` ends it" in programs.details[0]


def test_a_second_almighty_that_works_is_enough(database: Database) -> None:
    with session(database, PID) as stalled, session(database, 1) as living:
        for conn in (stalled, living):
            conn.execute(HOLD_LIFE)
        with database.begin() as noting:
            note_passes(noting, by_almighty=True)
        tell(database, silence=-1.0)
        assert what_lacks(database) == ""
        with database.read() as reading:
            (sentence,) = describe_outages(read_heartbeats(reading))
        assert sentence.startswith(f"almighty (process {PID} on {HOST}) has given no sign of life since ")


@pytest.mark.parametrize("limit", [LIMIT, -ACTIVITY_GRACE])
def test_a_program_says_itself_that_a_step_takes_too_long(database: Database, limit: float) -> None:
    host, pid = process_identity()
    heartbeat = ProcessHeartbeat(database, "cigri run", 30.0)
    heartbeat.begin("the pass of runner", limit)
    rows = text("SELECT count(*) FROM processes WHERE host = :host AND pid = :pid AND activity = 'the pass of runner'")
    with heartbeat.beating():
        for _ in looks(what="a sign of life"):
            with database.read() as conn:
                if conn.scalar(rows, {"host": host, "pid": pid}):
                    break
        with database.read() as conn:
            stalled = [(one.pid, one.is_silent) for one in list_stalled(conn)]
    assert stalled == ([] if limit > 0 else [(pid, False)])
    with database.read() as conn:
        assert conn.scalar(rows, {"host": host, "pid": pid}) == 0


def test_who_was_away_itself_lets_the_others_tell_first_that_they_live(database: Database) -> None:
    tell(database, silence=-1.0)
    watch = StallWatch(database, 30.0)
    with session(database, PID):
        watch.look()
        with database.read() as conn:
            assert conn.execute(EVENTS).all() == []
        watch.look()
        with database.read() as conn:
            assert len(conn.execute(EVENTS).all()) == 1


def test_signs_go_on_after_whatever_has_failed() -> None:
    tried: list[int] = []

    def act() -> None:
        tried.append(len(tried))
        if len(tried) == 1:
            raise RuntimeError("a fault of ours")

    with repeating(act, 0.05):
        assert any(len(tried) > 1 for _ in looks())
