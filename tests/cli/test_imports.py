"""Commands import only what they use, or a person waits for it."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from cigri.cli.command import grid_user
from cigri.database import Database
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Served

SLOW = ("sqlalchemy.orm", "pydantic", "alembic", "paramiko", "yaml")
SLOW_OR_DATABASE = (*SLOW, "sqlalchemy", "psycopg")
SCRIPT = """
import sys
from cigri.cli import {program}
assert {program}.main({words!r}) == 0
print([name for name in {slow!r} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["gridstat"],
        ["gridstat", "1"],
        ["gridstat", "-f", "1"],
        ["gridstat", "--json", "1"],
        ["gridclusters"],
        ["gridevents", "-a"],
        ["griddel", "--pause", "1"],
        ["gridtoken", "list"],
        ["gridnotify"],
        ["gridusage"],
    ],
    ids=" ".join,
)
def test_an_answer_into_a_pipe_needs_nothing_slow(words: list[str], grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3, user=grid_user())
    assert imported(words, SLOW).endswith("[]\n")


@pytest.mark.parametrize(
    "words",
    [
        ["gridstat"],
        ["gridstat", "-a", "--json"],
        ["gridstat", "-f", "1"],
        ["gridstat", "--json", "1"],
        ["gridstat", "--why", "1"],
        ["gridstat", "--why", "-T", "1:0"],
        ["gridstat", "-T", "1"],
        ["gridstat", "-e"],
        ["gridstat", "--failed", "1"],
        ["gridstat", "-J", "1"],
        ["griddel", "--pause", "1"],
        ["gridevents", "-a"],
        ["gridevents", "--audit"],
        ["gridclusters"],
        ["gridclusters", "-p"],
    ],
    ids=" ".join,
)
def test_who_asks_the_portal_needs_no_database(
    words: list[str], grid: Database, portal: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with grid.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3)
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))
    monkeypatch.delenv("CIGRI_SET_DATABASE__URL")
    assert imported(words, SLOW_OR_DATABASE).endswith("[]\n")


def test_who_submits_through_the_portal_needs_no_database(
    grid: Database, portal: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))
    monkeypatch.delenv("CIGRI_SET_DATABASE__URL")
    described = '{"name": "n", "exec_file": "e", "nb_jobs": 2, "clusters": ["dahu"]}'
    said = imported(["gridsub", "-j", described], ("sqlalchemy", "psycopg", "alembic", "paramiko"))
    assert said.endswith("[]\n"), said


def imported(words: list[str], slow: Sequence[str]) -> str:
    """What the command says on standard error; the last line lists what it has imported of these."""
    script = SCRIPT.format(program=words[0], words=words[1:], slow=slow)
    return subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=False).stderr
