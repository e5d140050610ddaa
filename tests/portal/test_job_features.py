"""Machine/Job Features over HTTP: what the portal tells whoever has the address of a batch, and nobody else."""

import hashlib
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from typing import NamedTuple

import pytest
from sqlalchemy import select

from cigri.database import Database
from cigri.flow.drains import mark_shutdown_passed, record_notified_jobs
from cigri.flow.served_features import ServedFeatures, put_served_features
from cigri.states import Outcome
from cigri.tables.jobs import Job
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.portal.conftest import Served

SECRET = "s" * 43
HASH = hashlib.sha256(SECRET.encode()).hexdigest()


class Found(NamedTuple):
    status: int
    text: str
    cache: str | None


def read(portal: Served, path: str, method: str = "GET") -> Found:
    """As a job does: by TCP, and nobody."""
    connection = HTTPConnection("127.0.0.1", portal.port)
    try:
        connection.request(method, path, headers={"Host": "grid.example.org"})
        answer = connection.getresponse()
        return Found(answer.status, answer.read().decode(), answer.headers["Cache-Control"])
    finally:
        connection.close()


@pytest.fixture
def batch(database: Database) -> int:
    """Of two jobs, the first of which runs, with its features."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 2), cluster, 2)
        run_jobs(conn, jobs[:1])
        batch_id = conn.scalar(select(Job.c.batch_id).where(Job.c.id == jobs[0]))
        assert batch_id is not None
        put_served_features(conn, batch_id, ServedFeatures(HASH, {"hs06": "12.5"}, {"allocated_cpu": "2"}))
    return batch_id


def below(batch: int, index: int = 1, secret: str = SECRET) -> str:
    return f"/features/{batch}_{secret}/{index}"


def test_who_has_the_address_reads_a_value_or_what_there_is(open_portal: Served, batch: int) -> None:
    place = below(batch)
    assert read(open_portal, f"{place}/jobfeatures/allocated_cpu") == (200, "2\n", "private, max-age=10")
    assert read(open_portal, f"{place}/machinefeatures/hs06").text == "12.5\n"
    assert read(open_portal, f"{place}/machinefeatures").text == "hs06\n"
    assert read(open_portal, f"{place}/jobfeatures").text == "allocated_cpu\njob_id\njobstart_secs\n"
    assert read(open_portal, f"{below(batch, 2)}/jobfeatures").text == "allocated_cpu\njob_id\n", "it does not run yet"
    assert read(open_portal, f"{place}/jobfeatures/allocated_cpu", "HEAD").text == ""


def test_the_job_is_named_as_its_batch_system_does(open_portal: Served, batch: int, database: Database) -> None:
    with database.begin() as conn:
        job = conn.execute(select(Job.c.remote_id, Job.c.started_at).where(Job.c.array_index == 1)).one()
    assert job.started_at is not None
    place = f"{below(batch)}/jobfeatures"
    assert read(open_portal, f"{place}/job_id").text == f"{job.remote_id}\n"
    assert read(open_portal, f"{place}/jobstart_secs").text == f"{int(job.started_at.timestamp())}\n"


def test_a_key_that_is_not_known_is_not_there(open_portal: Served, batch: int) -> None:
    for key in ("jobfeatures/shutdowntime_job", "machinefeatures/total_cpu", "jobfeatures/hs06", "jobstatus/used_CPU"):
        assert read(open_portal, f"{below(batch)}/{key}").status == 404, key


@pytest.mark.parametrize("secret", ["t" * 43, "s" * 42, "", HASH[:43]])
def test_without_the_secret_nothing_is_told(open_portal: Served, batch: int, secret: str) -> None:
    right, wrong = read(open_portal, f"{below(1000)}/jobfeatures"), f"{below(batch, 1, secret)}/jobfeatures"
    assert read(open_portal, wrong) == right, "as of a batch that there is not"
    assert right.status == 404
    assert right.cache == "no-store"


def test_the_address_of_one_batch_tells_nothing_of_another(open_portal: Served, batch: int, database: Database) -> None:
    with database.begin() as conn:
        other = submitted_jobs(conn, a_campaign(conn, 1), 1, 1)
        other_batch = conn.scalar(select(Job.c.batch_id).where(Job.c.id.in_(other)))
        assert other_batch is not None
    assert read(open_portal, f"{below(other_batch)}/jobfeatures").status == 404, "it was given no address"
    with database.begin() as conn:
        put_served_features(conn, other_batch, ServedFeatures("0" * 64, {}, {}))
    assert read(open_portal, f"{below(other_batch)}/jobfeatures").status == 404


@pytest.mark.parametrize("index", ["0", "3", "-1", str(2**40), "x"])
def test_jobs_that_there_are_not_are_told_nothing(open_portal: Served, batch: int, index: str) -> None:
    found = read(open_portal, f"/features/{batch}_{SECRET}/{index}/jobfeatures")
    assert 400 <= found.status < 500


def test_a_shutdown_is_told_at_once_and_a_machine_that_stays_is_told_no_more(
    open_portal: Served, batch: int, database: Database
) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    job, machine = f"{below(batch)}/jobfeatures/shutdowntime_job", f"{below(batch)}/machinefeatures/shutdowntime"
    with database.begin() as conn:
        job_id = conn.scalar(select(Job.c.id).where(Job.c.array_index == 1))
        assert job_id is not None
        record_notified_jobs(conn, [(job_id, False)], at, machine_only=True)
    assert read(open_portal, machine).text == f"{int(at.timestamp())}\n"
    assert read(open_portal, job).status == 404
    with database.begin() as conn:
        record_notified_jobs(conn, [(job_id, False)], at)
    assert read(open_portal, job).text == f"{int(at.timestamp())}\n"
    with database.begin() as conn:
        mark_shutdown_passed(conn, [job_id])
    assert read(open_portal, machine).status == 404
    assert read(open_portal, job).text == f"{int(at.timestamp())}\n"


def test_of_a_job_that_has_ended_nothing_is_told(open_portal: Served, batch: int, database: Database) -> None:
    with database.begin() as conn:
        job_id = conn.scalar(select(Job.c.id).where(Job.c.array_index == 1))
        assert job_id is not None
        end_jobs(conn, 1, [job_id], Outcome.SUCCESS)
    assert read(open_portal, f"{below(batch)}/jobfeatures").status == 404
    assert read(open_portal, f"{below(batch, 2)}/jobfeatures").status == 200, "the others of its batch live"
