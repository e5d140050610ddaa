"""gridsub takes files along: what it reads, what it sends, once, from where it was cut, and what it refuses."""

import io
import json
import os
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cigri.api_models.submissions import CheckedCampaign
from cigri.cli import sending_inputs
from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.endpoints.dispatch import run_upload_endpoint
from cigri.endpoints.request_bodies import SpooledBody, as_body
from cigri.endpoints.submissions import check_campaign
from cigri.errors import UsageError
from cigri.identity.callers import Caller
from cigri.inputs.store import InputStore
from cigri.settings.sections import Settings
from cigri.tables.audit import Audit
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.inputs import CampaignClusterInput, CampaignInput, InputSender, StoredInput
from tests.cli.conftest import AsUser
from tests.factories import a_cluster

Capture = pytest.CaptureFixture[str]

CONTENT = bytes(range(256)) * 2000
SUM = sha256(CONTENT).hexdigest()
PLAIN: dict[str, Any] = {"name": "n", "exec_file": "./solver", "clusters": {"dahu": {}}, "nb_jobs": 2}
BOTH_WAYS = pytest.mark.usefixtures("both_ways")


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user("alice")
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "store"))
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
        a_cluster(conn, "luke")
    (tmp_path / "solver").write_bytes(CONTENT)


@pytest.fixture
def store(tmp_path: Path) -> InputStore:
    return InputStore(tmp_path / "store")


def submit(place: Path, *options: str, **fields: object) -> int:
    path = place / "campaign.json"
    path.write_text(json.dumps({**PLAIN, **fields}))
    return main([*options, str(path)])


def settings(grid: Database) -> list[dict[str, Any]]:
    with grid.begin() as conn:
        return list(conn.scalars(select(CampaignCluster.c.settings).order_by(CampaignCluster.c.cluster_id)))


def tables(grid: Database) -> list[int]:
    with grid.begin() as conn:
        kinds = (StoredInput, InputSender, CampaignInput, CampaignClusterInput)
        return [len(conn.execute(select(kind)).all()) for kind in kinds]


@BOTH_WAYS
def test_a_file_is_sent_once(grid: Database, store: InputStore, tmp_path: Path) -> None:
    for _ in range(2):
        assert submit(tmp_path, inputs=["./solver"]) == 0
    with store.open(SUM, len(CONTENT)) as content:
        assert content.read() == CONTENT
    assert tables(grid) == [1, 1, 2, 2]
    (first, _) = settings(grid)
    assert first["own_directory"]
    assert first["inputs"] == [
        {"path": "./solver", "to": "solver", "sha256": SUM, "size": len(CONTENT), "packed": False}
    ]
    with grid.begin() as conn:
        assert list(conn.scalars(select(CampaignCluster.c.lacks_inputs))) == [True, True]
        told = [row.endpoint for row in conn.execute(select(Audit.c.endpoint).order_by(Audit.c.id))]
    assert told == ["send_input", "submit_campaign", "submit_campaign"]


@BOTH_WAYS
def test_each_cluster_may_have_files_of_its_own(grid: Database, tmp_path: Path) -> None:
    (tmp_path / "arm").write_bytes(b"arm")
    own = {"inputs": [{"from": "arm", "to": "solver"}], "exec_directory": "~/here"}
    assert submit(tmp_path, inputs=["solver"], clusters={"dahu": {}, "luke": own}) == 0
    first, other = settings(grid)
    assert [first["inputs"][0]["sha256"], other["inputs"][0]["sha256"]] == [SUM, sha256(b"arm").hexdigest()]
    assert (first["own_directory"], other["own_directory"]) == (True, False)
    assert tables(grid) == [2, 2, 2, 2]


