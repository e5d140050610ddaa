"""Runs a program with so much memory and time for it, as tests.forker starts it: too much of either is a death."""

import importlib
import os
import resource
import signal
from pathlib import Path

SECONDS = 10
"""Of CPU time; and of the clock three times as many, for what waits for ever."""
MEGABYTES = 400
"""More than the process has at its begin."""


def main(argv: list[str]) -> int:
    """`argv`: the program as "module:function", and its arguments."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(3 * SECONDS)
    module, _, function = argv[0].partition(":")
    status: int = getattr(importlib.import_module(module), function)(argv[1:])
    return status
