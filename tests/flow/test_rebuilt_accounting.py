"""Accounting is rebuilt from ended jobs and what is kept of archived ones: it is what was added up."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from random import Random

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.errors import DatabaseUnavailable
from cigri.flow.accounting import Correction, add_up_accounting, list_corrections, rebuild
from cigri.flow.archive import archive_campaign
from cigri.formats.units import DAY, HOUR
from cigri.states import Outcome
from cigri.tables.jobs import ACCOUNTED_ALIKE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.flow.test_accounting import one_ended
from tests.waiting import looks

pytestmark = pytest.mark.noon

MIDNIGHT = NOON.replace(hour=0)
ENDS = (Outcome.SUCCESS, Outcome.PREEMPTED, Outcome.FAILURE, Outcome.KILLED, Outcome.LOST)
Figures = dict[tuple[object, ...], tuple[int, float, float]]


def figures(conn: Connection) -> Figures:
    """What counts together, and the jobs, the core-seconds, and those asked for, of it."""
    alike = ", ".join(ACCOUNTED_ALIKE)
    sums = "sum(jobs), sum(core_seconds), sum(asked)"
    rows = conn.execute(text(f"SELECT {alike}, {sums} FROM accounting GROUP BY {alike}"))
    return {tuple(row[:-3]): (int(row[-3]), row[-2], row[-1]) for row in rows}


def are_alike(some: Figures, others: Figures) -> bool:
    return some.keys() == others.keys() and all(pytest.approx(one) == others[key] for key, one in some.items())


class History:
    """Campaigns of several users on two clusters, whose jobs end and are archived by chance."""

    def __init__(self, conn: Connection, seed: int) -> None:
        self.conn, self.chance = conn, Random(seed)
        self.clusters = [a_cluster(conn, name) for name in ("dahu", "luke")]
        self.campaigns: list[int] = []

    def go_on(self) -> None:
        happens = self.chance.choice([self.end_some, self.end_some, self.archive, self.add_up, self.rebuild])
        happens()

    def end_some(self) -> None:
        user = self.chance.choice(["alice", "bob"])
        campaign = a_campaign(self.conn, 3, user=user, clusters=("dahu", "luke"))
        self.conn.execute(text("INSERT INTO projects (name) VALUES ('astro') ON CONFLICT DO NOTHING"))
        if user == "bob":
            self.conn.execute(text("UPDATE campaigns SET project_id = 1 WHERE id = :id"), {"id": campaign})
        nightly = 'UPDATE campaign_clusters SET settings = settings || \'{"type": "nightly"}\' WHERE campaign_id = :id'
        if self.chance.random() < 0.5:
            self.conn.execute(text(nightly), {"id": campaign})
        cluster = self.chance.choice(self.clusters)
        ended = NOON + timedelta(seconds=self.chance.uniform(0, 5 * DAY))
        lasted = self.chance.uniform(-HOUR, 2 * DAY)
        ids = submitted_jobs(self.conn, campaign, cluster, 3)
        run_jobs(self.conn, ids)
        update = "UPDATE jobs SET started_at = :began, width = :cores WHERE campaign_id = :id"
        began = ended - timedelta(seconds=lasted)
        self.conn.execute(text(update), {"began": began, "cores": self.chance.randint(1, 9), "id": campaign})
        replicated = text("UPDATE attempts SET is_replica = :says WHERE job_id = :id")
        self.conn.execute(replicated, {"says": self.chance.random() < 0.3, "id": ids[0]})
        set_time(self.conn, ended)
        end_jobs(self.conn, cluster, ids[:2], self.chance.choice(ENDS), seconds=lasted)
        end_jobs(self.conn, cluster, ids[2:], self.chance.choice(ENDS), seconds=lasted)
        self.campaigns.append(campaign)

    def archive(self) -> None:
        if self.campaigns:
            campaign = self.campaigns.pop(self.chance.randrange(len(self.campaigns)))
            archive_campaign(self.conn, campaign)

    def add_up(self) -> None:
        add_up_accounting(self.conn, 0)

    def rebuild(self) -> None:
        assert rebuild(self.conn) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_rebuild_is_what_was_added_up(seed: int, database: Database) -> None:
    with database.begin() as conn:
        history = History(conn, seed)
        for _ in range(14):
            history.go_on()
            assert list_corrections(conn) == []
        history.end_some()
        before = figures(conn)
        conn.execute(text("DELETE FROM accounting"))
        assert len(rebuild(conn)) == len(before)
        assert are_alike(figures(conn), before)
        assert rebuild(conn) == []


def ended(conn: Connection, seconds: float = HOUR) -> None:
    one_ended(conn, "alice", seconds)


@pytest.fixture
def _used(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        ended(conn)


def corrected(database: Database) -> list[Correction]:
    with database.begin() as conn:
        return list_corrections(conn)


def lose(database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("DELETE FROM accounting"))


COPY = (
    "INSERT INTO accounting (day, grid_user, project, cluster, outcome, is_replica, type, jobs, core_seconds, asked)"
    " SELECT day, {user}, project, cluster, outcome, is_replica, type, jobs, core_seconds, asked FROM accounting"
)
DAMAGES = {
    "a row is gone": ("DELETE FROM accounting", ("alice", 0, 0, 0, 1, HOUR, HOUR)),
    "it has other core-seconds": ("UPDATE accounting SET core_seconds = 7", ("alice", 1, 7, HOUR, 1, HOUR, HOUR)),
    "it asked for others": ("UPDATE accounting SET asked = 7", ("alice", 1, HOUR, 7, 1, HOUR, HOUR)),
    "it is there twice": (COPY.format(user="grid_user"), ("alice", 2, 2 * HOUR, 2 * HOUR, 1, HOUR, HOUR)),
    "one is of nobody": (COPY.format(user="'mallory'"), ("mallory", 1, HOUR, HOUR, 0, 0, 0)),
}


@pytest.mark.usefixtures("_used")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_and_mended(damage: str, database: Database) -> None:
    done, (user, *counts) = DAMAGES[damage]
    told = Correction(MIDNIGHT, user, "", "dahu", Outcome.SUCCESS, False, "best-effort", *counts)
    with database.begin() as conn:
        one_ended(conn, "bob", HOUR)
        archive_campaign(conn, 2)
        before = figures(conn)
        conn.execute(text(f"{done} WHERE grid_user = 'alice'"))
        assert list_corrections(conn) == [told]
        assert rebuild(conn) == [told]
        assert figures(conn) == before
        add_up_accounting(conn, 0)
        assert (figures(conn), list_corrections(conn)) == (before, [])


@pytest.mark.usefixtures("_used")
def test_what_is_right_is_left_as_it_is(database: Database) -> None:
    with database.begin() as conn:
        one_ended(conn, "bob", HOUR)
        conn.execute(text("DELETE FROM accounting WHERE grid_user = 'alice'"))
        (kept,) = conn.execute(text("SELECT * FROM accounting")).all()
        rebuild(conn)
        assert kept in conn.execute(text("SELECT * FROM accounting")).all()


@pytest.mark.usefixtures("_used")
def test_a_job_that_ends_during_a_rebuild_counts_once(database: Database) -> None:
    lose(database)
    with database.begin() as updator, database.begin() as operator:
        ended(updator)
        assert [one.jobs for one in rebuild(operator)] == [1]
    assert corrected(database) == []
    lose(database)
    with database.begin() as operator:
        assert [one.jobs for one in rebuild(operator)] == [2]
        with database.begin() as updator:
            ended(updator)
    assert corrected(database) == []


@pytest.mark.usefixtures("_used")
def test_a_campaign_that_is_archived_during_a_rebuild_counts_once(database: Database) -> None:
    lose(database)
    with database.begin() as janitor, database.begin() as operator:
        archive_campaign(janitor, 1)
        assert [one.jobs for one in rebuild(operator)] == [1]
    assert corrected(database) == []


@pytest.mark.usefixtures("_used")
def test_adding_up_waits_for_the_end_of_a_rebuild(database: Database) -> None:
    lose(database)
    with database.begin() as operator:
        rebuild(operator)
        with database.begin() as predictor:
            ended(predictor)
            add_up_accounting(predictor, 0)
            assert predictor.scalar(text("SELECT count(*) FROM accounting WHERE is_sum")) == 0
    with database.begin() as predictor:
        add_up_accounting(predictor, 0)
        assert predictor.scalar(text("SELECT sum(jobs) FROM accounting WHERE is_sum")) == 2
    assert corrected(database) == []


@contextmanager
def waiting_rebuild(database: Database) -> Iterator[list[Correction]]:
    """One that waits for a transaction of the block; what it gives is there after it."""

    def rebuilt() -> list[Correction]:
        with database.begin() as conn:
            return rebuild(conn)

    waits = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    given: list[Correction] = []
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(rebuilt)
        for _ in looks(60):
            with database.begin() as conn:
                if conn.scalar(waits):
                    break
        yield given
        given += other.result(60)


@pytest.mark.usefixtures("_used")
def test_of_two_rebuilds_at_once_one_mends(database: Database) -> None:
    lose(database)
    with database.begin() as first:
        assert len(rebuild(first)) == 1
        with waiting_rebuild(database) as other:
            first.commit()
    assert (other, corrected(database)) == ([], [])


@pytest.mark.usefixtures("_used")
def test_a_rebuild_behind_the_adding_up_counts_nothing_twice(database: Database) -> None:
    with database.begin() as predictor:
        add_up_accounting(predictor, 0)
        with waiting_rebuild(database) as other:
            predictor.commit()
    assert (other, corrected(database)) == ([], [])


def killed_behind_its_rebuild(database: Database) -> None:
    with database.begin() as conn:
        rebuild(conn)
        pid = conn.scalar(text("SELECT pg_backend_pid()"))
        with database.begin() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        conn.execute(text("SELECT 1"))


@pytest.mark.usefixtures("_used")
def test_a_rebuild_that_is_killed_leaves_what_was_there(database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("UPDATE accounting SET core_seconds = 7"))
        before = figures(conn)
    with pytest.raises(DatabaseUnavailable):
        killed_behind_its_rebuild(database)
    with database.begin() as conn:
        assert figures(conn) == before
        assert len(rebuild(conn)) == 1
        assert list_corrections(conn) == []
