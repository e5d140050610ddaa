"""Inputs come from the store to a cluster, once, whole, and before the tasks that need them."""

import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.errors import RemoteOutcomeUnknown
from cigri.flow.clusters import find_cluster, map_user
from cigri.flow.stored_inputs import put_sent
from cigri.flow.views.campaigns import list_campaigns, list_parts
from cigri.gateway.requests import AppendToCache
from cigri.inputs.reading import read_inputs
from cigri.inputs.store import InputStore, store_of
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from modules import janitor, stager
from modules.stager import sending
from tests.factories import NOON
from tests.grid import Grid
from tests.modules.test_clusters import Refusing

CONTENT = bytes(range(256)) * 5000


@pytest.fixture
def store(local: Grid, tmp_path: Path) -> InputStore:
    local.tune("inputs", directory=tmp_path / "store")
    return store_of(local.settings)


def keep(grid: Grid, *inputs: object, base: Path) -> list[Any]:
    """As gridsub sends them; they are given as a description has them then."""
    described, read = read_inputs({"inputs": [*inputs]}, base)
    store = store_of(grid.settings)
    for each in read:
        with each.open() as content:
            assert store.add(grid.site.user, each.sha256, 0, content, each.size) == each.size
        with grid.database.begin() as conn:
            put_sent(conn, grid.site.user, each.sha256, each.size)
    assert isinstance(described, dict)
    return list(described["inputs"])


def some_inputs(grid: Grid, place: Path) -> list[Any]:
    (place / "solver.bin").write_bytes(CONTENT)
    (place / "meshes" / "deep").mkdir(parents=True)
    (place / "meshes" / "deep" / "a mesh\n'\"-").write_bytes(b"mesh")
    (place / "meshes" / "link").symlink_to("deep/a mesh\n'\"-")
    (place / "empty").touch()
    return keep(grid, "solver.bin", {"from": "meshes/", "to": "in/data"}, "empty", base=place)


@pytest.mark.usefixtures("store")
def test_tasks_find_what_their_campaign_takes_along(local: Grid, tmp_path: Path) -> None:
    look = "wc -c <solver.bin; cat in/data/link; cat in/data/deep/*; [ -f empty ] && echo; pwd; echo mine >result"
    local.submit(["1", "2"], command=look, inputs=some_inputs(local, tmp_path), walltime=60)
    local.run_to_end()
    local.assert_each_ran_once(2)
    files = Path(local.site.config["directory"])
    outs = [path.read_text().split("\n") for path in sorted(files.rglob("*.1.out"))]
    assert [out[:2] for out in outs] == [[str(len(CONTENT)), "meshmesh"]] * 2
    places = [Path(out[2]) for out in outs]
    assert len({*places}) == 2, "each task has a directory of its own"
    assert [[path.name for path in place.iterdir()] for place in places] == [["result"]] * 2


@pytest.mark.usefixtures("store")
def test_inputs_are_not_sent_again_and_again_by_an_account_that_is_not_let_in(local: Grid, tmp_path: Path) -> None:
    with local.database.begin() as conn:
        map_user(conn, local.site.name, local.site.user, "ghost")
    local.gateway.close()
    local.gateway = gateway = Refusing("ghost")
    local.submit(["1"], inputs=some_inputs(local, tmp_path), walltime=60)
    told = "SELECT subject, count FROM events WHERE code = 'LOGIN_REFUSED' AND closed_at IS NULL"
    local.run_until(lambda: local.rows(told))
    for _ in range(3):
        local.cycle()
    assert gateway.asked == 1
    assert local.rows(told) == [{"subject": "account ghost on here", "count": 1}]


@pytest.mark.usefixtures("store")
def test_a_directory_that_holds_nothing_but_inputs_does_not_stay(local: Grid, tmp_path: Path) -> None:
    local.submit(["1"], inputs=some_inputs(local, tmp_path)[:1], walltime=60)
    local.run_to_end()
    assert [*Path(local.site.config["directory"]).rglob("*.work")] == []


def lacking(grid: Grid) -> int:
    return int(grid.one("SELECT count(*) FROM campaign_clusters WHERE lacks_inputs"))


def cached(grid: Grid) -> list[Path]:
    return sorted((Path(grid.site.config["directory"]) / grid.one("SELECT key FROM grid") / "cache").glob("*"))


