"""A grid as CiGri 3's clients meet it, whose clusters answer at once what they are asked for."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from cigri.database import Database
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.events import NewEvent, put_events
from cigri.flow.holds import hold_campaign
from cigri.flow.subscriptions import put_subscription
from cigri.formats.subscriptions import read_subscribing
from cigri.identity.callers import Caller
from cigri.states import EventLevel, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.grid import Event
from modules.portal.cigri3.dispatch import BASE
from tests.conftest import clone_database, made_template
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.portal.conftest import Served
from tests.portal.test_task_page import Answering

WRITTEN = "3.14\n"


@pytest.fixture(scope="module")
def cigri3_template(server: Path) -> Iterator[str]:
    with made_template(server, put_cigri3_grid) as name:
        yield name


@pytest.fixture
def database_url(server: Path, compiled: None, cigri3_template: str) -> Iterator[str]:
    yield from clone_database(server, cigri3_template)


@pytest.fixture(autouse=True)
def _grid(database: Database, nobody: int) -> None:
    """Each test has the rows of put_cigri3_grid, and may be somebody else."""


def put_cigri3_grid(conn: Connection) -> None:
    """Campaigns of nobody's: 1 with job 1 running, 2 paused, 3 cancelled, 4 with event 3; event 4 is a cluster's."""
    owner = Caller("nobody")
    cluster = a_cluster(conn, options={"spool": "/nowhere"})
    for number in range(1, 5):
        assert a_campaign(conn, ["secret one", "secret two", "secret three"], user=owner.user) == number
    submitted_jobs(conn, 1, cluster, 2)
    run_jobs(conn, [1])
    hold_campaign(conn, 2, owner)
    submitted_jobs(conn, 3, cluster, 1)
    cancel_campaign(conn, 3, owner)
    end_jobs(conn, cluster, submitted_jobs(conn, 4, cluster, 1), Outcome.FAILURE, exit_code=1)
    conn.execute(update(CampaignCluster).values(settings={"exec_file": "/bin/true", "walltime": 3600}))
    assert list(conn.execute(select(Event.c.id).where(Event.c.campaign_id == 4)).scalars()) == [3]
    for user in ("nobody", pwd.getpwuid(os.geteuid()).pw_name):
        put_subscription(conn, user, read_subscribing("mail:me@example.org"))
    put_events(conn, [NewEvent("CLUSTER_AWAY", EventLevel.ERROR, "cluster dahu", "gone", cluster_id=cluster)])


@pytest.fixture(autouse=True)
def _answering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_NOTIFY__SMTP", "localhost:25")
    monkeypatch.setattr("modules.portal.deferred_responses.TransportGateway", lambda: Answering(WRITTEN))


def get(portal: Served, path: str, uid: int | None = None) -> Any:
    told = portal.get(BASE + path, uid=uid)
    assert told.status == 200, told.body
    return told.body
