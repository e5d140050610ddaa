"""Runs a program with so much memory and time for it, as tests.forker starts it: too much of either is a death."""

import importlib
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 10
"""Of CPU time; and of the clock six times as many, for what waits for ever."""
MEGABYTES = 400
"""More than the process has at its begin."""


def main(argv: list[str]) -> int:
    """`argv`: the program as "module:function", and its arguments."""
    most = _with(MEGABYTES)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(6 * SECONDS)
    module, _, function = argv[0].partition(":")
    status: int = getattr(importlib.import_module(module), function)(argv[1:])
    return status


@contextmanager
def little_memory(megabytes: int) -> Iterator[None]:
    """For this process itself, more than it has now: a test that wants more fails before the machine has no more."""
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_with(megabytes), most))
    try:
        yield
    except MemoryError as error:
        raise AssertionError(f"the test itself wants more than {megabytes} MB of memory") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))


def _with(megabytes: int) -> int:
    """Bytes: what this process has, and so much more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") + megabytes * 2**20
