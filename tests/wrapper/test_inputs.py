"""Tasks find inputs under their names, whatever these are, and lose nothing where they do not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.jdl.command import OWN_DIRECTORY
from cigri.shell.words import ShellWord
from cigri.wrapper import JobSpec, TaskEndCause, TaskSpec
from cigri.wrapper.input_cache import CachedFile

from .cluster import Cluster

FILE, TREE = CachedFile("a" * 64), CachedFile("b" * 64, is_packed=True)
NAMES = {"solver": FILE, "-rf": FILE, 'it\'s "here"\n': FILE, "é/in/data": TREE}


@pytest.fixture
def filled(cluster: Cluster) -> Cluster:
    cache = cluster.base / "cache"
    (cache / TREE.name).mkdir(parents=True)
    (cache / TREE.name / "mesh").write_text("mesh")
    (cache / FILE.name).write_text("solver")
    (cache / FILE.name).chmod(0o555)
    return cluster


def write(cluster: Cluster, command: str, inputs: Mapping[str, CachedFile], place: ShellWord = OWN_DIRECTORY) -> None:
    tasks = [TaskSpec(n, n, 1, (ShellWord("sh"), ShellWord("-c"), ShellWord(command)), {}, place) for n in (1, 2)]
    cluster.write(plan=replace(cluster.plan, inputs=inputs, jobs=[JobSpec(1, 1, tuple(tasks))]))


def ends(cluster: Cluster) -> list[tuple[int, TaskEndCause]]:
    return [(record.exit_code, record.cause) for record in cluster.records()]


def test_each_has_its_name(filled: Cluster) -> None:
    write(filled, "cat ./* 2>/dev/null; cat */in/data/mesh; ./solver; [ ! -w solver ] || ls", NAMES)
    (filled.base / "cache" / FILE.name).chmod(0o755)
    (filled.base / "cache" / FILE.name).write_text("echo ran")
    assert filled.run().status == 0
    assert [filled.out(1, position).split("\n")[0] for position in (1, 2)] == ["echo ran" * 3 + "meshran"] * 2
    assert [*filled.batch.glob("*.work")] == [], "nothing but inputs was in them"
    assert (filled.base / "cache" / FILE.name).exists()


def test_what_a_task_writes_beside_them_stays(filled: Cluster) -> None:
    write(filled, ": >result; mkdir é/mine", NAMES)
    assert filled.run().status == 0
    for position in (1, 2):
        place = filled.batch / f"1.{position}.work"
        assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == ["result", "é", "é/mine"]


def test_what_is_gone_is_the_grids_fault(filled: Cluster) -> None:
    (filled.base / "cache" / FILE.name).unlink()
    write(filled, ": >ran", NAMES)
    assert filled.run().status == 72
    assert ends(filled) == [(72, TaskEndCause.INPUTS)] * 2
    assert "input solver is not in the cache of this cluster any more" in filled.err(1)


def test_in_one_directory_for_all_they_are_linked_once(filled: Cluster) -> None:
    write(filled, "cat solver", {"solver": FILE, "data": TREE}, ShellWord("/here", at_home=True))
    assert filled.run().status == 0
    assert filled.out(1, 1) == filled.out(1, 2) == "solver"
    here = filled.home / "here"
    assert (here / "solver").samefile(filled.base / "cache" / FILE.name)
    assert (here / "data" / "mesh").read_text() == "mesh"


@pytest.mark.parametrize("name", ["solver", "data"])
def test_what_has_their_name_is_left_as_it_is(filled: Cluster, name: str) -> None:
    here = filled.home / "here"
    here.mkdir()
    (here / name).write_text("mine")
    write(filled, ": >ran", {"solver": FILE, "data": TREE}, ShellWord("/here", at_home=True))
    assert filled.run().status == 72
    assert ends(filled) == [(72, TaskEndCause.DIRECTORY)] * 2
    assert "something else has its name" in filled.err(1)
    assert (here / name).read_text() == "mine"
    assert not (here / "ran").exists()


def test_a_link_that_leads_nowhere_is_something_else(filled: Cluster, tmp_path: Path) -> None:
    here = filled.home / "here"
    here.mkdir()
    (here / "solver").symlink_to(tmp_path / "victim")
    write(filled, ": >ran", {"solver": FILE}, ShellWord("/here", at_home=True))
    assert filled.run().status == 72
    assert not (tmp_path / "victim").exists()
