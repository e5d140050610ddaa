"""Outputs get to their place at once, and only there: over nothing that we have not made, through no strange link."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.identity.file_sharing import FileSharing, NoSuchGroup
from cigri.outputs.assembling import ExistingDirectory, OutputAssembler, OutputNotWritable
from cigri.outputs.brought import OutputFile
from cigri.outputs.destination import read_destination, resolve_destinations
from cigri.outputs.downloading import TaskWithOutputs
from cigri.outputs.safe_paths import UnsafePath, open_directory
from tests.groups import access, other_group

TASK = TaskWithOutputs(7, 1, 1, 4)
FILE = OutputFile(7, 1, b"log/a")


@pytest.fixture
def landing(tmp_path: Path) -> Iterator[OutputAssembler]:
    made = OutputAssembler(read_destination(f"{tmp_path}/results/{{number}}"), 3)
    yield made
    made.close()


def land(landing: OutputAssembler, task: TaskWithOutputs = TASK, content: bytes = b"abcd") -> bool:
    landing.begin(task)
    landing.add(OutputFile(task.number, task.attempt, FILE.path), 0, content)
    if not landing.is_whole(task):
        return False
    landing.settle([task])
    return True


def test_nothing_is_seen_before_it_is_whole(landing: OutputAssembler, tmp_path: Path) -> None:
    assert not land(landing, content=b"abc")
    assert not land(landing, content=b"abcde")
    assert {path.name for path in (tmp_path / "results").iterdir()} == {".cigri-3"}
    assert land(landing)
    assert (tmp_path / "results" / "7" / "log" / "a").read_bytes() == b"abcd"
    assert landing.standing([7, 8]) == {7: ExistingDirectory(1)}


def test_what_is_shared_is_whole_before_others_reach_it(tmp_path: Path) -> None:
    group = other_group()
    shared = FileSharing(0o640, group.gr_name)
    landing = OutputAssembler(read_destination(f"{tmp_path}/deep/results/{{number}}/out"), 3, shared)
    landing.begin(TASK)
    landing.add(FILE, 0, b"abcd")
    assert access(tmp_path / "deep" / "results" / ".cigri-3")[0] == 0o700, "what is not whole is nobody's else"
    assert landing.is_whole(TASK)
    landing.settle([TASK])
    landing.close()
    place, gid = tmp_path / "deep" / "results", group.gr_gid
    for made in (tmp_path / "deep", place, place / "7", place / "7" / "out", place / "7" / "out" / "log"):
        assert access(made) == (0o750, gid), made
    assert access(place / "7" / "out" / "log" / "a") == (0o640, gid)
    assert access(place / ".cigri-3")[0] == 0o700
    assert access(place / ".cigri-3" / "made")[0] == 0o600


@pytest.mark.timeout(60)
def test_who_plants_a_fifo_where_files_are_shared_keeps_nobody_waiting(tmp_path: Path) -> None:
    landing = OutputAssembler(read_destination(f"{tmp_path}/results/{{number}}"), 3, FileSharing(0o640))
    landing.begin(TASK)
    landing.add(FILE, 0, b"abcd")
    aside = next((tmp_path / "results" / ".cigri-3").rglob("log"))
    os.mkfifo(aside / "fifo")
    landing.settle([TASK])
    landing.close()
    assert access(tmp_path / "results" / "7" / "log" / "a")[0] == 0o640


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir(0o700)
    landing = OutputAssembler(read_destination(f"{tmp_path}/results/{{number}}"), 3, FileSharing(0o644))
    assert land(landing)
    landing.close()
    assert access(tmp_path / "results")[0] == 0o700
    assert access(tmp_path / "results" / "7")[0] == 0o755


def test_a_group_that_is_unknown_here_gets_nothing(tmp_path: Path) -> None:
    with pytest.raises(NoSuchGroup, match="there is no group nobody-knows-it on this host"):
        OutputAssembler(read_destination(f"{tmp_path}/results/{{number}}"), 3, FileSharing(0o640, "nobody-knows-it"))
    assert not (tmp_path / "results").exists()


def test_another_attempt_stands_beside_the_one_before(landing: OutputAssembler, tmp_path: Path) -> None:
    land(landing)
    land(landing, TASK._replace(attempt=2), b"efgh")
    assert landing.standing([7]) == {7: ExistingDirectory(2)}
    assert (tmp_path / "results" / "7" / "log" / "a").read_bytes() == b"efgh"
    assert (tmp_path / "results" / "7.attempt-1" / "log" / "a").read_bytes() == b"abcd"


def test_what_somebody_puts_there_meanwhile_stays(landing: OutputAssembler, tmp_path: Path) -> None:
    landing.begin(TASK)
    landing.add(FILE, 0, b"abcd")
    (tmp_path / "results" / "7").mkdir()
    (tmp_path / "results" / "7" / "mine").write_text("mine")
    assert landing.standing([7]) == {7: ExistingDirectory(None)}
    with pytest.raises(OutputNotWritable, match="not empty"):
        landing.settle([TASK])
    assert [path.name for path in (tmp_path / "results" / "7").iterdir()] == ["mine"]


def test_a_line_of_the_list_that_was_cut_is_none(landing: OutputAssembler, tmp_path: Path) -> None:
    land(landing)
    made = tmp_path / "results" / ".cigri-3" / "made"
    made.write_bytes(made.read_bytes() + b"[7, 9")
    assert landing.standing([7]) == {7: ExistingDirectory(1)}
    assert land(landing, TaskWithOutputs(8, 1, 1, 4))
    assert landing.standing([8]) == {8: ExistingDirectory(1)}


def test_a_planted_link_leads_nowhere(landing: OutputAssembler, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (tmp_path / "results" / ".cigri-3").mkdir()
    (tmp_path / "results" / ".cigri-3" / "7.1").symlink_to(secret)
    with pytest.raises(OSError, match="directory"):
        landing.add(FILE, 0, b"abcd")
    assert [*secret.iterdir()] == []


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "home").symlink_to("data")
    os.close(open_directory(tmp_path / "home" / "results" / "deep"))
    assert (tmp_path / "data" / "results" / "deep").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link to somebody else")
def test_a_link_of_somebody_else_bars_the_way(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "home").symlink_to("data")
    os.lchown(tmp_path / "home", 12345, 12345)
    with pytest.raises(UnsafePath, match="a link of another account: home"):
        open_directory(tmp_path / "home" / "results")
    assert [*(tmp_path / "data").iterdir()] == []


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Not a directory"):
        open_directory(tmp_path / "a" / "x")


def test_a_place_is_relative_to_the_description(tmp_path: Path) -> None:
    described = {"collect": {"to": "r"}, "Clusters": {"c": {"Collect": {"to": "~/x"}}, "d": {}}, "outputs": ["a"]}
    assert resolve_destinations(described, tmp_path) == {
        "collect": {"to": f"{tmp_path}/r"},
        "Clusters": {"c": {"Collect": {"to": f"{Path.home()}/x"}}, "d": {}},
        "outputs": ["a"],
    }
    assert resolve_destinations("text", tmp_path) == "text"
    cigri_3 = {"output_destination": "r", "clusters": {"c": {"Output_Destination": "None"}}}
    assert resolve_destinations(cigri_3, tmp_path) == {**cigri_3, "output_destination": f"{tmp_path}/r"}
