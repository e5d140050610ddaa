"""`gridsub --check` looks for the program and its directory where jobs run on this very host."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cigri.cli import gridsub
from cigri.database import Database
from cigri.flow.clusters import put_cluster
from tests.cli.conftest import AsUser
from tests.cli.running import Run
from tests.grid import front_end

COMMAND = gridsub


@pytest.fixture(autouse=True)
def _clusters(grid: Database, as_user: AsUser, tmp_path: Path) -> None:
    as_user("alice")
    with grid.begin() as conn:
        put_cluster(conn, "here", {"driver": "local", "options": {"spool": str(tmp_path / "spool")}})
        put_cluster(conn, "there", {"driver": "slurm", "transport": "ssh", "ssh": front_end("127.0.8.1")})


def told(run: Run, cluster: str = "here", **fields: Any) -> list[str]:
    """What is said of a campaign on standard error, without its source."""
    description = {"name": "n", "exec_file": "true", "clusters": {cluster: {}}, "params": ["1"] * 200} | fields
    said = run("--check", "-j", json.dumps(description))
    lines = [line for line in said.err.splitlines() if line != "nothing was submitted"]
    assert said.status == (1 if len(lines) < len(said.err.splitlines()) else 0)
    assert said.status == (1 if any("unless" not in line for line in lines) and "after" not in fields else 0)
    return [line.partition("here: ")[2] for line in lines]


def test_what_is_there_needs_no_word(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    assert told(run) == []
    assert told(run, exec_file="./run", exec_directory=str(tmp_path)) == []
    assert told(run, exec_file="run", environment={"PATH": str(tmp_path)}) == []
    assert told(run, exec_file="cat", exec_directory=f"{tmp_path}/not/yet/{{CAMPAIGN_ID}}") == []
    assert list(tmp_path.glob("not")) == []


def test_a_program_that_is_missing_is_told_once(run: Run, tmp_path: Path) -> None:
    none = "there is no program {} here: tasks would end with exit code 127"
    assert told(run, exec_file="no-such-program") == [none.format("no-such-program")]
    assert told(run, exec_file=f"{tmp_path}/away") == [none.format(f"{tmp_path}/away")]
    assert told(run, exec_file="./away", prologue=["make away"]) == [
        f"{none.format(Path.home() / 'away')}, unless the prologue makes it"
    ]
    assert told(run, exec_file="{p}", params=[{"p": "true"}, {"p": "away"}]) == [none.format("away")]


def test_what_an_earlier_campaign_may_make_is_told_only(run: Run, tmp_path: Path) -> None:
    assert run("-j", json.dumps({"name": "first", "exec_file": "true", "nb_jobs": 1, "clusters": ["here"]})).status == 0
    [sentence] = told(run, exec_file=f"{tmp_path}/away", after="first")
    assert sentence.startswith(f"there is no program {tmp_path}/away here")


def test_a_program_that_cannot_be_executed_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert told(run, exec_file=f"{tmp_path}/data") == [
        f"{tmp_path}/data cannot be executed by you: tasks would end with exit code 126; "
        f"perhaps `chmod +x {tmp_path}/data`"
    ]


def test_a_directory_that_cannot_be_made_or_entered_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    place = f"{tmp_path}/file/below"
    assert told(run, exec_directory=place) == [
        f"exec_directory {place} is not there and you cannot make it: tasks would end with exit code 72"
    ]
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path and may(path, mode))  # root may all
    assert told(run, exec_directory=str(tmp_path)) == [
        f"exec_directory {tmp_path} cannot be entered by you: tasks would end with exit code 72"
    ]


def test_a_name_that_is_too_long_does_not_stop_the_check(run: Run, tmp_path: Path) -> None:
    assert told(run, exec_directory=f"{tmp_path}/{'d' * 3000}") == []


def test_other_hosts_are_not_looked_at(run: Run) -> None:
    assert told(run, cluster="there", exec_file="no-such-program") == []
