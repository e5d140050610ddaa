"""Processes that tests fork: who was interrupted while it waited for one does not get its answer later."""

from pathlib import Path

import pytest

from cigri.runtime.time_limit import time_limit
from modules.operator.detached_process import start_of
from tests.forker import Forker
from tests.grid import until

pytestmark = pytest.mark.process


def call(forker: Forker, script: str, directory: Path) -> tuple[int, str]:
    said = forker.run("subprocess:call", ["sh", "-c", script], {}, directory)
    return said.status, said.out


def test_a_call_that_was_interrupted_leaves_nothing_to_the_next_one(forker: Forker, tmp_path: Path) -> None:
    assert call(forker, "echo first; exit 3", tmp_path) == (3, "first\n")
    with pytest.raises(TimeoutError), time_limit(1):
        call(forker, f"echo $$ >{tmp_path}/pid; exec /bin/sleep 600", tmp_path)
    assert call(forker, "echo third; exit 5", tmp_path) == (5, "third\n")
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not start_of(pid))