class Gate:
    """Stands before the gateway, and counts what goes through, or spoils it."""

    def __init__(self, grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[int] = []
        self._ask: Any = grid.gateway.request
        self.spoil: Callable[[AppendToCache], AppendToCache] = lambda order: order
        self.cluster: Any = None
        monkeypatch.setattr(grid.gateway, "request", self._count)

    def _count(self, cluster: Any, user: str, order: Any) -> Any:
        if isinstance(order, AppendToCache):
            self.sent.append(len(order.content))
            order = self.spoil(order)
        return self._ask(cluster, user, order)


@pytest.fixture
def gate(local: Grid, store: InputStore, monkeypatch: pytest.MonkeyPatch) -> Gate:
    del store  # first
    monkeypatch.setattr(sending, "PIECE", 100_000)
    monkeypatch.setattr(sending, "LARGEST_PIECE", 100_000)
    return Gate(local, monkeypatch)


@pytest.mark.parametrize(("quick", "most"), [(60.0, 400_000), (-1.0, 100_000)])
def test_a_fast_line_carries_larger_pieces(
    quick: float, most: int, local: Grid, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LARGEST_PIECE", 400_000)
    monkeypatch.setattr(sending, "QUICK_PIECE", quick)
    (tmp_path / "large").write_bytes(CONTENT)
    local.submit(["1"], inputs=keep(local, "large", base=tmp_path), walltime=60)
    local.run_until(lambda: lacking(local) == 0)
    assert gate.sent[:2] == [100_000, min(200_000, most)]
    assert max(gate.sent) == most
    assert sum(gate.sent) == len(CONTENT)


def test_two_campaigns_with_the_same_input_send_it_once(local: Grid, tmp_path: Path, gate: Gate) -> None:
    inputs = some_inputs(local, tmp_path)[:1]
    for _ in range(2):
        local.submit(["1"], command="wc -c <solver.bin >&2", inputs=inputs, walltime=60)
    local.run_to_end()
    local.submit(["1"], command="wc -c <solver.bin >&2", inputs=inputs, walltime=60)
    local.run_to_end()
    assert sum(gate.sent) == len(CONTENT)
    assert local.counts() == {"done": 3}


def test_no_task_starts_before_all_of_it_is_there(
    local: Grid, tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TURN", 300_000)
    local.submit(["1"], inputs=some_inputs(local, tmp_path)[:1], walltime=60)
    local.run_until(lambda: len(gate.sent) == 3)
    assert lacking(local) == 1
    assert local.one("SELECT count(*) FROM jobs") == 0
    assert local.one("SELECT bytes FROM cached_inputs") == 300_000
    local.run_to_end()
    assert sum(gate.sent) == len(CONTENT)


def test_what_came_wrong_is_sent_again(local: Grid, tmp_path: Path, gate: Gate) -> None:
    def spoil(order: AppendToCache) -> AppendToCache:
        gate.spoil = lambda order: order
        return replace(order, content=b"?" + order.content[1:])

    gate.spoil = spoil
    local.submit(["1"], inputs=some_inputs(local, tmp_path)[:1], walltime=60)
    local.run_until(lambda: sum(gate.sent) == len(CONTENT))
    local.run_until(lambda: local.rows("SELECT * FROM events WHERE code = 'INPUTS_NOT_SENT'"))
    assert lacking(local) == 1
    local.run_to_end()
    assert sum(gate.sent) == 2 * len(CONTENT)
    (event,) = local.rows("SELECT message, closed_by FROM events WHERE code = 'INPUTS_NOT_SENT'")
    assert "something else" in event["message"]
    assert event["closed_by"] == "cigri"


def test_a_piece_whose_answer_is_lost_is_not_sent_twice(local: Grid, tmp_path: Path, gate: Gate) -> None:
    def lose(order: AppendToCache) -> AppendToCache:
        if len(gate.sent) % 2:
            gate._ask(gate.cluster, local.site.user, order)
            raise RemoteOutcomeUnknown(local.site.name, "the answer was lost")
        return order

    with local.database.begin() as conn:
        gate.cluster = find_cluster(conn, local.site.name)
    gate.spoil = lose
    local.submit(["1"], inputs=some_inputs(local, tmp_path)[:1], walltime=60)
    local.run_to_end()
    assert sum(gate.sent) == len(CONTENT)


def test_what_is_gone_from_a_cluster_is_sent_again(local: Grid, tmp_path: Path, gate: Gate) -> None:
    inputs = some_inputs(local, tmp_path)[:2]
    local.submit(["1"], command="cat solver.bin in/data/link >/dev/null", inputs=inputs, walltime=60)
    local.run_to_end()
    for path in cached(local):
        subprocess.run(["sh", "-c", 'chmod -R u+w "$0"; rm -rf "$0"', str(path)], check=True)
    campaign = local.submit(["1"], command="cat solver.bin in/data/link >/dev/null", inputs=inputs, walltime=60)
    local.run_to_end()
    assert local.counts() == {"done": 2}
    assert local.one("SELECT deaths FROM tasks WHERE campaign_id = :id", id=campaign) == 1
    assert sum(gate.sent) > 2 * len(CONTENT)


def test_what_the_store_has_lost_is_told(local: Grid, store: InputStore, tmp_path: Path) -> None:
    inputs = some_inputs(local, tmp_path)[:1]
    store.forget(inputs[0]["sha256"])
    campaign = local.submit(["1"], inputs=inputs, walltime=60)
    local.run_until(lambda: local.rows("SELECT * FROM events WHERE code = 'INPUTS_NOT_SENT'"))
    (event,) = local.rows("SELECT * FROM events WHERE code = 'INPUTS_NOT_SENT'")
    assert "submit the campaign again" in event["message"]
    assert event["campaign_id"] == campaign
    with local.database.begin() as conn:
        (part,) = list_parts(conn, [campaign])
        (view,) = list_campaigns(conn, [campaign])
    assert run_status(view, part, NOON, Settings()).state == "inputs"


@pytest.mark.usefixtures("store")
def test_another_account_has_a_cache_of_its_own(local: Grid, tmp_path: Path) -> None:
    local.submit(["1"], inputs=some_inputs(local, tmp_path)[:1], walltime=60)
    local.run_until(lambda: lacking(local) == 0)
    with local.database.begin() as conn:
        map_user(conn, local.site.name, local.site.user, "somebody-else")
    assert lacking(local) == 1
    stager.run_once(local.tools)
    assert lacking(local) == 1, "there is no such account, and nothing in its cache"
    with local.database.begin() as conn:
        map_user(conn, local.site.name, local.site.user, "")
    stager.run_once(local.tools)
    assert lacking(local) == 0


@pytest.mark.usefixtures("store")
def test_the_janitor_removes_what_no_campaign_needs(local: Grid, store: InputStore, tmp_path: Path) -> None:
    inputs = some_inputs(local, tmp_path)
    local.submit(["1"], inputs=inputs[:2], walltime=60)
    local.run_to_end()
    kept = keep(local, {"from": "solver.bin", "to": "x"}, base=tmp_path)
    assert not +Counter({k: v for k, v in janitor.run_once(local.tools).items() if "inputs" in k})
    assert len(cached(local)) == 2
    later = "UPDATE {} SET {} = {} - interval '8 days'"
    with local.database.begin() as conn:
        for table, column in [
            ("campaigns", "ended_at"),
            ("stored_inputs", "stored_at"),
            ("sent_inputs", "sent_at"),
            ("cached_inputs", "at"),
        ]:
            conn.execute(text(later.format(table, column, column)))
    waits = local.submit(["1"], inputs=kept, walltime=60)
    report = janitor.run_once(local.tools)
    assert report["inputs removed"] == 2, "the mesh and the empty file"
    assert report["inputs removed from clusters"] == 1
    assert [path.name for path in cached(local)] == [kept[0]["sha256"]]
    assert store.holds(kept[0]["sha256"])
    assert not store.holds(inputs[1]["sha256"])
    local.run_until(lambda: local.one("SELECT ended_at FROM campaigns WHERE id = :id", id=waits))
    assert local.counts() == {"done": 2}


@pytest.mark.usefixtures("store")
def test_inputs_are_no_outputs(local: Grid, tmp_path: Path) -> None:
    inputs = some_inputs(local, tmp_path)[:2]
    campaign = local.submit(["1"], command="echo mine >result", inputs=inputs, outputs=["*"], walltime=60)
    nothing = local.submit(["1"], inputs=inputs, outputs=["*.none"], walltime=60)
    local.run_to_end()
    assert local.counts() == {"done": 2}
    files = Path(local.site.config["directory"]) / local.one("SELECT key FROM grid")
    assert [path.name for path in files.glob(f"c{campaign}/b*/*.d/*")] == ["result"]
    assert [*files.glob(f"c{nothing}/b*/*.d/*")] == []
    assert len(cached(local)) == 2
