"""`cigri accounting rebuild`: tells what differs, and mends it."""

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.formats.units import HOUR
from tests.factories import a_cluster
from tests.flow.test_accounting import one_ended
from tests.operator.conftest import Cigri

pytestmark = pytest.mark.noon


@pytest.fixture(autouse=True)
def _used(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", HOUR, cores=2)


def test_it_tells_that_nothing_differs(cigri: Cigri) -> None:
    for words in (["--check"], []):
        said = cigri("accounting", "rebuild", *words)
        assert (said.status, said.out) == (
            0,
            "Nothing differs: the core-hours are those of the jobs that have ended\n",
        )


def test_what_differs_is_told_and_mended_once(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("DELETE FROM accounting"))
    checked, done, again = (cigri("accounting", "rebuild", *words) for words in (["--check"], [], []))
    assert checked.status == 1
    row = ["2026-03-01", "alice", "-", "dahu", "best-effort", "success", "no"]
    row += ["0", "1", "0.00", "2.00", "0.00", "2.00"]
    told = checked.out.splitlines()
    assert (told[1].split(), told[2:]) == (row, ["1 sum would change: `cigri accounting rebuild`"])
    assert (done.status, done.out.splitlines()[-1]) == (0, "1 sum changed")
    assert done.out.splitlines()[1].split() == row
    assert (again.status, again.out.startswith("Nothing differs")) == (0, True)
    with database.begin() as conn:
        assert conn.scalar(text("SELECT sum(core_seconds) FROM accounting")) == 2 * HOUR


@pytest.mark.parametrize("words", [["build"], [], ["rebuild", "alice"]])
def test_other_words_are_refused(words: list[str], cigri: Cigri) -> None:
    assert cigri("accounting", *words).status == 2
