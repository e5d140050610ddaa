"""Inputs on a long way, and towards a full disk: many go at once, and what has no room waits, and is told."""

import os
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.flow.clusters import ClusterRow
from cigri.gateway.transport_gateway import TransportGateway
from cigri.inputs.store import InputStore, store_of
from cigri.shell.results import ShellResult
from modules import stager
from modules.stager import sending
from tests.faults.line import Line
from tests.grid import Grid, Site, until
from tests.modules.test_stager import keep, lacking
from tests.modules.test_task_inputs import submit
from tests.transports.conftest import Sshd, known_line, shell_path, start_sshd  # noqa: F401  # fixtures

pytestmark = pytest.mark.process
Reach = Callable[[Line], None]


@pytest.fixture(autouse=True)
def store(local: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InputStore:
    local.tune("inputs", directory=tmp_path / "store", leave_free=0)
    monkeypatch.setattr(stager, "SHORT_VISIT", 60.0)  # a pass waits for what it sends
    return store_of(local.settings)


@pytest.fixture
def far_host(start_sshd: Callable[..., Sshd]) -> Sshd:  # noqa: F811
    return start_sshd()


@pytest.fixture
def reach(local: Grid, far_host: Sshd, tmp_path: Path) -> Iterator[Reach]:
    """Makes a cluster `far` that is reached by such a line."""

    def make(line: Line) -> None:
        known = tmp_path / "known"
        known.write_text(known_line(line.port, far_host.directory / "host_key.pub"))
        ssh = far_host.address(port=line.port, known_hosts=str(known)).model_dump(mode="json", exclude_defaults=True)
        config = {"driver": "slurm", "transport": "ssh", "ssh": ssh, "directory": str(tmp_path / "far")}
        local.add(Site("far", config, local.site.user))
        have_visited(local, "far")

    yield make
    local.gateway.close()


def have_visited(grid: Grid, cluster: str) -> None:
    columns = "cluster_id, at, total, free, used, used_by_us, unavailable"
    seen = "SELECT id, now(), 4, 4, 0, 0, 0 FROM clusters WHERE name = :name"
    with grid.database.begin() as conn:
        conn.execute(text(f"INSERT INTO cluster_states ({columns}) {seen}"), {"name": cluster})


def far_cache(tmp_path: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (tmp_path / "far").glob("*/cache/*") if path.is_file()}


def many_cases(place: Path, number: int) -> list[dict[str, int]]:
    (place / "cases").mkdir()
    for case in range(number):
        (place / "cases" / f"{case}.dat").write_bytes(b"%08d" % case * 512)
    return [{"case": case} for case in range(number)]


def furnished(grid: Grid) -> int:
    return int(grid.one("SELECT count(*) FROM task_places WHERE is_furnished"))


@pytest.mark.timeout(200)
def test_thousands_of_small_files_take_some_commands_over_a_long_way(
    local: Grid, reach: Reach, far_host: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of which costs its way there and back."""
    number = 2_000
    local.tune("inputs", ahead=number)
    scripts, run = list[str](), TransportGateway.run

    def counted(gateway: TransportGateway, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        scripts.append(script)
        return run(gateway, cluster, user, script)

    monkeypatch.setattr(TransportGateway, "run", counted)
    with Line(far_host.port, delay=0.02) as line:
        reach(line)
        submit(local, tmp_path, many_cases(tmp_path, number), clusters={"far": {}})
        until(lambda: stager.run_once(local.tools) is not None and furnished(local) == number, 120)
        local.gateway.close()
    assert 0 < len(scripts) < number / 100
    came = far_cache(tmp_path)
    assert len(came) == number
    assert all(sha256(content).hexdigest() == name for name, content in came.items())


def no_room(grid: Grid) -> list[Any]:
    return grid.rows("SELECT message, closed_by FROM events WHERE code = 'INPUTS_NO_ROOM'")


def test_what_would_fill_a_disk_waits(local: Grid, tmp_path: Path) -> None:
    free = os.statvfs(tmp_path)
    local.tune("inputs", leave_free=free.f_bavail * free.f_frsize // 1_000_000 + 1_000_000)
    (tmp_path / "large").write_bytes(b"x" * 200_000)
    local.submit(["1"], inputs=keep(local, "large", base=tmp_path), walltime=60)
    until(lambda: stager.run_once(local.tools) is not None and no_room(local))
    assert "free: 1 inputs of 195.31 KB wait; remove files there" in no_room(local)[0]["message"]
    assert local.one("SELECT count(*) FROM cached_inputs") == 0
    local.tune("inputs", leave_free=0)
    until(lambda: stager.run_once(local.tools) is not None and lacking(local) == 0)
    assert no_room(local)[0]["closed_by"] == "cigri"


@pytest.mark.timeout(200)
def test_a_line_that_is_cut_after_every_64_kilobytes_brings_everything(
    local: Grid, reach: Reach, far_host: Sshd, tmp_path: Path
) -> None:
    """A bundle that is too large for it is sent again in smaller ones, and a large file goes on where it was."""
    (tmp_path / "large").write_bytes(os.urandom(300_000))
    with Line(far_host.port, cut_after=64 * 1024) as line:
        reach(line)
        inputs = keep(local, "large", base=tmp_path)
        submit(local, tmp_path, many_cases(tmp_path, 40), clusters={"far": {}}, inputs=inputs)
        local.tune("inputs", ahead=40)
        until(lambda: bool(stager.run_once(local.tools) or True) and furnished(local) == 40 and not lacking(local), 120)
        local.gateway.close()
    assert 5 <= line.cuts < 60, "each of them has cost no more than what was under way"
    came = far_cache(tmp_path)
    assert len(came) == 41
    assert all(sha256(content).hexdigest() == name for name, content in came.items())
    assert local.rows("SELECT code FROM events WHERE closed_at IS NULL AND code LIKE 'INPUTS%'") == []


@pytest.fixture
def small_disk(local: Grid) -> Iterator[Path]:
    """On which the cache of the cluster lies, with room for two megabytes."""
    if os.geteuid():
        pytest.skip("only root mounts a filesystem")
    place = Path(local.site.config["directory"]) / local.one("SELECT key FROM grid")
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("are_small", [True, False])
def test_a_disk_that_fills_meanwhile_is_told_as_such_and_all_comes_when_there_is_room(
    local: Grid, small_disk: Path, tmp_path: Path, are_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it had had room when it was looked at."""
    monkeypatch.setattr(sending, "_with_room", lambda _line, lacked, _held, _free: ([*lacked], []))
    if are_small:
        have_visited(local, local.site.name)
        submit(local, tmp_path, many_cases(tmp_path, 500))
        local.tune("inputs", ahead=500)
    else:
        (tmp_path / "large").write_bytes(os.urandom(3_000_000))
        local.submit(["1"], inputs=keep(local, "large", base=tmp_path), walltime=60)
    (small_disk / "cache").mkdir()
    (small_disk / "cache" / "others").write_bytes(b"x" * 500_000)
    until(lambda: bool(stager.run_once(local.tools) or True) and bool(no_room(local)))
    assert "No space left on device" in no_room(local)[0]["message"]
    assert not are_small or furnished(local) < 500
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    until(lambda: bool(stager.run_once(local.tools) or True) and no_room(local)[0]["closed_by"] == "cigri")
    assert furnished(local) == 500 if are_small else not lacking(local)
    for path in (small_disk / "cache").glob("[0-9a-f]" * 64):
        assert sha256(path.read_bytes()).hexdigest() == path.name
