"""The spool is its owner's alone, whatever the umask is, and that of root lets other accounts pass to the socket."""

import os
from pathlib import Path

import pytest

from tests.file_modes import UMASKS, open_to_others, umask

from .host import Host

OF_A_SERVICE = 0o077


@pytest.mark.process
@pytest.mark.parametrize("mask", [*UMASKS, OF_A_SERVICE], ids=oct)
def test_others_may_pass_at_most(host: Host, mask: int) -> None:
    host.spool = host.directory / "above" / "spool"
    with umask(mask):
        done = host.client(b'{"verb":"probe"}')
    assert done.returncode == 0, done.stderr
    ways = [
        host.directory / "above",
        host.spool,
        *(Path(host.spool, name).resolve() for name in ("scratch", "features")),
    ]
    meant = [f"drwx--x--x {way}" for way in ways] + [f"srw-rw-rw- {host.spool}/socket"] if os.geteuid() == 0 else []
    assert sorted(open_to_others(ways[0], *ways[2:])) == sorted(meant)
