"""The portal beside a grid that works: what is read of it in a second, and what its readers cost the cycle."""

import os
import pwd
import socket
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle as round_and_round
from itertools import islice
from pathlib import Path

from cigri.runtime.pass_context import PassContext, tune_garbage_collector
from tests.bench.cycle import CLUSTERS, cycle, declare_clusters, put, tools
from tests.bench.ground import PROGRAMS, Ground, ground
from tests.bench.readers import HOST, Reading, Seen, reading
from tests.bench.stat import median
from tests.bench.submission import portal
from tests.bench.table import Row, row
from tests.portal.browser import signed_in

SIZE = 1_000_000
STREAMS = 200
OF_ONE = 16  # streams of a user
CAMPAIGNS = 100
SECONDS = 20.0
PERIOD = 2.0  # of cycles, seconds
PAGES = 10.0  # a second
ROUNDS = 4  # with and without readers, in turn
RUNS = 15
SLOWER = 1.10  # what readers may cost the cycle
WAIT = 0.3  # seconds that gridstat may take


def measure(
    size: int = SIZE, streams: int = STREAMS, seconds: float = SECONDS, rounds: int = ROUNDS, runs: int = RUNS
) -> Iterator[Row]:
    port = free_port()
    with ground(portal__address=f"{HOST}:{port}") as grid, portal(grid) as (place, _), tools(grid) as given:
        tune_garbage_collector()
        users = [account.pw_name for account in islice(pwd.getpwall(), streams // OF_ONE + 1)]
        clusters = declare_clusters(grid, CLUSTERS)
        for user in islice(round_and_round(users), CAMPAIGNS):
            put(grid, "service", clusters, "sleep 1000", size // CAMPAIGNS, user)
        cookies = [cookie(grid, port, user) for user in users]
        paths = ["/changes?campaign=1", *(f"/changes?user={user}" for user in users)]
        listened = list(islice(zip(round_and_round(paths), round_and_round(cookies), strict=False), streams))
        cycle(given)
        about = f"{streams} streams open, {size:,} tasks"
        for what, path in (("the page of a campaign", "/campaigns/1"), ("GET of a campaign", "/api/v1/campaigns/1")):
            with reading(Reading(port, listened, path, cookies[0], 0)) as seen:
                _cycles(given, seconds)
            yield _read(f"service: {what}, by 4 at a time, {about}, beside cycles each {PERIOD:g} s", seen[0])
        ways: list[Callable[[], object]] = [partial(grid.run, "gridstat", "1"), partial(_gridstat, place)]
        here, there = (median(way, runs) for way in ways)
        beside = f"at most {WAIT} s; on the database: {here:.2f} s"
        yield row("service: gridstat of a campaign through the socket", f"{there:.2f} s", beside, f"{there / WAIT:.2f}")
        yield _slowed(given, Reading(port, listened, "/campaigns/1", cookies[0], PAGES), seconds, rounds, about)


def _slowed(given: PassContext, asked: Reading, seconds: float, rounds: int, about: str) -> Row:
    """In turn, so that a slow phase of the machine is both's."""
    alone, read = [], []
    for _ in range(rounds):
        alone += _cycles(given, seconds / 2)
        with reading(asked):
            read += _cycles(given, seconds / 2)
    without, beside = statistics.median(alone), statistics.median(read)
    what = f"service: a cycle beside {PAGES:g} pages a second, {about}"
    return row(what, f"{beside:.2f} s", f"at most {SLOWER:g} of {without:.2f} s, without", f"{beside / without:.2f}")


def _read(what: str, seen: Seen) -> Row:
    beside = f"p99 {seen.p99 * 1000:.0f} ms, {seen.size / 1000:.0f} kB; {seen.news} news told"
    return row(what, f"{seen.rate:.0f}/s", beside)


def _cycles(given: PassContext, seconds: float) -> list[float]:
    """Of a grid that works, as often as the almighty has them; seconds of each."""
    taken: list[float] = []
    until = time.perf_counter() + seconds
    while not taken or time.perf_counter() < until:
        started = time.perf_counter()
        taken.append(sum(cycle(given).values()))
        time.sleep(max(started + PERIOD - time.perf_counter(), 0))
    return taken


def _gridstat(place: Path) -> None:
    """As its user runs it, whose environment has no database."""
    environment = {"PATH": os.environ["PATH"], "CIGRI_SET_PORTAL__SOCKET": str(place)}
    subprocess.run([PROGRAMS / "gridstat", "1"], env=environment, stdout=subprocess.DEVNULL, check=True)


def cookie(grid: Ground, port: int, user: str) -> str:
    (pair,) = signed_in(grid.database, port, user).cookies.items()
    return "=".join(pair)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port
