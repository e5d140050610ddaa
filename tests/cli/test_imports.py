"""Commands import only what they use, or a person waits for it."""

import subprocess
import sys

import pytest

from cigri.cli.command import grid_user
from cigri.database import Database
from tests.factories import a_campaign, a_cluster

SLOW = ("sqlalchemy.orm", "pydantic", "alembic", "paramiko", "yaml")
SCRIPT = f"""
import sys
from cigri.cli import {{program}}
assert {{program}}.main({{words!r}}) == 0
print([name for name in {SLOW!r} if name in sys.modules], file=sys.stderr)
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
    ],
    ids=" ".join,
)
def test_an_answer_into_a_pipe_needs_nothing_slow(words: list[str], grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3, user=grid_user())
    script = SCRIPT.format(program=words[0], words=words[1:])
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("[]\n"), done.stderr
