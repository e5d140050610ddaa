"""Files to a cluster and back through a real sshd of this host, beside rsync, scp and tar on the same way, in turn.

Once more over a line on which each byte takes as long as across a country, and from where a large file was cut off.
"""

import getpass
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import InputSettings, Settings
from modules import campaign_schedulers, killer, matcher, metascheduler, predictor, runner, stager, updator
from tests.bench.ground import BUSY, PROGRAMS, Ground, ground
from tests.bench.table import Row, row
from tests.faults.line import Line
from tests.transports.conftest import Sshd, known_line

FILES = 5000
SMALL = 4096  # bytes of each
LARGE = 512  # MB of one file
FAR_FILES = 10_000
DELAY = 0.02  # seconds each way
ROUNDS = 3
MEGABYTE = 10**6
CLUSTER, DISTANT = "near", "distant"
LONGEST = 900.0  # seconds
PAUSE = 0.05  # seconds between two passes, which are two seconds apart on a real grid
BUT_STAGER = (updator, predictor, matcher, metascheduler, campaign_schedulers, runner, killer)
NUMBERS = count(1)

Bring = Callable[[Path], float]
"""Bring the files of a directory to the other side; the seconds it took."""


def measure(size: int = FILES, large: int = LARGE, far: int = FAR_FILES, rounds: int = ROUNDS) -> Iterator[Row]:
    with ground() as grid, far_host(grid) as sshd, tools(grid, max(size, far)) as given:
        ours = partial(_send, grid, given, CLUSTER)
        others = {name: partial(_copy, sshd, words) for name, words in _copies(sshd, "{here}", "{there}").items()}
        one = {"one": large * MEGABYTE}
        times = _times({"cigri": ours, **others}, grid, one, rounds)
        yield _beside(f"staging: an input of {large:,} MB to a cluster", "MB/s", large, times)
        yield _resumed(grid, given, 2 * large)
        times = _times({"cigri": ours, **others}, grid, _many(size), rounds)
        yield _beside(f"staging: {size:,} task_inputs of 4 kB to a cluster", "files/s", size, times)
        yield _beside(
            f"staging: outputs of {size:,} tasks, 4 kB each",
            "files/s",
            size,
            _fetched(grid, given, sshd, CLUSTER, size),
        )
        with Line(sshd.port, delay=DELAY) as line:
            yield from _distant(grid, given, sshd, line.port, far)


def _many(size: int) -> dict[str, int]:
    return {f"{number}.dat": SMALL for number in range(size)}


def _distant(grid: Ground, given: PassContext, sshd: Sshd, port: int, size: int) -> Iterator[Row]:
    """No command may wait for the way there and back for each file."""
    _add_cluster(grid, sshd, DISTANT, port)
    updator.run_once(given)
    words = _copies(sshd, "{here}", "{there}", port=port)["tar"]
    ways: dict[str, Bring] = {"cigri": partial(_send, grid, given, DISTANT), "tar": partial(_copy, sshd, words)}
    line = f"over a line of {DELAY * 1000:.0f} ms"
    there, back = _times(ways, grid, _many(size), 1), _fetched(grid, given, sshd, DISTANT, size, port)
    given.gateway.close()  # before its line is gone
    yield _seconds(f"staging: {size:,} task_inputs of 4 kB {line} (limit 30 s)", there["cigri"], there["tar"], "tar")
    yield _seconds(
        f"staging: outputs of {size:,} tasks, 4 kB each, {line} (limit 30 s)", back["cigri"], back["tar"], "tar"
    )


def _seconds(what: str, ours: list[float], other: list[float], name: str) -> Row:
    return row(what, f"{ours[0]:.1f} s", f"{name}: {other[0]:.1f} s", f"{ours[0] / other[0]:.2f}")


