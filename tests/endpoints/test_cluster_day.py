"""How full a cluster was in the last day, by quarters of an hour."""

from datetime import timedelta

import pytest

from cigri.api_models.clusters import ClusterDayReport, ClusterUsagePeriod
from cigri.database import Database
from cigri.drivers import Capacity
from cigri.endpoints.clusters import cluster_day
from cigri.endpoints.dispatch import run_endpoint
from cigri.errors import NotFound
from cigri.flow.cluster_states import put_cluster_state
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

MINUTE = timedelta(minutes=1)


def ask(database: Database, cluster: str) -> ClusterDayReport:
    told = run_endpoint(cluster_day, database, Settings, Caller("bob"), {"cluster": cluster})
    assert isinstance(told, ClusterDayReport)
    return told


def test_cores_are_told_by_quarters_of_an_hour(database: Database) -> None:
    with database.begin() as conn:
        dahu = a_cluster(conn, free=10)
        a_cluster(conn, "luke", free=99)
        run_jobs(conn, submitted_jobs(conn, a_campaign(conn, 3), dahu, 3)[:1])
    states = {1: Capacity(10, 8, 2, 0), 2: Capacity(10, 4, 6, 0), 1430: Capacity(10, 0, 7, 3)}
    for minute, capacity in states.items():
        set_time(database, NOON + minute * MINUTE)
        with database.begin() as conn:
            put_cluster_state(conn, dahu, capacity, 2)
    set_time(database, NOON + 1441 * MINUTE)
    told = ask(database, "dahu")
    assert told.usage == [
        ClusterUsagePeriod("dahu", NOON + MINUTE, 10, 6, 4, 2, 0),
        ClusterUsagePeriod("dahu", NOON + 1426 * MINUTE, 10, 0, 7, 2, 3),
    ]
    cluster = told.status.cluster
    assert (cluster.name, cluster.waiting, cluster.running, cluster.pace) == ("dahu", 2, 1, 1.0)
    assert cluster.visited_at == NOON + 1430 * MINUTE
    assert ask(database, str(dahu)) == told


def test_a_cluster_that_never_answered_has_no_day(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
    set_time(database, NOON + timedelta(days=2))
    assert ask(database, "dahu").usage == []
    with pytest.raises(NotFound, match="no cluster yeti"):
        ask(database, "yeti")
