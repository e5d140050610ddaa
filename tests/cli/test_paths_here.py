"""Relative paths of programs begin where the description lies, where the cluster is this host."""

import json
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
def _clusters(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user("alice")
    with grid.begin() as conn:
        put_cluster(conn, "here", {"driver": "local", "options": {"spool": str(tmp_path / "spool")}})
        put_cluster(conn, "there", {"driver": "slurm", "transport": "ssh", "ssh": front_end("127.0.8.1")})
    for name in ("ising.sh", "bin/run"):
        program = tmp_path / "my project" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.chdir(tmp_path / "my project")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def runs(run: Run, *options: str, **fields: Any) -> dict[str, tuple[str, str]]:
    """Directory and command of the first task on each cluster, of a description in the current directory."""
    described = {"name": "n", "exec_file": "./ising.sh -v", "nb_jobs": 1, "append": False, "clusters": ["here"]}
    kept = {key: value for key, value in (described | fields).items() if value is not None}
    Path("c.json").write_text(json.dumps(kept))
    said = run("--check", "--output", "json", *options, "c.json")
    assert said.status == 0, said.err
    [checked] = json.loads(said.out)
    return {name: (place["directories"][0], place["commands"][0]) for name, place in checked["clusters"].items()}


@pytest.mark.usefixtures("both_ways")
def test_a_program_beside_the_description_is_that_of_the_local_cluster(run: Run, tmp_path: Path) -> None:
    program = f"'{tmp_path}/my project/ising.sh' -v"
    home = '"$HOME"'
    assert runs(run) == {"here": (home, program)}
    assert runs(run, clusters={"here": {}, "there": {}}) == {"here": (home, program), "there": (home, "./ising.sh -v")}
    assert runs(run, clusters={"here": {"exec_file": "bin/run"}, "there": None}) == {
        "here": (home, f"'{tmp_path}/my project/bin/run'"),
        "there": (home, "./ising.sh -v"),
    }
    assert runs(run, "--local", clusters=["there"]) == {"here": (home, program)}


def test_what_is_stored_has_the_whole_path(run: Run, grid: Database, tmp_path: Path) -> None:
    Path("c.json").write_text(json.dumps({"name": "n", "exec_file": "./ising.sh", "nb_jobs": 2, "clusters": ["here"]}))
    said = run("c.json")
    assert said.status == 0
    assert f"task 1 runs: '{tmp_path}/my project/ising.sh' 1" in said.err


def test_a_directory_with_a_dot_is_meant_from_the_description_on(run: Run, tmp_path: Path) -> None:
    project = f"{tmp_path}/my project"
    assert runs(run, exec_directory=".") == {"here": (f"'{project}'", "./ising.sh -v")}
    assert runs(run, exec_directory="./out/{index}", exec_file="true") == {"here": (f"'{project}/out/0'", "true")}
    assert runs(run, exec_directory=".", clusters=["there"])["there"][0] == '"$HOME"/.'
    assert runs(run, exec_directory="out", exec_file="true") == {"here": ('"$HOME"/out', "true")}


def test_other_programs_are_as_they_were(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "run").write_text("#!/bin/sh\n")
    (home / "run").chmod(0o755)
    for exec_file in ("./run", "~/run", f"{home}/run", "true"):
        assert runs(run, exec_file=exec_file)["here"][1] in (exec_file, '"$HOME"/run')
    assert runs(run, inputs=["ising.sh"])["here"][1] == "./ising.sh -v"  # each task has its own
    assert runs(run, exec_directory="~", exec_file="./run")["here"][1] == "./run"


def test_check_fails_where_a_task_would_and_says_the_whole_path(run: Run, tmp_path: Path) -> None:
    Path("c.json").write_text(json.dumps({"name": "n", "exec_file": "./away", "nb_jobs": 1, "clusters": ["here"]}))
    said = run("--check", "c.json")
    assert said.status == 1
    assert f"there is no program {tmp_path}/home/away here: tasks would end with exit code 127" in said.err
