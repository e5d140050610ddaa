"""gridget: what tasks wrote comes to one directory, as it is, once, and over nothing that was there before."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.cli import gridget
from cigri.cli.command import grid_user
from cigri.database import Database
from cigri.errors import UsageError
from cigri.flow.archive import put_purged
from cigri.outputs.brought import LIST, Brought, Output, reserve
from cigri.presentation.formatting import format_size
from tests.cli.at_work import run_campaign
from tests.cli.conftest import AsUser
from tests.cli.running import Run
from tests.factories import NOON, a_campaign, a_cluster

COMMAND = gridget
PROGRAM = (
    r"""sh -c 'printf "\377\000 of $CIGRI_TASK_NUMBER"; [ $CIGRI_TASK_NUMBER != 1 ] || { echo no >&2; exit 3; }' x"""
)
LARGE = 5_000_000  # bytes: more than one answer holds
LONG = f"sh -c 'yes $CIGRI_TASK_NUMBER-0123456789 | head -c {LARGE}' x"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.name != LIST}


@pytest.mark.usefixtures("both_ways", "cluster")
def test_outputs_come_by_number_and_once(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 3)
    told = run(campaign)
    assert (told.status, told.err) == (0, ""), "the campaign is open: nothing is said of a purge"
    assert told.out.startswith("4 files, 24 B in ")
    assert told.out.endswith(f" to campaign-{campaign}/; 2 were empty\n")
    there = {f"{number}.out": b"\xff\x00 of %d" % number for number in range(3)} | {"1.err": b"no\n"}
    assert contents(tmp_path / f"campaign-{campaign}") == there
    again = run(campaign)
    assert (again.status, again.out.partition(" in ")[0]) == (0, "0 files, 0 B")
    assert "; 6 were there already" in again.out
    chosen = run(campaign, "failed", "--failed", "--stderr")
    assert (chosen.status, contents(tmp_path / "failed")) == (0, {"1.err": b"no\n"})
    named = run(campaign, "named", "--tasks", "0,2", "--stdout")
    assert (named.status, set(contents(tmp_path / "named"))) == (0, {"0.out", "2.out"})


@pytest.mark.usefixtures("both_ways", "cluster")
def test_a_large_output_comes_in_pieces_and_goes_on_where_it_was(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, LONG, 2)
    place = tmp_path / "results"
    assert run(campaign, place).out.startswith("2 files, 9.5 MB in ")
    whole = contents(place)
    assert whole == {f"{n}.out": (b"%d-0123456789\n" % n * LARGE)[:LARGE] for n in range(2)}
    (place / "1.out").unlink()
    (place / ".1.out.1.part").write_bytes(whole["1.out"][:4_500_000])
    assert run(campaign, place).out.startswith("1 files, 488.3 KB in ")
    assert contents(place) == whole


@pytest.mark.usefixtures("both_ways", "cluster")
def test_what_gridget_has_not_made_stays(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 2)
    place = tmp_path / "results"
    place.mkdir()
    (place / "0.out").write_text("mine")
    (place / "1.err").symlink_to("/nowhere")
    told = run(campaign, place)
    assert told.status == 1
    assert f"{place}/0.out was not made by gridget, so it stays: move it, or name another directory" in told.err
    assert (place / "0.out").read_text() == "mine"
    assert f"{place}/1.err was not made by gridget" in told.err
    assert {path.name for path in place.iterdir()} == {"0.out", "1.err", LIST}
    other = run_campaign(database, PROGRAM, 1)
    refused = run(other, place)
    assert (refused.status, "holds the outputs of another campaign" in refused.err) == (2, True)


@pytest.mark.usefixtures("both_ways")
def test_what_is_not_there_is_told(run: Run, database: Database, cluster: Path, as_user: AsUser) -> None:
    campaign = run_campaign(database, PROGRAM, 2)
    (lost,) = cluster.glob(f"*/c{campaign}/b*/1.1.out")
    lost.unlink()
    told = run(campaign, "a")
    assert (told.status, "1 outputs are not there" in told.err) == (1, True)
    missing = run(campaign, "b", "--tasks", "0,7-9")
    assert (missing.status, "these tasks have not ended, never ran, or are none: 7-9" in missing.err) == (1, True)
    as_user("mallory")
    refused = run(campaign, "c")
    assert (refused.status, "you have no campaign" in refused.err) == (1, True)
    as_user(grid_user())
    with database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET ended_at = now(), state = 'terminated'"))
    assert "they stay on the clusters until " in run(campaign, "d").err
    with database.begin() as conn:
        put_purged(conn, [campaign])
    assert f"the files of campaign {campaign} were removed from the clusters on" in run(campaign, "e").err


@pytest.mark.usefixtures("both_ways")
def test_tasks_that_have_not_ended_are_told_of(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 3, user=grid_user())
    told = run(campaign)
    assert (told.status, "3 of 3 tasks have not ended, or never ran" in told.err) == (0, True)


@pytest.mark.usefixtures("both_ways")
def test_two_never_bring_into_one_directory(run: Run, database: Database, tmp_path: Path) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1, user=grid_user())
    with reserve(tmp_path / "a"):
        told = run(campaign, "a")
        assert (told.status, "another gridget brings outputs to a now" in told.err) == (2, True)
        assert run(campaign, "b").status == 0
    assert run(campaign, "a").status == 0
    with reserve(tmp_path / "a"):
        pass


def test_a_list_that_was_cut_is_gone_on_with(tmp_path: Path) -> None:
    first, second = Output(0, 1, "out"), Output(1, 1, "out")
    brought = Brought(tmp_path / "a", 3, NOON)
    for output in (first, second):
        brought.add(output, 0, b"abc")
        brought.finish(output, 3)
    written = (tmp_path / "a" / LIST).read_bytes()
    (tmp_path / "a" / LIST).write_bytes(written[:-5])
    again = Brought(tmp_path / "a", 3, NOON)
    assert [again.holds(output) for output in (first, second)] == [True, False]
    (tmp_path / "a" / "1.out").unlink()
    again.add(second, 0, b"abc")
    again.finish(second, 3)
    assert Brought(tmp_path / "a", 3, NOON).holds(second)
    with pytest.raises(UsageError):
        Brought(tmp_path / "a", 4, NOON)


def test_another_attempt_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    brought = Brought(tmp_path, 3, NOON)
    for attempt, content in ((1, b"old"), (2, b"")):
        output = Output(0, attempt, "err")
        assert not brought.holds(output)
        brought.add(output, 0, content)
        brought.finish(output, len(content))
        assert brought.holds(output)
        assert not brought.is_foreign(output)
    assert [path.name for path in tmp_path.iterdir()] == [LIST]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".0.out.1.part").symlink_to("precious")
    brought, output = Brought(tmp_path, 3, NOON), Output(0, 1, "out")
    assert brought.begun(output) == 0
    with pytest.raises(OSError, match="symbolic link"):
        brought.add(output, 0, b"abc")
    assert (tmp_path / "precious").read_text() == "mine"


def test_its_list_is_json_by_lines(tmp_path: Path) -> None:
    brought = Brought(tmp_path, 3, NOON)
    brought.add(Output(0, 1, "out"), 0, b"abc")
    brought.finish(Output(0, 1, "out"), 3)
    lines = [json.loads(line) for line in (tmp_path / LIST).read_text().splitlines()]
    assert lines == [
        {"campaign": 3, "submitted": NOON.isoformat(), "made": False},
        {"name": "0.out", "attempt": 1, "size": 3},
    ]


@pytest.mark.parametrize(("number", "said"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (5 * 2**30, "5.0 GB")])
def test_sizes(number: int, said: str) -> None:
    assert format_size(number) == said