def _resumed(grid: Ground, given: PassContext, large: int) -> Row:
    """A large file is cut off at half, and goes on over a new connection: what has come does not come again."""
    place = grid.directory / f"files{next(NUMBERS)}"
    place.mkdir()
    (place / "one").write_bytes(os.urandom(large * MEGABYTE))
    campaign = _submit(grid, CLUSTER, place)
    came = "SELECT coalesce(max(bytes), 0) FROM cached_inputs NATURAL JOIN part_inputs WHERE campaign_id = :id"
    cut = TransportGateway()
    try:
        first = _pass_until(given._replace(gateway=cut), lambda: grid.one(came, id=campaign) >= large * MEGABYTE // 2)
    finally:
        cut.close()
    second = _pass_until(given, lambda: _has_come(grid, campaign, 1))
    grid.run("griddel", str(campaign))
    shutil.rmtree(place)
    return _seconds(f"staging: the rest of {large:,} MB that were cut off at half", [second], [first], "first half")


def _beside(what: str, unit: str, amount: float, times: Mapping[str, list[float]]) -> Row:
    speeds = {name: amount / statistics.median(taken) for name, taken in times.items()}
    ours = speeds.pop("cigri")
    beside = ", ".join(f"{name}: {speed:,.0f} {unit}" for name, speed in speeds.items())
    return row(what, f"{ours:,.0f} {unit}", beside, f"{ours / max(speeds.values()):.2f}")


def _times(ways: Mapping[str, Bring], grid: Ground, files: Mapping[str, int], rounds: int) -> dict[str, list[float]]:
    """Each in turn, of files that nobody has seen before."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        place = grid.directory / f"files{next(NUMBERS)}"
        place.mkdir()
        for name, size in files.items():
            (place / name).write_bytes(os.urandom(size))
        for name, bring in ways.items():
            times[name].append(bring(place))
        shutil.rmtree(place)
    return times


@contextmanager
def far_host(grid: Ground) -> Iterator[Sshd]:
    """A cluster behind an sshd of its own, whose jobs this host runs."""
    path = f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin"
    sshd = Sshd(grid.directory / "sshd", path, extra="Subsystem sftp internal-sftp")
    sshd.start()
    try:
        _add_cluster(grid, sshd, CLUSTER, sshd.port)
        yield sshd
    finally:
        sshd.close()


def _add_cluster(grid: Ground, sshd: Sshd, name: str, port: int) -> None:
    with sshd.known_hosts.open("a") as known:
        known.write(known_line(port, sshd.directory / "host_key.pub"))
    words = ["--ssh", f"{getpass.getuser()}@127.0.0.1:{port}", "--key-file", str(sshd.user_key)]
    words += ["--known-hosts", str(sshd.known_hosts), "--driver", "local"]
    words += ["--option", f"spool={grid.directory}/spool"]
    wishes = {**BUSY, "poll_interval": 0.0, "directory": str(grid.directory / name)}
    words += [word for name, value in wishes.items() for word in ("--set", f"{name}={value}")]
    grid.run("cigri", "cluster", "add", name, *words)


@contextmanager
def tools(grid: Ground, size: int) -> Iterator[PassContext]:
    gateway = TransportGateway()
    try:
        given = PassContext(
            grid.database, Settings(data_directory=grid.directory, inputs=InputSettings(ahead=size)), gateway
        )
        updator.run_once(given)
        yield given
    finally:
        gateway.close()


def _send(grid: Ground, given: PassContext, cluster: str, place: Path) -> float:
    """From files in the store to the last one in the cluster's cache, verified."""
    campaign, number = _submit(grid, cluster, place), len([*place.iterdir()])
    taken = _pass_until(given, lambda: _has_come(grid, campaign, number))
    grid.run("griddel", str(campaign))
    return taken


def _submit(grid: Ground, cluster: str, place: Path) -> int:
    """A campaign of a task for each file of the directory, which none of them begins."""
    names = sorted(path.name for path in place.iterdir())
    inputs = {"inputs": [f"{place}/{names[0]}"]} if len(names) == 1 else {"task_inputs": [f"{place}/{{name}}"]}
    ours = {
        "clusters": {cluster: {}},
        "params": [{"name": name} for name in names],
        "exec_file": "true {name}",
        "own_directory": True,
    }
    return grid.submit(grid.describe(place.name, **ours, **inputs))


def _has_come(grid: Ground, campaign: int, files: int) -> bool:
    if files == 1:
        lacking = "SELECT count(*) FROM campaign_clusters WHERE campaign_id = :id AND lacks_inputs"
        return bool(grid.one(lacking, id=campaign) == 0)
    furnished = "SELECT count(*) FROM task_places WHERE campaign_id = :id AND is_furnished"
    return bool(grid.one(furnished, id=campaign) == files)


def _pass_until(given: PassContext, fact: Callable[[], bool]) -> float:
    started = time.perf_counter()
    while not fact():
        if time.perf_counter() > started + LONGEST:
            raise RuntimeError(f"the stager has not brought it within {LONGEST:.0f} s")
        stager.run_once(given)
        time.sleep(PAUSE)  # a stream goes on behind the pass, and needs the processor
    return time.perf_counter() - started


def _fetched(
    grid: Ground, given: PassContext, sshd: Sshd, cluster: str, size: int, port: int | None = None
) -> dict[str, list[float]]:
    """Of tasks that have all ended; the others fetch directories of the same shape."""
    name = f"fetch{next(NUMBERS)}"
    to = grid.directory / name
    program = f"sh -c 'head -c {SMALL} /dev/urandom >result'"
    wanted = {"outputs": ["result"], "collect": {"to": f"{to}/{{number}}"}}
    description = grid.describe(name, clusters={cluster: {}}, nb_jobs=size, exec_file=program, **wanted)
    number = grid.submit(description)
    while grid.one("SELECT count(*) FROM tasks WHERE campaign_id = :id AND state <> 'done'", id=number):
        for module in BUT_STAGER:
            module.run_once(given)
    times = {"cigri": [_pass_until(given, lambda: len([*to.glob("[0-9]*")]) == size)]}
    for rival, words in _copies(sshd, "{here}", "{there}", is_back=True, port=port).items():
        if rival == "tar" or not port:
            times[rival] = [_copy(sshd, words, to)]
    return times


def _copies(sshd: Sshd, here: str, there: str, is_back: bool = False, port: int | None = None) -> dict[str, list[str]]:
    """What people use instead; each opens a connection of its own."""
    options = f"-q -i {sshd.user_key} -o UserKnownHostsFile={sshd.known_hosts} -o IdentitiesOnly=yes"
    ssh, host = f"ssh -p {port or sshd.port} {options}", f"{getpass.getuser()}@127.0.0.1"
    far, near = (f"{host}:{here}", there) if is_back else (here, f"{host}:{there}")
    pack, unpack = f"tar -C {here} -cf - .", f"tar -C {there} -xf -"
    tar = f"{ssh} {host} '{pack}' | {unpack}" if is_back else f"{pack} | {ssh} {host} '{unpack}'"
    return {
        "rsync": ["rsync", "-a", "-e", ssh, f"{far}/", f"{near}/"],
        "scp": ["scp", "-r", "-P", str(port or sshd.port), *options.split(), f"{far}/.", near],
        "tar": ["sh", "-c", tar],
    }


def _copy(sshd: Sshd, words: list[str], place: Path) -> float:
    there = sshd.directory / "copied"
    there.mkdir()
    filled = [word.replace("{here}", str(place)).replace("{there}", str(there)) for word in words]
    started = time.perf_counter()
    subprocess.run(filled, check=True)
    taken = time.perf_counter() - started
    if len([*there.iterdir()]) != len([*place.iterdir()]):
        raise RuntimeError(f"{words[0]} has not copied everything")
    shutil.rmtree(there)
    return taken
