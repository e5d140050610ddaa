"""Commands on a terminal of their own, as a person has one: a pty."""

import os
import pty
import select
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.waiting import PATIENCE, looks

READ_AT_ONCE = 65536


def run_on_terminal(
    argv: Sequence[str | Path],
    environment: Mapping[str, str],
    directory: Path,
    seconds: float = PATIENCE,
    typed: str = "",
) -> tuple[int, str]:
    """Run a command with a terminal as its three streams, on which `typed` is typed at once.

    Return its exit status and all that it has shown.
    """
    ours, its = pty.openpty()
    os.write(ours, typed.encode())
    with subprocess.Popen(argv, stdin=its, stdout=its, stderr=its, env=dict(environment), cwd=directory) as process:
        os.close(its)
        shown = b""
        try:
            for _ in looks(seconds, what=f"{argv} ends"):
                is_over = process.poll() is not None
                while select.select([ours], [], [], 0)[0] and (read := _read(ours)):
                    shown += read
                if is_over:
                    return process.returncode, shown.decode()
        finally:
            process.kill()
            os.close(ours)
    raise AssertionError(argv)


def _read(terminal: int) -> bytes:
    """Return what is there; nothing where the other side is closed, which Linux tells as an error."""
    try:
        return os.read(terminal, READ_AT_ONCE)
    except OSError:
        return b""
