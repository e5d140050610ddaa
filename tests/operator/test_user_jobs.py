"""What the doctor says of jobs of users."""

import os
from pathlib import Path

import pytest

from cigri.database import Database
from cigri.flow.clusters import map_user, put_cluster
from cigri.settings.cluster_config import parse_config
from tests.operator.conftest import Cigri


@pytest.fixture(autouse=True)
def declared(database: Database, spool: Path, tmp_path: Path) -> None:
    options = {"spool": str(spool), "pools": {"cpu": 1}}
    values = {"driver": "local", "options": options, "directory": str(tmp_path / "jobs")}
    with database.begin() as conn:
        put_cluster(conn, "here", parse_config("here", values).model_dump(mode="json"))


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="the account that olga has here is ours")
def test_a_job_runs_as_the_account_that_a_user_has_on_the_cluster(
    cigri: Cigri, database: Database, tmp_path: Path
) -> None:
    said = cigri("doctor", "--as", "olga")
    assert said.status == 1
    assert "check failed: a job of olga runs on here\n  reach: this host has no account olga" in said.out
    with database.begin() as conn:
        map_user(conn, "here", "olga", "root")
    said = cigri("doctor", "--as", "olga")
    assert "\N{CHECK MARK} a job of olga runs on here\n" in said.out
    assert list((tmp_path / "jobs").rglob("test-*")) == []


def test_no_job_is_run_unasked(cigri: Cigri, tmp_path: Path) -> None:
    assert "a job of" not in cigri("doctor").out
    assert not (tmp_path / "jobs").exists()
