"""`gridsub -- COMMAND`: a campaign without any description."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.cli import gridsub
from cigri.database import Database
from cigri.flow.clusters import put_cluster
from tests.cli.conftest import AsUser
from tests.cli.running import Run

COMMAND = gridsub


@pytest.fixture(autouse=True)
def _cluster(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user("alice")
    with grid.begin() as conn:
        put_cluster(conn, "localhost", {"driver": "local", "options": {"spool": str(tmp_path / "spool")}})
    for name in ("ising.sh", "my run"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "runs.csv").write_text('mesh,size,note\nwing,1,x\n"tail plane",2,y\n')
    monkeypatch.chdir(tmp_path)


def checked(run: Run, *words: str) -> tuple[int, list[str], str]:
    """How many tasks there would be, what the first ones and the last one run, and where."""
    said = run("--check", "--output", "json", *words)
    assert said.status == 0, said.err
    [campaign] = json.loads(said.out)
    [place] = campaign["clusters"].values()
    return campaign["tasks"], [*place["commands"], place["last_command"]], place["directories"][0]


@pytest.mark.usefixtures("both_ways")
def test_a_command_runs_where_its_user_stands(run: Run, tmp_path: Path) -> None:
    beta = "beta=0.1:1:0.1"
    first = ["./ising.sh 0.1", "./ising.sh 0.2", "./ising.sh 0.3", "./ising.sh 1.0"]
    assert checked(run, "--", "./ising.sh", "{beta}", "--sweep", beta) == (10, first, str(tmp_path))
    assert checked(run, "--sweep", beta, "--", "./ising.sh", "{beta}") == (10, first, str(tmp_path))
    assert checked(run, "--", "./ising.sh") == (1, ["./ising.sh", "./ising.sh"], str(tmp_path))
    assert checked(run, "--", "./my run", "a b", "$X;", "*")[1][0] == "'./my run' 'a b' '$X;' '*'"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["x=1,5,9"], ["1", "5", "9", "9"]),
        (["x=01,a b"], ["01", "'a b'", "'a b'"]),
        (["x=3:1:-1"], ["3", "2", "1", "1"]),
        (["x=1:2"], ["1", "2", "2"]),
        (["x=12:30,13:30"], ["12:30", "13:30", "13:30"]),
    ],
)
def test_values_of_a_sweep(run: Run, values: list[str], words: list[str]) -> None:
    options = [word for value in values for word in ("--sweep", value)]
    assert checked(run, *options, "--", "true", "{x}")[1] == [f"true {word}" for word in words]


def test_several_names_make_all_combinations(run: Run) -> None:
    tasks, commands, _ = checked(run, "--sweep", "x=1:3", "--sweep", "y=a,b", "--", "true", "{x}", "{y}")
    assert (tasks, commands[1], commands[-1]) == (6, "true 1 b", "true 3 b")


def test_the_rows_of_a_table_are_tasks(run: Run, tmp_path: Path) -> None:
    found = (2, ["./ising.sh wing", "./ising.sh 'tail plane'", "./ising.sh 'tail plane'"], str(tmp_path))
    assert checked(run, "--table", "runs.csv", "--", "./ising.sh", "{mesh}") == found
    assert checked(run, "--", "./ising.sh", "{mesh}", "--table", "runs.csv") == found


def test_options_of_the_program_stay_its_own(run: Run) -> None:
    assert checked(run, "--", "true", "--sweep", "x=1,2")[1][0] == "true --sweep x=1,2"
    assert checked(run, "--", "true", "{index}", "--table", "no.csv")[1][0] == "true 0 --table no.csv"
    assert checked(run, "--sweep", "x=7", "--", "true", "{x}", "--sweep", "x=1")[1][0] == "true 7 --sweep x=1"


def test_it_is_called_as_its_program_or_as_its_user_says(run: Run) -> None:
    assert run("--check", "--", "./ising.sh").out.startswith("campaign ising.sh (default) of alice: 1 task\n")
    assert run("--check", "--name", "mine", "--", "./ising.sh").out.startswith("campaign mine (default)")
    assert run("--", "./ising.sh").out.endswith("CAMPAIGN_ID=1\n")


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["--"], 2, "a command is missing behind --"),
        (["c.json", "--", "true"], 2, "give a description, or a command behind --, not both"),
        (["-c", "1", "--", "true"], 2, "give a description, or a command behind --, not both"),
        (["--sweep", "x=1", "c.json"], 2, "are about a command: give it behind --"),
        (["--sweep", "x", "--", "true"], 2, "write NAME=1,5,9 or NAME=from:to:step"),
        (["--sweep", "x=1", "--sweep", "x=2", "--", "true", "{x}"], 2, "a name is given twice"),
        (["--sweep", "x=1", "--table", "runs.csv", "--", "true", "{x}"], 2, "give one of them"),
        (["--table", "runs.txt", "--", "true", "{x}"], 2, "ends with one of .csv, .tsv, .jsonl, .ndjson"),
        (["--sweep", "x=1", "--", "true", "{y}"], 1, "the command: exec_file: no parameter is called 'y'"),
        (["--check", "--", "./away"], 1, "/away here: tasks would end with exit code 127"),
    ],
)
def test_what_is_wrong_is_told(run: Run, words: list[str], status: int, why: str) -> None:
    said = run(*words)
    assert said.status == status
    assert why in " ".join(said.err.split())


def test_a_table_adds_tasks(run: Run, tmp_path: Path) -> None:
    described: dict[str, Any] = {"name": "n", "exec_file": "true {mesh} {size}", "param_file": "more.csv"}
    (tmp_path / "more.csv").write_text("mesh,size\nhull,3\n")
    (tmp_path / "c.json").write_text(json.dumps(described))
    assert run("c.json").status == 0
    assert run("-c", "1", "-F", "more.csv").out == "Jobs successfully added to campaign 1: 1\n"
    (tmp_path / "more.csv").write_text("mesh,size\nhull,3\nmast\n")
    said = run("-c", "1", "-F", "more.csv")
    assert said.status == 1
    assert "more.csv: more.csv line 3: its cells are 1, and the columns 2: mesh, size" in said.err
