"""gridsub --resubmit tells which inputs have changed since they were sent, and sends them where that is wanted."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from cigri.cli import gridstat
from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.inputs.store import InputStore
from cigri.states import KillReason, Outcome, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.inputs import CampaignClusterInput
from cigri.tables.job_requests import KillRequest
from cigri.tables.tasks import Task
from tests.cli.conftest import AsUser
from tests.factories import a_cluster, end_jobs, run_jobs, submitted_jobs

Capture = pytest.CaptureFixture[str]

OLD, NEW = b"print(1 / 0)", b"print(1)"
BOTH_WAYS = pytest.mark.usefixtures("both_ways")
TOLD = "solve.py has changed since it was sent; --refresh-inputs sends the new one"


def sum_of(content: bytes) -> str:
    return sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def place(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the description lies; nobody stands there."""
    as_user("alice")
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "store"))
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
    place = tmp_path / "study"
    (place / "mesh").mkdir(parents=True)
    (place / "mesh" / "coarse").write_text("coarse")
    (place / "solve.py").write_bytes(OLD)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return place


def submit(place: Path, capsys: Capture, **fields: object) -> None:
    described = {"name": "n", "exec_file": "./solve.py", "clusters": {"dahu": {}}, "nb_jobs": 3}
    (place / "campaign.json").write_text(json.dumps({**described, "inputs": ["solve.py", "mesh"], **fields}))
    assert main([str(place / "campaign.json")]) == 0
    capsys.readouterr()


def send(conn: Connection, jobs: int) -> list[int]:
    """So many jobs of the campaign are in the queue; its inputs are there."""
    [cluster] = conn.scalars(select(CampaignCluster.c.cluster_id)).all()
    conn.execute(update(CampaignCluster).values(lacks_inputs=False))
    return submitted_jobs(conn, 1, cluster, jobs)


def fail(grid: Database) -> None:
    with grid.begin() as conn:
        [cluster] = conn.scalars(select(CampaignCluster.c.cluster_id)).all()
        end_jobs(conn, cluster, send(conn, 1), Outcome.FAILURE, exit_code=1)


def sums(grid: Database) -> dict[str, str]:
    """By name for tasks."""
    with grid.begin() as conn:
        settings = conn.execute(select(CampaignCluster.c.settings)).scalar_one()
        needed = set(conn.scalars(select(CampaignClusterInput.c.sha256)))
    found = {each["to"]: each["sha256"] for each in settings["inputs"]}
    assert needed == {*found.values()}
    return found


def waiting(grid: Database) -> int:
    with grid.begin() as conn:
        return len(conn.scalars(select(Task.c.id).where(Task.c.state == TaskState.WAITING)).all())


