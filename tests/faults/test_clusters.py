"""`cigri cluster test` on a real cluster of each kind."""

import pytest

from modules.operator import main as cigri
from tests.grid import Grid

pytestmark = pytest.mark.cluster
VERSIONS = {"alpha": "Slurm 22.05.8", "beta": "Slurm 22.05.8", "gamma": "Grid Engine 8.1.9", "delta": "OAR 2.5.9"}


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
