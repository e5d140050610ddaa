"""gridsub takes the files of single tasks along: each is read and sent once; of what is missing the task is told."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.inputs.store import InputStore
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.inputs import StoredInput, TaskInput
from tests.cli.conftest import AsUser
from tests.factories import a_cluster

Capture = pytest.CaptureFixture[str]

PLAIN: dict[str, Any] = {"name": "n", "exec_file": "./solver {case}", "clusters": {"dahu": {}}}
PARAMS = [{"case": case} for case in ("a", "b", "a", "odd 'name\n\"é")]
BOTH_WAYS = pytest.mark.usefixtures("both_ways")


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user("alice")
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "store"))
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
    (tmp_path / "cases").mkdir()
    for case in {str(parameter["case"]) for parameter in PARAMS}:
        (tmp_path / "cases" / f"{case}.dat").write_text(f"case {case}")


@pytest.fixture
def store(tmp_path: Path) -> InputStore:
    return InputStore(tmp_path / "store")


def submit(place: Path, *options: str, **fields: object) -> int:
    path = place / "campaign.json"
    path.write_text(json.dumps({**PLAIN, "params": PARAMS, **fields}))
    return main([*options, str(path)])


def sums(grid: Database) -> list[tuple[int, str]]:
    with grid.begin() as conn:
        rows = conn.execute(select(TaskInput).order_by(TaskInput.c.number, TaskInput.c.place)).all()
    return [(row.number, row.sha256) for row in rows]


def of(content: str) -> str:
    return sha256(content.encode()).hexdigest()


@BOTH_WAYS
def test_each_file_is_sent_once(grid: Database, store: InputStore, tmp_path: Path) -> None:
    for _ in range(2):
        assert submit(tmp_path, task_inputs=["cases/{case}.dat"]) == 0
    expected = [(number, of(f"case {parameter['case']}")) for number, parameter in enumerate(PARAMS)]
    assert sums(grid) == sorted(expected * 2)
    with store.open(of("case b"), 6) as content:
        assert content.read() == b"case b"
    with grid.begin() as conn:
        assert len(conn.execute(select(StoredInput)).all()) == 4, "three files, and the list of which task has which"
        assert list(conn.scalars(select(Campaign.c.tasks_have_inputs))) == [True, True]
        settings = conn.scalars(select(CampaignCluster.c.settings)).all()[0]
    assert settings["own_directory"]
    assert settings["task_inputs"]["files"] == [{"path": "cases/{case}.dat", "to": "{case}.dat"}]
    assert settings["task_inputs"]["number"] == 3


@BOTH_WAYS
def test_computed_parameters_name_files_too(grid: Database, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.in").write_text(str(number))
    wanted = [{"from": "{index}.in", "to": "in"}]
    assert submit(tmp_path, params=None, nb_jobs=3, exec_file="./solver", task_inputs=wanted) == 0
    assert sums(grid) == [(number, of(str(number))) for number in range(3)]


def test_what_is_missing_is_told_by_its_task(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "cases" / "b.dat").unlink()
    assert submit(tmp_path, task_inputs=["cases/{case}.dat"]) == 1
    told = capsys.readouterr().err
    assert "task_inputs: of task 1: cases/b.dat cannot be read: No such file or directory" in told
    assert "nothing was submitted" in told
    assert sums(grid) == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("cases", "cases is a directory: pack it, or name it in inputs"),
        ("{CAMPAIGN_ID}.dat", "CAMPAIGN_ID is not known when the files are read"),
        ({"from": "cases/{case}.dat", "at": "x"}, "unknown field 'at'"),
        ({"from": "cases/{case}.dat", "to": "../x"}, "no name below the directory of a task"),
        ({"from": "cases/{case}.dat", "to": "{oops}"}, "no parameter is called 'oops'"),
    ],
)
def test_what_cannot_be_is_refused(
    grid: Database, tmp_path: Path, capsys: Capture, wanted: object, message: str
) -> None:
    assert submit(tmp_path, task_inputs=[wanted]) == 1
    assert message in capsys.readouterr().err
    assert sums(grid) == []


def test_a_name_that_leads_out_by_a_parameter_is_refused(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x").write_text("x")
    params = [{"case": "fine"}, {"case": "../../x"}]
    assert submit(tmp_path, params=params, task_inputs=[{"from": "x", "to": "in/{case}"}]) == 1
    assert "of task 1: 'in/../../x' is no name below the directory of a task" in capsys.readouterr().err
    assert sums(grid) == []


def test_tasks_with_files_are_not_replicated(tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, replicate=True, task_inputs=["cases/{case}.dat"]) == 1
    assert "replicate: tasks with inputs of their own are not replicated" in capsys.readouterr().err


def test_a_cluster_has_no_files_of_tasks_alone(tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, clusters={"dahu": {"task_inputs": ["cases/{case}.dat"]}}) == 1
    assert "belongs at the top, not in a cluster" in capsys.readouterr().err


def test_check_tells_how_many_there_are(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, "--check", task_inputs=["cases/{case}.dat"]) == 0
    told = capsys.readouterr().out
    assert "task input   {case}.dat from cases/{case}.dat" in told
    assert "task inputs  3 different files, " in told
    with grid.begin() as conn:
        assert conn.execute(select(StoredInput)).all() == []


@BOTH_WAYS
def test_tasks_added_later_bring_theirs(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, task_inputs=["cases/{case}.dat"]) == 0
    (tmp_path / "cases" / "late.dat").write_text("late")
    more = tmp_path / "more.json"
    more.write_text(json.dumps([{"case": "late"}, {"case": "a"}]))
    assert main(["-c", "1", "-F", str(more)]) == 0
    assert sums(grid)[4:] == [(4, of("late")), (5, of("case a"))]
    more.write_text(json.dumps([{"case": "missing"}]))
    capsys.readouterr()
    assert main(["-c", "1", "-F", str(more)]) == 1
    assert "of task 6: cases/missing.dat cannot be read" in capsys.readouterr().err


@BOTH_WAYS
def test_who_knows_the_sums_has_not_the_files(grid: Database, as_user: AsUser, tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, task_inputs=["cases/{case}.dat"]) == 0
    with grid.begin() as conn:
        read = conn.scalars(select(CampaignCluster.c.settings)).all()[0]["task_inputs"]
    as_user("mallory")
    assert submit(tmp_path, task_inputs=read) == 1
    assert "the list of the files of tasks was not sent" in capsys.readouterr().err
    assert len(sums(grid)) == 4


@BOTH_WAYS
def test_a_file_that_changes_while_it_is_sent_is_told(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cigri.cli import sending_inputs

    content = sending_inputs._content
    monkeypatch.setattr(sending_inputs, "_content", lambda read: content(read) + b"?" * ("b.dat" in read.path))
    assert submit(tmp_path, task_inputs=["cases/{case}.dat"]) == 1
    assert "changed while it was read; submit the campaign again" in capsys.readouterr().err
