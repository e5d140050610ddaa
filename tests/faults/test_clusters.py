"""`cigri cluster test` on a real cluster of each kind, and a prologue as CiGri 3's users write them."""

import json
import os
import shlex
from hashlib import sha256
from pathlib import Path

import pytest

from cigri.cli import grid_client as grid_way
from cigri.cli.gridget import main as gridget
from cigri.cli.gridsub import main as gridsub
from modules.operator import main as cigri
from tests.grid import Grid

pytestmark = pytest.mark.cluster
VERSIONS = {"alpha": "Slurm 22.05.8", "beta": "Slurm 22.05.8", "gamma": "Grid Engine 8.1.9", "delta": "OAR 2.5.9"}
LARGE = 5_000_000  # bytes: more than one answer holds


@pytest.mark.parametrize("name", VERSIONS)
def test_the_operator_tests_a_cluster_step_by_step(
    request: pytest.FixtureRequest,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid: Grid = request.getfixturevalue(name)
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    status = cigri(["cluster", "test", name, "--as", "alice"])
    said = capsys.readouterr().out
    assert status == 0, said
    assert VERSIONS[name] in said
    assert "✗" not in said


def test_the_clock_of_a_front_end_is_looked_at(each_kind: Grid) -> None:
    each_kind.cycle()
    assert each_kind.one("SELECT clock_skew FROM clusters") == 0  # it is this machine's own


def test_a_prologue_is_read_by_bash_as_at_a_login(each_kind: Grid) -> None:
    grid = each_kind
    profile = f"mkdir -p {grid.place} && printf '%s\\n' 'module() {{ echo $2; }}' >>.bash_profile"
    grid.site.sh(profile)
    try:
        lines = [f"cd {grid.place}", "mkdir -p a/{b,c}", "[[ $(module load gcc) == g* ]]", "touch prologue"]
        grid.submit(["1"], command=f"cd {grid.place} && [ -d a/b ] && mv prologue done", prologue=lines)
        grid.run_to_end()
        grid.site.sh(f"[ -d {grid.place}/a/c ] && [ -e {grid.place}/done ]")
        assert grid.counts() == {"done": 1}
    finally:
        grid.site.sh("rm .bash_profile")


def test_what_a_campaign_takes_along_is_there_once(
    each_kind: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid, content = each_kind, os.urandom(LARGE)
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "store"))
    grid.tune("inputs", directory=tmp_path / "store")
    (tmp_path / "solver").write_bytes(content)
    odd = tmp_path / "data" / "-rf '\n\"é"
    odd.parent.mkdir()
    odd.write_bytes(b"odd")
    look = f"sha256sum <solver >>{grid.place}/sums && cat in/* >&2 && [ ! -w solver ]"
    description = {
        "name": "takes-along",
        "exec_file": f"sh -c {shlex.quote(look)}",
        "nb_jobs": 3,
        "inputs": ["solver", {"from": "data", "to": "in"}],
        "clusters": {grid.site.name: {"walltime": 600}},
    }
    (tmp_path / "campaign.json").write_text(json.dumps(description))
    monkeypatch.setattr(grid_way, "grid_user", lambda: grid.site.user)
    for _ in range(2):
        assert gridsub([str(tmp_path / "campaign.json")]) == 0
    grid.run_to_end()
    assert grid.counts() == {"done": 6}
    sums = grid.site.sh(f"cat {grid.place}/sums").split("\n")
    assert {line.split()[0] for line in sums if line} == {sha256(content).hexdigest()}
    key = grid.one("SELECT key FROM grid")
    assert grid.site.sh(f"ls .cigri/{key}/cache | grep -c .").strip() == "2"
    assert grid.site.sh(f"find .cigri/{key} -name '*.work' | grep -c . || true").strip() == "0"


def test_what_tasks_wrote_is_brought_as_it_is(each_kind: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = each_kind
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    campaign = grid.submit(["1", "2"], command=f'printf "\\377\\000$1"; yes $1 | head -c {LARGE} >&2')
    grid.run_to_end()
    assert gridget([str(campaign), str(tmp_path)]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.glob("?.*")} == {
        **{f"{number}.out": b"\xff\x00%d" % (number + 1) for number in range(2)},
        **{f"{number}.err": (b"%d\n" % (number + 1) * LARGE)[:LARGE] for number in range(2)},
    }


def test_files_that_tasks_bring_are_there_when_they_are_done(
    each_kind: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = each_kind
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    big = f"yes $1 | head -c {LARGE} >big.$1"
    writes = f"mkdir -p log.$1; printf $1 >log.$1/a\\ b; ln -s /etc/passwd log.$1/link; {big}"
    wanted = ["big.{index}", "log.{index}"]
    campaign = grid.submit(["0", "1"], command=writes, outputs=wanted, own_directory=True)
    grid.run_to_end()
    assert gridget([str(campaign), str(tmp_path)]) == 0
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.glob("?/**/*") if path.is_file()}
    assert files == {
        **{f"{number}/log.{number}/a b": b"%d" % number for number in range(2)},
        **{f"{number}/big.{number}": (b"%d\n" % number * LARGE)[:LARGE] for number in range(2)},
    }


def test_outputs_come_back_by_themselves(each_kind: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid, store = each_kind, tmp_path / "store"
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    monkeypatch.setenv("CIGRI_SET_OUTPUTS__DIRECTORY", str(store))
    grid.tune("outputs", directory=store)
    odd = "-rf '\"é"
    command = f'mkdir log; yes $1 | head -c {LARGE} >big; printf odd >log/"$(printf %s {shlex.quote(odd)})"'
    to = {"to": "/home/alice/results/{number}"}
    campaign = grid.submit(["1", "2"], command=command, outputs=["big", "log"], collect=to)
    grid.run_to_end(120)
    each = {number: (b"%d\n" % (number + 1) * LARGE)[:LARGE] for number in range(2)}
    assert gridget([str(campaign), str(tmp_path / "results")]) == 0
    for place in (store / str(campaign), tmp_path / "results"):
        for number, content in each.items():
            assert (place / str(number) / "big").read_bytes() == content
            assert [path.name for path in (place / str(number) / "log").iterdir()] == [odd]
    key = grid.one("SELECT key FROM grid")
    grid.run_until(lambda: grid.site.sh(f"find .cigri/{key} -name '*.d' | grep -c . || true").strip() == "0")
    assert grid.rows("SELECT * FROM events WHERE code LIKE 'OUTPUTS%'") == []
    grid.assert_sane()
