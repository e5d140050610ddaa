"""A campaign of a million lines, handed over by the real gridsub, on the database and through a portal."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cigri.identity.unix_sockets import is_served
from tests.bench.ground import PROGRAMS, Ground, ground
from tests.bench.table import Row, row

SIZE = 1_000_000
SECONDS, MEGABYTES = 15, 300  # what it may take at the most
STARTING = 120.0  # seconds


def measure(size: int = SIZE) -> Iterator[Row]:
    with ground() as grid:
        taken, peak = submit(grid, size)
        yield _seconds(f"submission: {size:,} lines of parameters, by gridsub", taken)
        yield _megabytes("submission: memory of gridsub", peak)
    with ground() as grid, portal(grid) as (place, pid):
        taken, peak = submit(grid, size, grid.environment | {"CIGRI_SET_PORTAL__SOCKET": str(place)})
        yield _seconds(f"submission: {size:,} lines of parameters, by gridsub through the portal", taken)
        yield _megabytes("submission: memory of gridsub, through the portal", peak)
        yield _megabytes("submission: memory of the portal", _peak_of(pid))


@contextmanager
def portal(grid: Ground) -> Iterator[tuple[Path, int]]:
    """One that listens: its socket, and the number of its process."""
    place = grid.directory / "bench.sock"
    environment = grid.environment | {"CIGRI_SET_PORTAL__SOCKET": str(place)}
    process = subprocess.Popen([PROGRAMS / "cigri", "portal"], env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.perf_counter() + STARTING
        while not is_served(place):
            if process.poll() is not None or time.perf_counter() > deadline:
                raise RuntimeError("the portal does not listen")
            time.sleep(0.05)
        yield place, process.pid
    finally:
        process.terminate()
        process.wait()


def submit(grid: Ground, size: int, environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Seconds and megabytes."""
    lines = grid.directory / "lines.txt"
    with lines.open("w") as file:
        file.writelines(f"frame{number} --seed {number}\n" for number in range(size))
    program, description = str(PROGRAMS / "gridsub"), grid.describe("large", param_file=str(lines))
    started = time.perf_counter()
    pid = os.posix_spawn(
        program,
        ["gridsub", description],
        environment or grid.environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    taken = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"gridsub {description} failed")
    return taken, usage.ru_maxrss / 1024


def _seconds(what: str, taken: float) -> Row:
    return row(what, f"{taken:.1f} s", f"at most {SECONDS} s", f"{taken / SECONDS:.2f}")


def _megabytes(what: str, peak: float) -> Row:
    return row(what, f"{peak:.0f} MB", f"at most {MEGABYTES} MB", f"{peak / MEGABYTES:.2f}")


def _peak_of(pid: int) -> float:
    """Megabytes that a process has had at the most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
