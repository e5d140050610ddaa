"""Inputs that are replaced while their campaign is under way: which tasks find the new ones, on a real cluster."""

from pathlib import Path
from typing import Any

import pytest

from cigri.errors import CigriError
from cigri.flow.batches import put_batch
from cigri.flow.input_versions import ReplacedInputs, replace_inputs
from cigri.flow.launches import list_launches
from cigri.flow.tasks import redo_tasks
from cigri.identity.callers import Caller
from cigri.inputs.store import InputStore, store_of
from cigri.states import TaskState
from modules import janitor, runner
from tests.grid import CYCLE, Grid
from tests.modules.test_stager import cached, keep
from tests.waiting import PATIENCE, looks


@pytest.fixture(autouse=True)
def store(local: Grid, tmp_path: Path) -> InputStore:
    local.tune("inputs", directory=tmp_path / "store")
    return store_of(local.settings)


def sent(grid: Grid, place: Path, program: str) -> list[Any]:
    (place / "solve").write_text(program)
    (place / "mesh").mkdir(exist_ok=True)
    (place / "mesh" / "size").write_text(program)
    return keep(grid, "solve", "mesh", base=place)


def replaced(grid: Grid, campaign: int, place: Path, program: str) -> ReplacedInputs:
    with grid.database.begin() as conn:
        sums = {each["path"]: each["sha256"] for each in sent(grid, place, program)}
        return replace_inputs(conn, campaign, Caller(grid.site.user), sums)


def told(grid: Grid) -> list[str]:
    files = Path(grid.site.config["directory"])
    return sorted(path.read_text().strip() for path in files.rglob("*.out"))


@pytest.mark.parametrize("directory", [None, "shared"])
def test_a_mended_program_runs_in_place_of_the_old_one(local: Grid, tmp_path: Path, directory: str | None) -> None:
    where = {} if directory is None else {"exec_directory": str(tmp_path / directory)}
    inputs = sent(local, tmp_path, "exit 3")
    campaign = local.submit(["1", "2"], command="cat mesh/size; sh ./solve", inputs=inputs, walltime=60, **where)
    local.run_until(lambda: local.counts() == {"failed": 2})
    with local.database.begin() as conn:
        assert redo_tasks(conn, campaign, Caller(local.site.user), None, [TaskState.FAILED]) == 2
    assert replaced(local, campaign, tmp_path, "echo mended") == ReplacedInputs(2, 0, 0)
    local.run_to_end()
    assert local.counts() == {"done": 2}
    versions = local.rows("SELECT inputs_version FROM batches ORDER BY created_at, id")
    assert {row["inputs_version"] for row in versions} == {1, 2}
    assert told(local) == ["echo mendedmended"] * 2 + ["exit 3"] * 2


def test_jobs_that_are_made_and_not_sent_get_the_new_ones(local: Grid, tmp_path: Path) -> None:
    """And are not sent before these are there."""
    inputs = sent(local, tmp_path, "exit 3")
    campaign = local.submit(["1"], command="sh ./solve", inputs=inputs, walltime=60)
    for _ in looks(PATIENCE, what=local.describe):
        if local.one("SELECT count(*) FROM jobs WHERE state = 'to_launch'"):
            break
        for module in CYCLE:
            if module is not runner:
                module.run_once(local.tools)
    cluster = local.one("SELECT id FROM clusters")
    with local.database.begin() as conn:
        [before] = list_launches(conn, cluster, 10, 10)
    assert replaced(local, campaign, tmp_path, "echo mended") == ReplacedInputs(2, 0, 0)
    with local.database.begin() as conn:
        assert put_batch(conn, before, cluster, "key") is None, "it was read before"
        assert list_launches(conn, cluster, 10, 10) == []
    local.run_to_end()
    assert told(local) == ["mended"]


def test_what_waits_in_a_queue_comes_back_for_the_new_ones(local: Grid, tmp_path: Path) -> None:
    """What runs goes on, and what it has in the cache stays, however old that is."""
    go = tmp_path / "go"
    command = f"while [ ! -e {go} ]; do sleep 0.1; done; cat mesh/size"
    inputs = sent(local, tmp_path, "old")
    fields = {"inputs": inputs, "walltime": 60, "resources": {"cpu": 4}, "temporal_grouping": False}
    campaign = local.submit(["1", "2"], command=command, **fields)
    by_state = "SELECT count(*) FROM jobs WHERE state::text = :state"
    local.run_until(lambda: [local.one(by_state, state=state) for state in ("running", "submitted")] == [1, 1])
    assert replaced(local, campaign, tmp_path, "new") == ReplacedInputs(2, 1, 1)
    assert replaced(local, campaign, tmp_path, "newer") == ReplacedInputs(2, 1, 1)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE cached_inputs SET at = at - interval '80 days'")
    janitor.run_once(local.tools)
    assert {each["sha256"] for each in inputs} <= {path.name.partition(".")[0] for path in cached(local)}
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE outcome = 'withdrawn'") == 1)
    go.touch()
    local.run_to_end()
    assert local.counts() == {"done": 2}
    assert told(local) == ["newer", "old"]


def test_all_of_it_is_undone_where_one_was_not_sent(local: Grid, tmp_path: Path) -> None:
    campaign = local.submit(["1"], inputs=sent(local, tmp_path, "old"), walltime=60)
    stored = "SELECT settings::text FROM campaign_clusters"
    before, owner = local.one(stored), Caller(local.site.user)
    for sums, why in (({"solve": "f" * 64}, "solve was not sent"), ({"other": "f" * 64}, "other was not sent")):
        with pytest.raises(CigriError, match=why), local.database.begin() as conn:
            replace_inputs(conn, campaign, owner, sums)
    (tmp_path / "other").write_text("x")
    [other] = keep(local, "other", base=tmp_path)
    with pytest.raises(CigriError, match="has no input other; it has: mesh, solve"), local.database.begin() as conn:
        replace_inputs(conn, campaign, owner, {"other": other["sha256"]})
    assert local.one(stored) == before
