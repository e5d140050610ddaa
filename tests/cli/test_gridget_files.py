"""gridget: the files that a campaign names come by the numbers of tasks, whole, once, and nowhere else."""

import os
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.cli import gridget
from cigri.database import Database
from cigri.outputs.brought import LIST, Brought, OutputFile
from tests.cli.at_work import run_campaign
from tests.cli.running import Run
from tests.factories import NOON
from tests.groups import access, other_group

COMMAND = gridget
PROGRAM = """sh -c 'mkdir log; echo $0 >result.h5; echo a$0 >log/a.txt; : >log/b.txt; : >other' {index}"""
OUTPUTS = {"outputs": ["result.h5", "log/*.txt"]}
LARGE = 5_000_000  # bytes: more than one answer holds
ODD = ["a b", "-n", "it's", "é", "new\nline", "a\\b", "*", "[x]", "log"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(place: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != LIST}


def expected(*numbers: int) -> dict[str, bytes]:
    each = {"result.h5": "{}\n", "log/a.txt": "a{}\n", "log/b.txt": ""}
    return {f"{n}/{name}": content.format(n).encode() for n in numbers for name, content in each.items()}


def only(database: Database, statement: str) -> tuple[object, ...]:
    with database.begin() as conn:
        (row,) = conn.execute(text(statement)).all()
    return tuple(row)


@pytest.mark.usefixtures("both_ways", "cluster")
def test_files_come_by_number_and_once(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 3, **OUTPUTS)
    assert only(database, "SELECT sum(files), sum(bytes) FROM attempts") == (9, 15)
    told = run(campaign, "results")
    assert (told.status, told.err.count("\n")) == (0, 1), "it is said how long they stay, and nothing else"
    assert told.out.startswith("9 files, 15 B in ")
    assert contents(tmp_path / "results") == expected(0, 1, 2)
    again = run(campaign, "results")
    assert (again.status, again.out.partition(" in ")[0]) == (0, "0 files, 0 B")
    (tmp_path / "results" / "1" / "log" / "a.txt").unlink()
    assert run(campaign, "results").out.startswith("1 files, 3 B in ")
    assert contents(tmp_path / "results") == expected(0, 1, 2)
    assert run(campaign, "named", "--tasks", "2").status == 0
    assert contents(tmp_path / "named") == expected(2)
    assert run(campaign, "streams", "--stdout").status == 0
    assert contents(tmp_path / "streams") == {}


@pytest.mark.usefixtures("both_ways", "cluster")
def test_what_is_shared_is_the_groups_whatever_the_umask(run: Run, database: Database, tmp_path: Path) -> None:
    group = other_group()
    share = {"mode": "0640", "group": group.gr_name}
    campaign = run_campaign(database, f"{PROGRAM[:-9]}; echo hi' {{index}}", 2, outputs_mode=share, **OUTPUTS)
    place = tmp_path / "results"
    (tmp_path / "early").mkdir(0o700)
    before = os.umask(0o077)
    try:
        assert run(campaign, "results").status == 0
        assert run(campaign, "early").status == 0
    finally:
        os.umask(before)
    for made in (place, place / "1", place / "1" / "log"):
        assert access(made) == (0o750, group.gr_gid), made
    for file in (place / "1.out", place / "1" / "result.h5", place / "1" / "log" / "b.txt"):
        assert access(file) == (0o640, group.gr_gid), file
    assert access(place / LIST)[0] == 0o600
    assert access(tmp_path / "early")[0] == 0o700, "what was there keeps its mode"
    place.chmod(0o700)
    (place / "1.out").unlink()
    assert run(campaign, "results").status == 0
    assert access(place)[0] == 0o700, "what its user makes of it stays"


@pytest.mark.usefixtures("both_ways", "cluster")
def test_a_group_that_is_unknown_here_is_told_and_gets_nothing(run: Run, database: Database, tmp_path: Path) -> None:
    share = {"mode": "0640", "group": "nobody-knows-it"}
    campaign = run_campaign(database, PROGRAM, 2, outputs_mode=share, **OUTPUTS)
    told = run(campaign, "results")
    assert told.status == 0
    assert told.err.count("there is no group nobody-knows-it on this host: what comes is yours alone\n") == 1
    assert contents(tmp_path / "results") == expected(0, 1)
    assert {access(made)[0] for made in (tmp_path / "results").rglob("*")} == {0o700, 0o600}


@pytest.mark.usefixtures("both_ways", "cluster")
def test_a_large_file_comes_in_pieces_and_goes_on_where_it_was(run: Run, database: Database, tmp_path: Path) -> None:
    program = f"sh -c 'yes $0-0123456789 | head -c {LARGE} >big; ln big same; : >z' {{index}}"
    campaign = run_campaign(database, program, 1, outputs=["*"])
    place = tmp_path / "results"
    assert run(campaign, place).out.startswith("3 files, 9.5 MB in ")
    whole = contents(place)
    content = (b"0-0123456789\n" * LARGE)[:LARGE]
    assert whole == {"0/big": content, "0/same": content, "0/z": b""}
    (place / "0" / "big").unlink()
    (place / OutputFile(0, 1, b"big").part).write_bytes(content[:4_500_000])
    assert run(campaign, place).out.startswith("1 files, 488.3 KB in ")
    assert contents(place) == whole


@pytest.mark.usefixtures("both_ways", "cluster")
def test_names_are_as_they_were(run: Run, database: Database, tmp_path: Path) -> None:
    listed = tmp_path / "make"
    listed.write_text("\n".join(["#!/bin/sh", *[f"mkdir -p out; printf x >out/'{n}'" for n in ODD if "'" not in n]]))
    campaign = run_campaign(database, f"sh {listed}", 1, outputs=["out"])
    assert run(campaign, "results").status == 0
    assert contents(tmp_path / "results") == {f"0/out/{name}": b"x" for name in ODD if "'" not in name}


@pytest.mark.usefixtures("both_ways", "cluster")
def test_what_gridget_has_not_made_stays(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 3, **OUTPUTS)
    place, outside = tmp_path / "results", tmp_path / "outside"
    (place / "0").mkdir(parents=True)
    (place / "0" / "result.h5").write_text("mine")
    outside.mkdir()
    (place / "1").symlink_to(outside)
    (place / "2").mkdir()
    (place / "2" / "log").symlink_to(outside)
    told = run(campaign, place)
    assert told.status == 1
    assert f"{place}/0/result.h5 was not made by gridget, so it stays" in told.err
    assert f"{place}/1/log/a.txt: Not a directory" in told.err
    assert (place / "0" / "result.h5").read_text() == "mine"
    assert list(outside.iterdir()) == []
    assert contents(place).keys() >= {"0/log/a.txt", "0/log/b.txt", "2/result.h5"}


@pytest.mark.usefixtures("cluster")
def test_of_a_task_that_was_done_again_the_last_attempt_counts(run: Run, database: Database, tmp_path: Path) -> None:
    program = "sh -c 'echo $CIGRI_ATTEMPT >in.$CIGRI_ATTEMPT; [ $CIGRI_ATTEMPT = 2 ]' {index}"
    again: dict[str, object] = {"outputs": ["in.*"], "collect": {"when": "end"}, "retries": 1}
    campaign = run_campaign(database, program, 1, **again)
    assert run(campaign, "results").status == 0
    assert contents(tmp_path / "results") == {"0/in.2": b"2\n"}


@pytest.mark.usefixtures("cluster")
def test_an_output_that_is_missing_fails_its_task_and_is_told(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, "true {index}", 1, outputs=["result.h5"])
    assert only(database, "SELECT outcome::text, exit_code, files FROM attempts") == ("failure", 71, 0)
    assert run(campaign, "results").status == 0
    (told,) = contents(tmp_path / "results").values()
    assert told.startswith(b"cigri: the output result.h5 is not in ")


@pytest.mark.usefixtures("both_ways")
def test_files_that_are_gone_or_have_changed_are_told_of(run: Run, database: Database, cluster: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 3, **OUTPUTS)
    places = {number: next(cluster.glob(f"*/c{campaign}/b*/{number + 1}.1.d")) for number in range(3)}
    (places[0] / "log" / "a.txt").unlink()
    (places[1] / "log" / "a.txt").write_text("")
    told = run(campaign, "results")
    assert told.status == 1
    assert "task 0: its 3 files of 5 B are not all there any more, or have changed" in told.err
    assert "task 1: its 3 files of 5 B are not all there any more, or have changed" in told.err
    (places[2] / "result.h5").write_text("much more")
    assert "more is told of task 2 than it has brought" in run(campaign, "other").err


def test_files_of_another_attempt_go_before_its_own_come(tmp_path: Path) -> None:
    brought = Brought(tmp_path, 3, NOON)
    for path in (b"a", b"deep/b"):
        brought.add(OutputFile(0, 1, path), 0, b"old")
        brought.finish(OutputFile(0, 1, path), 3)
    (tmp_path / "0" / "mine").write_text("mine")
    again = Brought(tmp_path, 3, NOON)
    again.make_room(0, 2)
    assert contents(tmp_path) == {"0/mine": b"mine"}
    assert not (tmp_path / "0" / "deep").exists()
    (tmp_path / "0" / "a").write_text("mine, too")
    assert Brought(tmp_path, 3, NOON).is_foreign(OutputFile(0, 2, b"a"))


def test_what_stands_there_since_it_was_looked_at_is_not_written_over(tmp_path: Path) -> None:
    brought, file = Brought(tmp_path, 3, NOON), OutputFile(0, 1, b"a")
    brought.add(file, 0, b"new")
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "a").write_text("mine")
    with pytest.raises(FileExistsError):
        brought.finish(file, 3)
    assert (tmp_path / "0" / "a").read_text() == "mine"


def test_what_was_put_in_its_place_before_it_was_listed_is_ours(tmp_path: Path) -> None:
    brought, file = Brought(tmp_path, 3, NOON), OutputFile(0, 1, b"a")
    brought.add(file, 0, b"new")
    (tmp_path / "0").mkdir()
    os.link(tmp_path / file.part, tmp_path / "0" / "a")
    assert not brought.is_foreign(file)
    brought.finish(file, 3)
    assert contents(tmp_path) == {"0/a": b"new"}
    assert brought.holds(file)


def test_a_name_that_is_too_long_is_an_error_of_its_own(tmp_path: Path) -> None:
    brought, file = Brought(tmp_path, 3, NOON), OutputFile(0, 1, b"a" * 300)
    assert not brought.is_foreign(file)
    brought.add(file, 0, b"new")
    with pytest.raises(OSError, match="too long"):
        brought.finish(file, 3)
