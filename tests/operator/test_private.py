"""A whole grid on one host: all that is there after a campaign is its owner's alone, whatever the umask is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.file_modes import UMASKS, open_to_others, umask

from .conftest import Installation, until

WRITES = "umask; umask 077; mkdir out; cp secret out/copy"


def call(grid: Installation, command: str, *argv: str) -> str:
    """A command of users, in the home of the installation."""
    run = [sys.executable, "-P", "-c", f"import sys; from cigri.cli.{command} import main; sys.exit(main())", *argv]
    done = subprocess.run(run, env=grid.environment, cwd=grid.home, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def meant_for_all(grid: Installation) -> set[str]:
    """Other accounts pass through the directories of root's batch system to its socket and to what they own."""
    spool = grid.data / "local"
    if os.geteuid() != 0:
        return set()
    places = [spool, (spool / "scratch").resolve(), features := (spool / "features").resolve(), *features.glob("0-*")]
    return {f"drwx--x--x {path}" for path in places} | {f"srw-rw-rw- {spool}/socket"}


@pytest.mark.parametrize("mask", UMASKS, ids=oct)
def test_all_that_a_campaign_leaves_is_its_owners_alone(install: Callable[..., Installation], mask: int) -> None:
    grid = install()
    grid.home.chmod(0o700)
    with umask(0o077):
        (grid.home / "secret").write_text("secret")
        description = {
            "name": "secrets",
            "param_file": "secret",
            "exec_file": f"sh -c '{WRITES}'",
            "inputs": ["secret"],
            "outputs": ["out"],
            "collect": {"to": "./brought/{number}"},
            "clusters": {"localhost": {}},
        }
        (grid.home / "campaign.json").write_text(json.dumps(description))
    with umask(mask):
        assert grid.run_anew("up").status == 0
        call(grid, "gridsub", "campaign.json")
        until(lambda: (grid.home / "brought" / "0" / "out" / "copy").exists(), what="its outputs")
        until(lambda: grid.one("SELECT state::text FROM campaigns") == "terminated", what="the end of the campaign")
        call(grid, "gridget", "1", "fetched/deep")
        assert (grid.home / "fetched" / "deep" / "0.out").read_text() == f"{mask:04o}\n", "the umask of the account"
    links = [(grid.data / "local" / name).resolve() for name in ("scratch", "features")]
    assert set(open_to_others(grid.home, *links)) == meant_for_all(grid)
