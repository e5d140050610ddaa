"""`gridsub` of a description with stages: all of them are submitted, or none."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.cli import gridsub, submitting
from cigri.database import Database
from cigri.errors import PortalUnavailable
from cigri.flow.views.dependencies import list_after
from tests.cli.conftest import AsUser
from tests.cli.running import Run
from tests.factories import a_cluster

COMMAND = gridsub
STUDY = """
name: study
clusters: [dahu]
exec_file: ./work
stages:
  - {name: make, nb_jobs: 1}
  - {name: left, params: ["a b", "c"]}
  - {name: right, param_file: seeds.txt, after: make}
  - {name: sum, nb_jobs: 2, after: ["left:same", {campaign: right, tolerance: 50%}]}
"""


@pytest.fixture(autouse=True)
def alice(as_user: AsUser, database: Database) -> None:
    as_user("alice")
    with database.begin() as conn:
        a_cluster(conn)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "seeds.txt").write_text("1\n2\n3\n")
    (tmp_path / "work").touch(0o755)
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def stored(database: Database) -> dict[str, tuple[int, list[tuple[int, str]]]]:
    """By name, the number of tasks and what is waited for."""
    with database.begin() as conn:
        campaigns = conn.exec_driver_sql(
            "SELECT id, name, (SELECT count(*) FROM tasks WHERE campaign_id = campaigns.id) FROM campaigns ORDER BY id"
        ).all()
        after = {id: [(one.campaign_id, one.tasks) for one in list_after(conn, id)] for id, _, _ in campaigns}
    return {name: (tasks, after[id]) for id, name, tasks in campaigns}


@pytest.mark.usefixtures("both_ways")
def test_a_diamond_is_submitted_as_a_whole(run: Run, database: Database, study: Path) -> None:
    printed = run(study)
    assert printed.out == "".join(f"Campaign successfully submitted\nCAMPAIGN_ID={id}\n" for id in (1, 2, 3, 4))
    assert stored(database) == {
        "study.make": (1, []),
        "study.left": (2, [(1, "all")]),
        "study.right": (3, [(1, "all")]),
        "study.sum": (2, [(2, "same"), (3, "all")]),
    }
    assert [campaign["id"] for campaign in run(study, "--output", "json").json] == [5, 6, 7, 8]
    assert stored(database)["study.sum"][1] == [(6, "same"), (7, "all")], "names mean those of the same file"


@pytest.mark.usefixtures("both_ways")
def test_of_stages_that_are_wrong_none_is_submitted(run: Run, database: Database, study: Path) -> None:
    study.write_text(STUDY.replace("right, tolerance", "rihgt, tolerance").replace("exec_file", "exec_fiel"))
    printed = run(study)
    assert printed.status == 1
    assert "exec_fiel: unknown field (did you mean 'exec_file'?)" in printed.err
    study.write_text(STUDY.replace("right, tolerance", "rihgt, tolerance"))
    printed = run(study)
    assert printed.status == 1
    assert "after[1]: there is no such campaign as rihgt" in printed.err
    study.write_text(STUDY.replace("name: sum, nb_jobs: 2", "name: sum, nb_jobs: 3"))
    assert "after[0]: stage study.left has 2 tasks, and this one 3" in run(study).err
    assert stored(database) == {}


def test_a_stage_that_cannot_be_stored_takes_the_others_back(
    run: Run, database: Database, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cigri.submission import storing

    put, left = vars(storing)["put_audit"], iter([None, None, RuntimeError("the disk is full")])

    def put_audit(*arguments: object) -> None:
        if (error := next(left)) is not None:
            raise error
        put(*arguments)

    monkeypatch.setattr(storing, "put_audit", put_audit)
    assert "the disk is full" in run(study).err
    assert stored(database) == {}


def test_nobody_waits_for_the_audit_trail_while_stages_are_stored(
    run: Run, database: Database, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry keeps all others waiting until the end of its transaction."""
    from cigri.submission import storing

    order = list[str]()

    def noting(name: str) -> Callable[..., object]:
        original = vars(storing)[name]

        def call(*arguments: object) -> object:
            order.append(name)
            return original(*arguments)

        return call

    for name in ("put_campaign", "put_audit"):
        monkeypatch.setattr(storing, name, noting(name))
    assert run(study).status == 0
    assert order == ["put_campaign"] * 4 + ["put_audit"] * 4


def test_an_answer_that_is_lost_stores_them_once(
    run: Run, database: Database, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, lost = vars(submitting)["_send"], iter([True, False])

    def lose_the_first(*arguments: object) -> object:
        answer = send(*arguments)
        if next(lost):
            raise PortalUnavailable("the connection broke")
        return answer

    monkeypatch.setattr(submitting, "_send", lose_the_first)
    assert run(study).out.count("CAMPAIGN_ID=") == 4
    assert len(stored(database)) == 4


def test_a_check_shows_each_stage_and_stores_none(run: Run, database: Database, study: Path) -> None:
    printed = run("--check", study)
    assert printed.status == 0
    lines = [line for line in printed.out.splitlines() if line.startswith(("campaign ", "  after"))]
    assert lines == [
        "campaign study.make (default) of alice: 1 task",
        "campaign study.left (default) of alice: 2 tasks",
        "  after        once campaign study.make has ended well",
        "campaign study.right (default) of alice: 3 tasks",
        "  after        once campaign study.make has ended well",
        "campaign study.sum (default) of alice: 2 tasks",
        "  after        each task, once that of the same number of campaign study.left has ended well",
        "  after        once campaign study.right has ended well (tolerance 50 %)",
    ]
    assert stored(database) == {}


def test_what_is_said_beside_holds_for_stages_that_say_nothing(run: Run, database: Database, study: Path) -> None:
    run("-j", json.dumps({"name": "before", "clusters": ["dahu"], "exec_file": "x", "nb_jobs": 1}))
    run("--after", "before", study)
    assert [after for _, after in stored(database).values()] == [
        [],
        [(1, "all")],
        [(2, "all")],
        [(2, "all")],
        [(3, "same"), (4, "all")],
    ]


def test_tests_and_stages_do_not_go_together(run: Run, database: Database, study: Path) -> None:
    printed = run("-t", "test", study)
    assert printed.status == 1
    assert "after: a test runs at once: it waits for no campaign (leave it out, and test each by itself)" in printed.err
    assert stored(database) == {}
