"""The names of jobs tell whose they are, as open-lmake's do by their repo_key."""

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from cigri.database import Database, schema
from cigri.drivers import BatchRequest, load
from cigri.flow.batches import put_batch
from cigri.flow.grid_identity import grid_key
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from tests.factories import a_campaign, a_cluster

pytestmark = pytest.mark.noon


def a_tag(conn: Connection, key: str) -> str:
    cluster = a_cluster(conn)
    campaign = a_campaign(conn, 1)
    put_jobs(conn, campaign, [NewJob(cluster, 1, 60, take_waiting(conn, campaign, 1))])
    [launch] = list_launches(conn, cluster, 1, 1)
    batch = put_batch(conn, launch, cluster, key)
    assert batch is not None
    return batch.tag


def test_the_key_of_the_grid_begins_the_names_of_its_jobs(database: Database) -> None:
    with database.begin() as conn:
        key = grid_key(conn)
        tag = a_tag(conn, key)
    assert tag.startswith(f"cigri.{key}.")
    for driver, word in (("slurm", f"--job-name={tag}"), ("gridengine", f"-N {tag}"), ("oar", f"--name={tag}")):
        assert word in load(driver, {}).submit(BatchRequest(tag, 1, 60))


@pytest.mark.parametrize("wrong", ["a b", "a:b", "abc", "abcdefghi", "A123"])
def test_the_key_of_the_grid_is_a_few_letters(database: Database, wrong: str) -> None:
    """And of those that every batch system takes, so that none has to be replaced."""
    with pytest.raises(IntegrityError, match="ck_grid_key"), database.begin() as conn:
        conn.execute(text("UPDATE grid SET key = :key"), {"key": wrong})
    with database.begin() as conn:
        conn.execute(text("UPDATE grid SET key = 'ab12'"))


def test_each_grid_has_a_key_of_its_own_without_being_told(database: Database, empty_url: str) -> None:
    other = Database(empty_url)
    schema.upgrade(other)
    keys = []
    for grid in (database, other):
        with grid.begin() as conn:
            keys.append(grid_key(conn))
    other.close()
    assert keys[0] != keys[1]