@BOTH_WAYS
def test_what_was_cut_goes_on(store: InputStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The portal has half of it from another time."""
    half = len(CONTENT) // 2
    with (tmp_path / "half").open("wb+") as content:
        content.write(CONTENT[:half])
        content.seek(0)
        assert store.add("alice", SUM, 0, content, len(CONTENT)) == half
    sent: list[int] = []
    blocks = sending_inputs._blocks

    def counted(content: Any, most: int) -> Any:
        for block in blocks(content, most):
            sent.append(len(block))
            yield block

    monkeypatch.setattr(sending_inputs, "_blocks", counted)
    monkeypatch.setattr(sending_inputs, "PIECE_OF_INPUT", 100_000)
    assert submit(tmp_path, inputs=["solver"]) == 0
    assert sum(sent) == len(CONTENT) - half
    assert store.holds(SUM)


@BOTH_WAYS
def test_what_the_store_has_lost_is_sent_again(store: InputStore, tmp_path: Path) -> None:
    assert submit(tmp_path, inputs=["solver"]) == 0
    store.forget(SUM)
    assert submit(tmp_path, inputs=["solver"]) == 0
    assert store.holds(SUM)


@BOTH_WAYS
def test_who_knows_the_sum_has_not_the_file(grid: Database, as_user: AsUser, tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, inputs=["solver"]) == 0
    stolen = {"path": "x", "to": "x", "sha256": SUM, "size": len(CONTENT), "packed": False}
    as_user("mallory")
    assert submit(tmp_path, inputs=[stolen]) == 1
    assert "inputs: x was not sent" in capsys.readouterr().err
    assert tables(grid) == [1, 1, 1, 1]
    assert submit(tmp_path, inputs=["solver"]) == 0, "who has it sends it"
    assert tables(grid) == [1, 2, 2, 2]


def test_a_task_that_is_continued_needs_a_directory(tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, inputs=["solver"], idempotent=True) == 1
    assert "name an exec_directory" in capsys.readouterr().err
    assert submit(tmp_path, inputs=["solver"], idempotent=True, exec_directory="~/here") == 0


@BOTH_WAYS
def test_nothing_is_sent_of_what_is_only_checked(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    assert submit(tmp_path, "--check", inputs=["solver"]) == 0
    assert tables(grid) == [0, 0, 0, 0]
    told = capsys.readouterr().out
    assert "solver" in told
    assert "solver from solver (" in told
    assert not (tmp_path / "store").exists()


@BOTH_WAYS
def test_nothing_is_sent_of_what_is_only_simulated(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    """Another campaign with inputs is on its way."""
    assert submit(tmp_path, inputs=["solver"]) == 0
    (tmp_path / "solver").write_bytes(b"another")
    assert submit(tmp_path, "--simulate", inputs=["solver"]) == 0
    assert "2 tasks" in capsys.readouterr().out
    assert tables(grid) == [1, 1, 1, 1]


def change(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = sending_inputs.send_inputs

    def late(*args: Any) -> None:
        (place / "solver").write_bytes(CONTENT[:-1] + b"x")
        read(*args)

    monkeypatch.setattr(sending_inputs, "send_inputs", late)


@BOTH_WAYS
def test_an_input_that_changes_while_it_is_read_is_refused(
    grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    with monkeypatch.context() as patched:
        change(tmp_path, patched)
        assert submit(tmp_path, inputs=["solver"]) != 0
    assert "changed while it was read" in capsys.readouterr().err
    assert tables(grid) == [0, 0, 0, 0]
    assert submit(tmp_path, inputs=["solver"]) == 0, "what had come of it is forgotten"


@BOTH_WAYS
@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [("largest", "1", "one may have 1 MB"), ("of_user", "1", "1 MB are kept of each user")],
)
def test_what_is_too_much_is_refused(
    grid: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    name: str,
    limit: str,
    message: str,
) -> None:
    monkeypatch.setenv(f"CIGRI_SET_INPUTS__{name.upper()}", limit)
    (tmp_path / "solver").write_bytes(CONTENT * 3)
    assert submit(tmp_path, inputs=["solver"]) != 0
    assert message in capsys.readouterr().err
    assert tables(grid) == [0, 0, 0, 0]


def fifo_in(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / "in")


def link_in(path: Path, target: str) -> None:
    path.mkdir()
    (path / "link").symlink_to(target)


@pytest.mark.parametrize(
    ("plant", "inputs", "message"),
    [
        (lambda _: None, ["gone"], "inputs[0]: gone cannot be read: No such file"),
        (os.mkfifo, ["odd"], "inputs[0]: odd cannot be read:"),
        (lambda path: path.symlink_to("/dev/zero"), ["odd"], "is neither a file nor a directory"),
        (fifo_in, ["odd"], "is neither a file nor a directory"),
        (lambda path: link_in(path, "../solver"), ["odd"], "leads out of"),
        (lambda path: link_in(path, "/etc"), ["odd"], "leads out of"),
        (lambda _: None, [{"from": "solver", "to": "/etc/x"}], "is no name below the directory of a task"),
        (lambda _: None, [{"from": "solver", "to": "a/../../x"}], "is no name below the directory of a task"),
        (lambda _: None, [{"from": "solver", "too": "x"}], "did you mean 'to'?"),
        (lambda _: None, [{"to": "x"}], "expected a path, or {from: path, to: name}"),
        (lambda _: None, ["solver", {"from": "solver", "to": "solver/x"}], "would lie in"),
        (lambda _: None, ["solver", "./solver"], "two inputs are to be"),
        (lambda _: None, [{"from": ".."}], "has no name of its own"),
        (lambda _: None, "solver", "expected a list of files and directories"),
        (lambda _: None, [{"path": "x", "to": "x", "sha256": "A" * 64, "size": 1}], "inputs"),
    ],
)
def test_what_cannot_be_taken_along_is_told_where_it_is(
    grid: Database,
    tmp_path: Path,
    capsys: Capture,
    plant: Callable[[Path], object],
    inputs: object,
    message: str,
) -> None:
    plant(tmp_path / "odd")
    assert submit(tmp_path, inputs=inputs) == 1
    assert message in capsys.readouterr().err
    assert tables(grid) == [0, 0, 0, 0]


def test_what_calls_the_portal_itself_sends_it_first(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    """What gridsub does not read, as a text in DIRAC's language or a form, is told how."""
    with SpooledBody() as body:
        for block in as_body([{**PLAIN, "inputs": ["solver"]}]):
            body.write(block)
        answer = run_upload_endpoint(check_campaign, grid, Settings, Caller("alice"), body, {})
    assert isinstance(answer, CheckedCampaign)
    assert "sends it to /inputs first" in str(answer.problems[0])


def test_what_is_not_whole_counts_and_is_forgotten(store: InputStore, tmp_path: Path) -> None:
    for digest in ("a" * 64, "b" * 64):
        with (tmp_path / "solver").open("rb") as content:
            assert store.add("alice", digest, 0, content, len(CONTENT) + 1) == len(CONTENT)
    assert (store.arriving("alice"), store.arriving("bob")) == (2 * len(CONTENT), 0)
    with pytest.raises(UsageError, match="is not the file"):
        store.add("alice", "a" * 64, len(CONTENT), io.BytesIO(b"x"), len(CONTENT) + 1)
    assert store.arriving("alice") == len(CONTENT)
    (left,) = (tmp_path / "store" / "arriving").iterdir()
    os.utime(left, (1000, 1000))
    assert store.forget_arriving(999) == 0
    assert store.forget_arriving(1001) == 1
    assert store.arriving("alice") == 0


def test_two_that_send_the_same_at_once_send_it_once(store: InputStore, tmp_path: Path) -> None:
    """The one waits for the other, who gives it its name meanwhile."""
    with (tmp_path / "solver").open("rb") as content:
        store.add("alice", SUM, 0, content, len(CONTENT) + 1)
    waits: list[int] = []
    with store._locked_part("alice", SUM):
        rest = ("alice", SUM, len(CONTENT), io.BytesIO(), len(CONTENT) + 1)
        late = threading.Thread(target=lambda: waits.append(store.add(*rest)))
        late.start()
        (part,) = (tmp_path / "store" / "arriving").iterdir()
        part.rename(tmp_path / "named")
    late.join(10)
    assert waits == [0], "of a new one nothing is there"
    assert (tmp_path / "named").read_bytes() == CONTENT