@BOTH_WAYS
def test_what_has_changed_is_told(grid: Database, place: Path, capsys: Capture) -> None:
    submit(place, capsys)
    fail(grid)
    assert main(["--resubmit", "1"]) == 0
    assert "has changed" not in capsys.readouterr().err
    fail(grid)
    (place / "solve.py").write_bytes(NEW)
    assert main(["--resubmit", "1"]) == 0
    told = capsys.readouterr()
    assert told.err.endswith(f": {TOLD}\n")
    assert told.out == "1 failed task of campaign 1 will be done again\n"
    assert sums(grid)["solve.py"] == sum_of(OLD), "nobody has asked for the new one"
    fail(grid)
    assert main(["--resubmit", "1", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": 1, "resubmitted": 1, "changed_inputs": ["solve.py"]}


@BOTH_WAYS
@pytest.mark.parametrize("source", ["list", "computed"])
def test_files_of_single_tasks_that_have_changed_are_told(
    grid: Database, place: Path, capsys: Capture, source: str
) -> None:
    """`--refresh-inputs` does not send them, and is not advised."""
    for case in range(3):
        (place / f"{case}.dat").write_text(f"case {case}")
    fields: dict[str, Any] = {"exec_file": "./solve.py {case}", "task_inputs": ["{case}.dat"], "nb_jobs": None}
    fields |= {"params": [{"case": n} for n in range(3)]} if source == "list" else {"sweep": {"case": [0, 1, 2]}}
    submit(place, capsys, **fields)
    fail(grid)
    assert main(["--resubmit", "1"]) == 0
    assert "task_inputs" not in capsys.readouterr().err
    fail(grid)
    (place / "2.dat").write_text("mended")
    assert main(["--resubmit", "1"]) == 0
    told = capsys.readouterr()
    assert "files of task_inputs ({case}.dat) have changed since they were sent" in told.err
    assert "--refresh-inputs" not in told.err
    assert told.out == "1 failed task of campaign 1 will be done again\n"
    fail(grid)
    assert main(["--resubmit", "1", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed_inputs"] == ["{case}.dat"]


@BOTH_WAYS
def test_the_new_ones_are_sent_for_all_that_is_still_to_be_done(grid: Database, place: Path, capsys: Capture) -> None:
    submit(place, capsys)
    fail(grid)
    (place / "solve.py").write_bytes(NEW)
    (place / "mesh" / "fine").write_text("fine")
    before = sums(grid)
    assert main(["--resubmit", "1", "--refresh-inputs"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 new inputs are sent for all that is still to be done of campaign 1",
        "1 failed task of campaign 1 will be done again",
    ]
    now = sums(grid)
    assert now["solve.py"] == sum_of(NEW)
    assert now["mesh"] != before["mesh"]
    assert InputStore(place.parent / "store").holds(now["solve.py"])
    assert waiting(grid) == 3
    with grid.begin() as conn:
        part = conn.execute(select(CampaignCluster.c.lacks_inputs, CampaignCluster.c.inputs_version)).one()
        written = conn.execute(select(Campaign.c.written)).scalar_one()
    assert tuple(part) == (True, 2), "no task starts before they are there"
    assert {each["to"]: each["sha256"] for each in written["inputs"]} == now, "it is what `gridstat -J` shows"
    assert main(["-c", "1", "--refresh-inputs"]) == 0
    assert "no input has changed since it was sent: none was replaced" in capsys.readouterr().err
    (place / "solve.py").write_bytes(OLD)
    assert main(["-c", "1", "--refresh-inputs"]) == 0, "back to the first one"
    assert sums(grid)["solve.py"] == sum_of(OLD)


@BOTH_WAYS
@pytest.mark.parametrize("word", ["{}/solve.py", "solve.py", "solve.py={}/solve.py", "../study/solve.py"])
def test_one_input_is_replaced(grid: Database, place: Path, capsys: Capture, word: str) -> None:
    submit(place, capsys)
    (place / "solve.py").write_bytes(NEW)
    (place / "mesh" / "fine").write_text("fine")
    (place.parent / "elsewhere" / "solve.py").write_bytes(NEW)
    before = sums(grid)
    assert main(["-c", "1", "--input", word.format(place)]) == 0
    assert capsys.readouterr().out == "1 new input is sent for all that is still to be done of campaign 1\n"
    assert sums(grid) == {**before, "solve.py": sum_of(NEW)}


@BOTH_WAYS
def test_jobs_in_queues_are_taken_back_and_running_ones_go_on(grid: Database, place: Path, capsys: Capture) -> None:
    submit(place, capsys)
    with grid.begin() as conn:
        queued, running = send(conn, 2)
        run_jobs(conn, [running])
    (place / "solve.py").write_bytes(NEW)
    assert main(["-c", "1", "--refresh-inputs"]) == 0
    told = capsys.readouterr()
    assert "1 job is taken back from queues for it" in told.err
    assert "1 running job keeps the earlier one" in told.err
    with grid.begin() as conn:
        kills = conn.execute(select(KillRequest.c.job_id, KillRequest.c.reason)).all()
    assert [tuple(kill) for kill in kills] == [(queued, KillReason.FAIRNESS)]


@BOTH_WAYS
def test_it_is_told_which_inputs_a_task_had(grid: Database, place: Path, capsys: Capture) -> None:
    submit(place, capsys)
    fail(grid)
    assert gridstat.main(["-T", "1:0"]) == 0
    assert "Inputs" not in capsys.readouterr().out, "there was never another"
    (place / "solve.py").write_bytes(NEW)
    assert main(["--resubmit", "1", "--refresh-inputs"]) == 0
    with grid.begin() as conn:
        send(conn, 1)
    capsys.readouterr()
    assert gridstat.main(["-T", "1:0", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    had = {each["version"]: each["sha256"] for each in whole["inputs"] if each["to"] == "solve.py"}
    assert [had[attempt["inputs_version"]] for attempt in whole["attempt_list"]] == [sum_of(OLD), sum_of(NEW)]
    assert gridstat.main(["-T", "1:0"]) == 0
    told = capsys.readouterr().out
    assert sum_of(OLD)[:12] in told
    assert sum_of(NEW)[:12] in told
    assert gridstat.main(["-j", str(whole["attempt_list"][0]["job_id"])]) == 0
    told = capsys.readouterr().out
    assert sum_of(OLD)[:12] in told
    assert sum_of(NEW)[:12] not in told


@BOTH_WAYS
def test_what_cannot_be_looked_at_is_not_taken_for_unchanged(grid: Database, place: Path, capsys: Capture) -> None:
    submit(place, capsys)
    fail(grid)
    (place / "solve.py").unlink()
    assert main(["--resubmit", "1", "--refresh-inputs"]) == 1
    assert "solve.py cannot be read: No such file or directory\nnothing was changed" in capsys.readouterr().err
    assert waiting(grid) == 2
    (place / "solve.py").mkdir()
    assert main(["--resubmit", "1", "--refresh-inputs"]) == 1
    assert "solve.py was a file when it was sent, and is a directory now" in capsys.readouterr().err
    with grid.begin() as conn:
        conn.execute(update(Campaign).values(sent_from=None))
    assert main(["--resubmit", "1", "--refresh-inputs"]) == 1
    assert "solve.py: where it was sent from is not known; name it with -c 1 --input" in capsys.readouterr().err


@BOTH_WAYS
def test_what_is_refused_changes_no_input(grid: Database, place: Path, as_user: AsUser, capsys: Capture) -> None:
    submit(place, capsys)
    (place / "solve.py").write_bytes(NEW)
    assert main(["--resubmit", "1", "--refresh-inputs", "--tasks", "0"]) == 1
    assert "task 0 of campaign 1 is waiting" in capsys.readouterr().err
    assert sums(grid)["solve.py"] == sum_of(OLD)
    assert main(["-c", "1", "--input", str(place / "campaign.json")]) == 1
    assert "campaign 1 has no such input; it has: mesh, solve.py" in capsys.readouterr().err
    as_user("mallory")
    assert main(["-c", "1", "--input", str(place / "solve.py")]) == 1
    assert "you have no campaign 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--input", "x", "campaign.json"], "--input sends a file of a campaign anew: say which with -c ID"),
        (["--refresh-inputs", "campaign.json"], "give it with --resubmit ID or -c ID"),
        (["-c", "1", "--input", "x", "--refresh-inputs"], "give one"),
        (["-c", "1", "--input", "x", "--check"], "--check changes nothing, and --input"),
    ],
)
def test_options_that_do_not_go_together(line: list[str], told: str, capsys: Capture) -> None:
    assert main(line) == 2
    assert told in capsys.readouterr().err


@BOTH_WAYS
def test_files_of_clusters_that_may_be_used_later_are_replaced_too(
    grid: Database, place: Path, capsys: Capture
) -> None:
    submit(place, capsys, clusters="any")
    (place / "solve.py").write_bytes(NEW)
    assert main(["-c", "1", "--refresh-inputs"]) == 0
    with grid.begin() as conn:
        anywhere: dict[str, Any] = conn.execute(select(Campaign.c.anywhere)).scalar_one() or {}
    later = [each for spare in anywhere.values() for each in spare["settings"]["inputs"]]
    assert all(each["sha256"] == sum_of(NEW) for each in later if each["to"] == "solve.py")
    assert sums(grid)["solve.py"] == sum_of(NEW)
