"""The key of a grid: chosen before the first job is sent, or random for ever."""

import pytest

from cigri.database import Database
from cigri.flow.grid_identity import grid_key
from tests.factories import a_campaign, a_cluster, submitted_jobs
from tests.operator.conftest import Cigri


def test_a_key_is_shown_and_chosen(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        random = grid_key(conn)
    assert cigri("key").out == f"{random}\n"
    assert cigri("key", "physics").out == "physics\n"
    with database.begin() as conn:
        assert grid_key(conn) == "physics"


def test_a_key_stays_once_jobs_were_sent(cigri: Cigri, database: Database) -> None:
    assert cigri("key", "physics").status == 0
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
    said = cigri("key", "biology")
    assert said.status == 1
    assert "jobs were sent under the key physics" in said.err
    assert cigri("key", "physics").status == 0


@pytest.mark.parametrize("key", ["abc", "Physics", "a-b-c", "123456789", "", "phys\n"])
def test_a_key_can_stand_in_any_name(cigri: Cigri, key: str) -> None:
    said = cigri("key", key)
    assert said.status == 2
    assert "4 to 8 small letters and digits" in said.err
