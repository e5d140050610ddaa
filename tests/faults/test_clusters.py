"""`cigri cluster test` on a real cluster of each kind, and a prologue as CiGri 3's users write them."""

from pathlib import Path

import pytest

from cigri.cli.gridget import main as gridget
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
