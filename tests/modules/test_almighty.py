"""The almighty and its workers: passes that raise, hang and die, signals, and being woken."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import forkserver
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.offers import NewOffer, put_offers
from cigri.flow.quarantines import list_quarantines
from cigri.flow.remote_command_counts import list_commands
from cigri.flow.views.heartbeats import read_heartbeats
from cigri.presentation.outages import describe_outages
from cigri.settings.sections import AlmightySettings, Settings
from modules.almighty import Almighty
from modules.almighty.worker import PRELOADED, ModuleWorker
from tests.factories import a_campaign, a_cluster
from tests.grid import Grid, until

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PRELOADED)
def test_what_workers_are_forked_with_is_there(name: str) -> None:
    assert find_spec(name)


@contextmanager
def held(database: Database, table: str, mode: str = "ACCESS EXCLUSIVE") -> Iterator[None]:
    """Whoever reads the table waits; with another mode, whoever writes to it."""
    with database.begin() as conn:
        conn.execute(text(f"LOCK TABLE {table} IN {mode} MODE"))
        yield


def waiting(database: Database) -> int:
    """Sessions that wait for a lock."""
    locks = "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database ON oid = database"
    with database.begin() as conn:
        return int(conn.execute(text(f"{locks} WHERE NOT granted AND datname = current_database()")).scalar_one())


@pytest.fixture
def worker(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleWorker]:
    """Of the predictor; workers are forked from a server that has the environment of its own start."""
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database.url.replace("+psycopg", ""))
    worker = ModuleWorker("predictor")
    yield worker
    worker.close()
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # there is no public way


def test_a_worker_is_kept_from_pass_to_pass(worker: ModuleWorker) -> None:
    first, second = worker.run(30), worker.run(30)
    assert first == second
    assert (first.counts, first.error) == ({}, "")
    assert first.pid != os.getpid()


def test_a_pass_that_raises_tells_why_and_the_worker_goes_on(worker: ModuleWorker, database: Database) -> None:
    pid = worker.run(30).pid
    with database.begin() as conn:
        conn.execute(text("ALTER TABLE campaigns RENAME TO hidden"))
    failed = worker.run(30)
    assert failed.pid == pid
    assert "UndefinedTable" in failed.error
    assert not failed.is_database_away
    with database.begin() as conn:
        conn.execute(text("ALTER TABLE hidden RENAME TO campaigns"))
    assert worker.run(30).error == ""


def test_a_pass_that_hangs_is_killed_and_its_worker_replaced(worker: ModuleWorker, database: Database) -> None:
    pid = worker.run(30).pid
    with held(database, "campaigns"):
        late = worker.run(0.3)
    assert (late.pid, late.error) == (pid, "the pass took longer than 0.3 s and was killed")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    again = worker.run(30)
    assert again.error == ""
    assert again.pid != pid


@pytest.fixture
def hasty(worker: ModuleWorker, database: Database) -> Iterator[Almighty]:
    """Kills a pass of the campaign schedulers after three seconds; `worker` says where they find the database."""
    yield from killing_after(3, database)


@pytest.fixture
def patient(worker: ModuleWorker, database: Database) -> Iterator[Almighty]:
    """Kills no pass, however busy the machine is."""
    yield from killing_after(60, database)


def killing_after(deadline: float, database: Database) -> Iterator[Almighty]:
    almighty = Almighty(database, Settings(almighty=AlmightySettings(deadline=deadline)))
    assert almighty._workers["campaign_schedulers"].run(30).error == ""
    yield almighty
    almighty._workers["campaign_schedulers"].close()


def test_the_campaign_at_which_a_pass_is_killed_is_left_out_of_the_next_ones(
    hasty: Almighty, database: Database
) -> None:
    with database.begin() as conn:
        cluster_id = a_cluster(conn, free=30)
        innocent, guilty = (a_campaign(conn, 3) for _ in range(2))
        put_offers(conn, [NewOffer(id, cluster_id, 2, 2, rank) for rank, id in enumerate((guilty, innocent))])
    with held(database, "jobs", "SHARE"):  # they cannot put the jobs that they have made
        assert hasty._run_module("campaign_schedulers")
    with database.begin() as conn:
        (why,) = list_quarantines(conn, [guilty, innocent])
        conn.execute(text("UPDATE quarantines SET until = until + interval '1 hour'"))
    assert (why.module, why.campaign_id) == ("campaign_schedulers", guilty)
    assert why.error == "the pass took longer than 3 s and was killed"
    assert hasty._workers["campaign_schedulers"].run(30).counts == {"jobs": 2}
    with database.begin() as conn:
        assert conn.scalars(text("SELECT DISTINCT campaign_id FROM jobs")).all() == [innocent]


def test_a_pass_that_is_killed_between_campaigns_blames_none(hasty: Almighty, database: Database) -> None:
    with held(database, "offers"):
        assert hasty._run_module("campaign_schedulers")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT error FROM modules")) == "the pass took longer than 3 s and was killed"
        assert conn.scalar(text("SELECT count(*) FROM quarantines")) == 0


FULL = """\
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION full_disk()"""


def test_a_pass_on_a_full_disk_is_told_and_blames_no_campaign(patient: Almighty, database: Database) -> None:
    with database.begin() as conn:
        cluster_id = a_cluster(conn, free=30)
        campaign = a_campaign(conn, 3)
        put_offers(conn, [NewOffer(campaign, cluster_id, 2, 2, 0)])
        conn.execute(text(FULL.format(table="jobs")))
    assert patient._run_module("campaign_schedulers"), "the next modules have their turn"
    with database.begin() as conn:
        told = "SELECT message FROM events WHERE code = 'MODULE_FAILED' AND closed_at IS NULL"
        (message,) = conn.scalars(text(told)).all()
        assert message.startswith("the database has no room left, make some on its disk: could not extend file")
        assert conn.scalar(text("SELECT count(*) FROM quarantines")) == 0
        conn.execute(text("DROP TRIGGER full_disk ON jobs"))
    assert patient._run_module("campaign_schedulers")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM jobs")) == 2, "the offer was not lost"
        assert conn.scalars(text(told)).all() == []


def test_a_cycle_goes_on_where_its_passes_cannot_be_noted(patient: Almighty, database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text(FULL.format(table="modules")))
    assert patient._run_module("campaign_schedulers")
    with database.begin() as conn:
        conn.execute(text("DROP TRIGGER full_disk ON modules"))
    assert patient._run_module("campaign_schedulers")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT passes FROM modules WHERE name = 'campaign_schedulers'")) == 2


def test_a_worker_that_is_killed_is_replaced(worker: ModuleWorker, database: Database) -> None:
    pid = worker.run(30).pid
    with held(database, "campaigns"):

        def kill() -> None:
            until(lambda: waiting(database) == 1)
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        dead = worker.run(30)
        killer.join()
    assert dead.error == "the process died during the pass (exit code -9)"
    assert worker.run(30).error == ""


@pytest.fixture
def almighty(local: Grid) -> Iterator["subprocess.Popen[bytes]"]:
    """On the grid `local`, at rest after its first cycle; the next would come in a minute."""
    environment = os.environ | {
        "CIGRI_SET_DATABASE__URL": local.database.url.replace("+psycopg", ""),
        "CIGRI_SET_ALMIGHTY__PERIOD": "60",
    }
    command = [sys.executable, "-m", "tests.faults.almighty"]
    process = subprocess.Popen(command, env=environment, start_new_session=True, cwd=ROOT)
    until(lambda: local.one("SELECT count(*) FROM modules WHERE name = 'notifier'") == 1)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def test_a_submission_wakes_the_almighty_at_once(almighty: "subprocess.Popen[bytes]", local: Grid) -> None:
    local.submit(["1"])
    until(lambda: local.one("SELECT count(*) FROM jobs") == 1)
    about = "FROM jobs JOIN campaigns ON campaigns.id = campaign_id"
    assert local.one(f"SELECT extract(epoch FROM created_at - campaigns.submitted_at) {about}") < 30
    until(lambda: local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 1)
    almighty.send_signal(signal.SIGTERM)
    assert almighty.wait(15) == 0


def test_what_is_asked_of_clusters_is_counted(almighty: "subprocess.Popen[bytes]", local: Grid) -> None:
    local.submit(["1"])

    def counted() -> dict[str, int]:
        with local.database.begin() as conn:
            commands = list_commands(conn)
        assert all(0 < one.seconds < 60 * one.commands for one in commands)
        return {one.module: one.commands for one in commands if one.cluster == local.site.name}

    until(lambda: counted().keys() >= {"updator", "runner"})
    assert almighty.poll() is None


def test_a_killed_almighty_is_missed_by_users_at_once(almighty: "subprocess.Popen[bytes]", local: Grid) -> None:
    def said() -> list[str]:
        with local.database.begin() as conn:
            return describe_outages(read_heartbeats(conn))

    assert said() == []
    os.killpg(almighty.pid, signal.SIGKILL)
    until(lambda: said() != [])
    assert "the scheduler (the almighty) has been down since 20" in said()[0]


def test_the_pass_under_way_is_finished_before_the_almighty_ends(
    almighty: "subprocess.Popen[bytes]", local: Grid
) -> None:
    with held(local.database, "offers"):
        local.submit(["1"])
        until(lambda: waiting(local.database) == 1)  # the metascheduler
        almighty.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            almighty.wait(1.0)
    assert almighty.wait(15) == 0
    assert local.one("SELECT count(*) FROM offers") == 1  # it was written, and nobody came to take it
    assert local.one("SELECT count(*) FROM jobs") == 0
