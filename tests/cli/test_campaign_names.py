"""Commands take the name of a campaign, or `last`, in the place of its id."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.cli import gridevents, gridget, gridhold, gridstat, gridsub
from cigri.cli.griddel import main as griddel
from cigri.database import Database
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster

Capture = pytest.CaptureFixture[str]
PROGRAM = Path(sys.argv[0]).name
TOLD = f"{PROGRAM}: ising is campaign 3, your newest of that name\n"


@pytest.fixture(autouse=True)
def _campaigns(grid: Database, as_user: AsUser, both_ways: None) -> None:
    """Of alice 1 to 4, three of them called about the same; of bob 5."""
    as_user("alice")
    with grid.begin() as conn:
        a_cluster(conn, options={"spool": "/nowhere"})
        for name in ("ising", "ising of before", "ising", "3d"):
            a_campaign(conn, 1, name=name)
        a_campaign(conn, 1, name="bobs", user="bob")


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (gridstat.main, []),
        (gridevents.main, []),
        (gridhold.hold, []),
        (gridsub.main, ["--priority", "3", "-c"]),
        (griddel, []),
    ],
    ids=["gridstat", "gridevents", "gridhold", "gridsub", "griddel"],
)
def test_a_name_means_the_newest_of_it(main: Callable[[list[str]], int], words: list[str], capsys: Capture) -> None:
    assert main([*words, "ising"]) == 0
    by_name = capsys.readouterr()
    assert by_name.err.count(TOLD) == 1
    assert ("3" in by_name.out) == (main is not gridevents.main)


def test_last_is_the_newest_of_the_caller(capsys: Capture) -> None:
    assert gridstat.main(["last"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Campaign:  4\n")
    assert said.err.startswith(f"{PROGRAM}: last is campaign 4\n")
    assert griddel(["last", "1"]) == 0
    assert [line[:22] for line in capsys.readouterr().out.splitlines()] == [
        "campaign 4 is cancelle",
        "campaign 1 is cancelle",
    ]


def test_what_has_ended_is_found_too(capsys: Capture) -> None:
    assert griddel(["3"]) == 0
    assert gridstat.main(["ising"]) == 0
    assert "Campaign:   3\n" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["isin", "ISING", "bobs", "nothing"])
def test_no_other_name_will_do(word: str, capsys: Capture) -> None:
    """Nor does that of somebody else."""
    for main in (gridstat.main, griddel, gridget.main):
        assert main([word]) == 2
        assert f"{word!r} is no id, and no campaign of yours is called so" in capsys.readouterr().err


def test_who_has_none_has_no_last_one(as_user: AsUser, capsys: Capture) -> None:
    as_user("carol")
    assert gridstat.main(["last"]) == 2
    assert "'last' is no id, and you have no campaign" in capsys.readouterr().err


def test_what_begins_with_a_digit_is_an_id(capsys: Capture) -> None:
    assert gridstat.main(["3d"]) == 2
    assert "'3d' is no id; write 3, or 3,5, or 3-7" in capsys.readouterr().err
