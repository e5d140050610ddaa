"""Tasks find inputs under their names, whatever these are, and lose nothing where they do not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

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


def write(
    cluster: Cluster,
    command: str,
    inputs: Mapping[str, CachedFile],
    place: ShellWord = OWN_DIRECTORY,
    replaced: Mapping[str, Sequence[CachedFile]] = MappingProxyType({}),
) -> None:
    tasks = [TaskSpec(n, n, 1, (ShellWord("sh"), ShellWord("-c"), ShellWord(command)), {}, place) for n in (1, 2)]
    cluster.write(plan=replace(cluster.plan, inputs=inputs, replaced=replaced, jobs=[JobSpec(1, 1, tuple(tasks))]))


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


# What a campaign had before in a directory that its tasks share.

MENDED, GROWN = CachedFile("c" * 64), CachedFile("d" * 64, is_packed=True)
SHARED = ShellWord("/here", at_home=True)
HAD = {"solver": [FILE], "data": [TREE]}


@pytest.fixture
def mended(filled: Cluster) -> Cluster:
    """A task has run with the first inputs in a directory that is shared, and others have come since."""
    content = b"the first solver"
    known = CachedFile(sha256(content).hexdigest())
    (filled.base / "cache" / known.name).write_bytes(content)
    HAD["solver"][:] = [known]
    write(filled, ":", {"solver": known, "data": TREE}, SHARED)
    assert filled.run().status == 0
    (filled.base / "cache" / MENDED.name).write_text("mended")
    (filled.base / "cache" / GROWN.name).mkdir()
    (filled.base / "cache" / GROWN.name / "mesh").write_text("grown")
    filled.batch, filled.plan = filled.batch.with_name("b35"), replace(filled.plan, batch_id=35)
    return filled


@pytest.mark.parametrize("is_lost", [False, True])
def test_new_inputs_take_the_place_of_those_before(mended: Cluster, is_lost: bool) -> None:
    cache = mended.base / "cache"
    if is_lost:
        (cache / HAD["solver"][0].name).unlink()
        (cache / TREE.name).rename(cache / "elsewhere")
    write(mended, "cat solver data/mesh", {"solver": MENDED, "data": GROWN}, SHARED, HAD)
    assert mended.run().status == 0
    assert [mended.out(1, position) for position in (1, 2)] == ["mendedgrown"] * 2
    assert sorted(path.name for path in (mended.home / "here").iterdir()) == ["data", "solver"]
    assert is_lost or [*(cache / TREE.name).iterdir()] == [cache / TREE.name / "mesh"], "nothing was put into it"


def test_no_task_misses_an_input_that_another_one_replaces(mended: Cluster) -> None:
    """As a task looks between two steps of another one: whatever mv is called for, the name is there."""
    here, seen = mended.home / "here", mended.home / "seen"
    tools = mended.home / "bin"
    tools.mkdir()
    for name in ("mv", "ln", "rm"):
        tool = tools / name
        there = f"[ -e {here}/solver ] && [ -e {here}/data/mesh ] && echo there >>{seen} || echo missing >>{seen}"
        tool.write_text(f'#!/bin/sh\n{there}\n/bin/{name} "$@"\nstatus=$?\n{there}\nexit $status\n')
        tool.chmod(0o755)
    mended.environment["PATH"] = f"{tools}:{mended.environment['PATH']}"
    write(mended, "cat solver data/mesh", {"solver": MENDED, "data": GROWN}, SHARED, HAD)
    assert mended.run().status == 0
    assert {*seen.read_text().split()} == {"there"}


def test_what_another_task_has_just_put_there_is_taken(mended: Cluster) -> None:
    """Between the look at what lies there and the change."""
    here, cache = mended.home / "here", mended.base / "cache"
    tools = mended.home / "bin"
    tools.mkdir()
    meanwhile = f"[ ! -e {cache}/{MENDED.name} ] || /bin/ln -f {cache}/{MENDED.name} {here}/solver"
    (tools / "rm").write_text(f'#!/bin/sh\n{meanwhile}\nexec /bin/rm "$@"\n')
    (tools / "rm").chmod(0o755)
    mended.environment["PATH"] = f"{tools}:{mended.environment['PATH']}"
    write(mended, "cat solver", {"solver": MENDED}, SHARED, HAD)
    assert mended.run().status == 0
    assert [mended.out(1, position) for position in (1, 2)] == ["mended"] * 2


def test_what_was_sent_with_the_inputs_before_is_sent_again(mended: Cluster) -> None:
    """It waited in the queue, and finds what another one has put there."""
    write(mended, ":", {"solver": MENDED}, SHARED, HAD)
    assert mended.run().status == 0
    mended.batch, mended.plan = mended.batch.with_name("b36"), replace(mended.plan, batch_id=36)
    write(mended, ": >ran", {"solver": HAD["solver"][0]}, SHARED)
    assert mended.run().status == 72
    assert ends(mended) == [(72, TaskEndCause.INPUTS)] * 2
    assert "input solver has been replaced" in mended.err(1)
    assert not (mended.home / "here" / "ran").exists()


def test_what_is_no_input_of_the_campaign_is_not_overtaken(mended: Cluster) -> None:
    here = mended.home / "here"
    (here / "solver").unlink()
    (here / "solver").write_text("mine")
    write(mended, ": >ran", {"solver": MENDED}, SHARED, HAD)
    assert mended.run().status == 72
    assert (here / "solver").read_text() == "mine"
    assert ends(mended) == [(72, TaskEndCause.DIRECTORY)] * 2
