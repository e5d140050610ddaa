"""What is taken back out of queues: what no longer is of use, and what could run elsewhere; never for ever."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.views.unwanted_jobs import QueueLoad, WaitLimits, list_queues, list_unwanted
from cigri.settings.cluster_config import ClusterConfig
from cigri.states import KillReason, Outcome
from modules.killer.queue_length import most_useful
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

CONFIG = ClusterConfig(driver="local", keep_waiting=20, max_waiting=200)
MANY = 2**31 - 1


@pytest.mark.parametrize(
    ("waiting", "cores", "free", "keep", "useful"),
    [
        (120, 120, 0, 0, 20),  # others have come back
        (50, 50, 0, 0, 200),  # not plain yet
        (51, 51, 0, 0, 20),
        (120, 120, 100, 0, 200),  # they can start
        (120, 960, 80, 0, 30),  # of eight cores each
        (120, 120, 0, 60, 200),  # the forecast wants them there
        (150, 150, 0, 60, 60),
        (250, 250, 0, 190, 200),
        (0, 0, 0, 0, 200),
    ],
)
def test_so_many_waiting_jobs_are_useful(waiting: int, cores: int, free: int, keep: int, useful: int) -> None:
    assert most_useful(QueueLoad(1, waiting, cores, free, keep), CONFIG) == useful


def unwanted(
    conn: Connection, cluster: int, *, useful: int = MANY, after: float = 61, moves: int = 5
) -> dict[int, KillReason]:
    patience = WaitLimits(900.0, 60.0, moves)
    set_time(conn, NOON + timedelta(seconds=after))
    found = dict(list_unwanted(conn, {cluster: (100, useful)}, patience))
    set_time(conn, NOON)
    return found


def test_queues_are_as_the_clusters_were_seen(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=3)
        a_cluster(conn, "other")
        submitted_jobs(conn, a_campaign(conn, 4), cluster, 4)
        assert list_queues(conn) == [QueueLoad(cluster, 4, 4, 3, 0)]
        conn.execute(
            text(
                "INSERT INTO forecasts (campaign_id, cluster_id, at, ratio, remaining, keep)"
                " VALUES (1, 1, now(), 1, 0, 7)"
            )
        )
        assert list_queues(conn)[0].keep == 7
        conn.execute(text("UPDATE forecasts SET keep = NULL, send = 9"))
        assert list_queues(conn)[0].keep == MANY


def test_the_newest_jobs_beyond_what_is_useful_are_taken_back(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 5), cluster, 5)
        assert unwanted(conn, cluster, useful=3) == dict.fromkeys(jobs[3:], KillReason.FLOOD)
        assert unwanted(conn, cluster, useful=3, after=59) == {}  # what was just sent settles first
        assert unwanted(conn, cluster, useful=3, moves=0) == {}
        conn.execute(text("UPDATE campaigns SET type = 'test'"))
        assert unwanted(conn, cluster, useful=3) == {}


def test_a_task_is_not_moved_for_ever(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        for moved in range(3):
            jobs = submitted_jobs(conn, campaign, cluster, 1)
            assert bool(unwanted(conn, cluster, useful=0, moves=2)) is (moved < 2)
            end_jobs(conn, cluster, jobs, Outcome.WITHDRAWN, exit_code=None)


def test_as_many_jobs_move_as_have_room_elsewhere(database: Database) -> None:
    with database.begin() as conn:
        here, there = a_cluster(conn, "here", free=0), a_cluster(conn, "there", free=3)
        campaign = a_campaign(conn, 9, clusters=("here", "there"))
        jobs = submitted_jobs(conn, campaign, here, 5)
        assert unwanted(conn, here, after=899) == {}
        assert unwanted(conn, here, after=901) == dict.fromkeys(jobs[2:], KillReason.WAITING_TOO_LONG)
        assert unwanted(conn, here, after=901, moves=0) == {}
        submitted_jobs(conn, campaign, there, 2)  # two of the three cores there are spoken for
        assert list(unwanted(conn, here, after=901)) == jobs[4:]
        put_cluster_state(conn, there, Capacity(3, 0, 3, 0), 0)
        assert unwanted(conn, here, after=901) == {}


def test_nothing_moves_to_a_cluster_that_is_set_aside(database: Database) -> None:
    with database.begin() as conn:
        here = a_cluster(conn, "here", free=0)
        a_cluster(conn, "there", free=3)
        submitted_jobs(conn, a_campaign(conn, 9, clusters=("here", "there")), here, 1)
        assert len(unwanted(conn, here, after=901)) == 1
        conn.execute(text("UPDATE campaign_clusters SET sink_since = now(), doubted_below = 1 WHERE cluster_id = 2"))
        assert unwanted(conn, here, after=901) == {}
