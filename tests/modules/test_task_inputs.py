"""Tasks with inputs of their own run where these are: each file is sent once, ahead of need, and not everywhere."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.cli.sending_inputs import Sendable
from cigri.flow.clusters import map_user
from cigri.flow.stored_inputs import put_many_sent
from cigri.flow.submissions import put_tasks
from cigri.flow.views.campaigns import list_campaigns, list_parts
from cigri.gateway.requests import AppendToCache, SendFiles
from cigri.identity.callers import Caller
from cigri.inputs.store import InputStore, store_of
from cigri.inputs.task_files import read_files
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from modules import janitor, stager, updator
from modules.stager.placing import STANDSTILL
from tests.factories import NOON
from tests.grid import Grid, local_site, until

LOOK = "cat case.dat; [ ! -e shared ] || cat shared; echo mine >result"


@pytest.fixture(autouse=True)
def store(local: Grid, tmp_path: Path) -> InputStore:
    local.tune("inputs", directory=tmp_path / "store")
    return store_of(local.settings)


def send(grid: Grid, wanted: Sequence[object], parameters: Sequence[Any], base: Path, first: int = 0) -> Any:
    """As gridsub does; what a description has then, and the sums of each task."""
    read = read_files(wanted, [*parameters], first, base)
    sent: list[Sendable] = [*read.files, read.sums]
    user, store = grid.site.user, store_of(grid.settings)
    for file in sent:
        with file.open() as content:
            assert store.put(user, file.sha256, content.read())
    with grid.database.begin() as conn:
        put_many_sent(conn, user, {file.sha256: file.size for file in sent})
    lines = read.sums.text.decode().splitlines()[1:]
    return read.described, [line.split() for line in lines]


def cases(place: Path, number: int) -> list[dict[str, int]]:
    (place / "cases").mkdir(exist_ok=True)
    for case in range(number):
        (place / "cases" / f"{case}.dat").write_text(f"case {case}\n")
    return [{"case": case} for case in range(number)]


WANTED = ({"from": "cases/{case}.dat", "to": "case.dat"},)


def submit(grid: Grid, place: Path, parameters: list[Any], *wanted: object, **settings: Any) -> int:
    described, sums = send(grid, wanted or WANTED, parameters, place)
    return grid.submit(
        parameters,
        command=settings.pop("command", LOOK),
        task_inputs=described,
        own_directory=True,
        sums=sums,
        walltime=60,
        **settings,
    )


def outs(grid: Grid) -> list[str]:
    return sorted(path.read_text() for path in Path(grid.site.config["directory"]).rglob("*.[0-9]*.out"))


def test_each_task_finds_its_own_files(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path, cases(tmp_path, 5))
    local.run_to_end()
    local.assert_each_ran_once(5)
    assert outs(local) == [f"case {case}\n" for case in range(5)]


class Counting:
    """Stands before the gateway, and counts what is sent."""

    def __init__(self, grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sums: list[str] = []
        self._ask: Any = grid.gateway.request
        monkeypatch.setattr(grid.gateway, "request", self._count)

    def _count(self, cluster: Any, user: str, order: Any) -> Any:
        if isinstance(order, SendFiles):
            self.sums += order.sums
        if isinstance(order, AppendToCache) and order.offset == 0:
            self.sums.append(order.file.sha256)
        return self._ask(cluster, user, order)


def test_a_file_of_many_tasks_is_sent_once(local: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(local, monkeypatch)
    (tmp_path / "common").write_text("common\n")
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    wanted = (*WANTED, {"from": "common", "to": "shared"}, {"from": "large", "to": "in/deep/large"})
    for _ in range(2):
        submit(local, tmp_path, cases(tmp_path, 5), *wanted, command=f"{LOOK}; wc -c <in/deep/large")
    local.run_to_end()
    assert local.counts() == {"done": 10}
    assert outs(local) == sorted([f"case {case}\ncommon\n100000\n" for case in range(5)] * 2)
    assert len(counting.sums) == len({*counting.sums}) == 7
    kept = [path.name for path in Path(local.site.config["directory"]).rglob("*.work/*")]
    assert kept == ["result"] * 10, "inputs are no outputs"


def test_no_more_is_sent_ahead_than_will_soon_run(local: Grid, tmp_path: Path) -> None:
    local.tune("inputs", ahead=4)
    submit(local, tmp_path, cases(tmp_path, 60), command="cat case.dat")
    local.run_until(lambda: local.one("SELECT count(*) FROM task_places WHERE is_furnished"))
    assert local.one("SELECT count(*) FROM task_places") == 16, "four for each of four cores"
    assert local.one("SELECT count(*) FROM cached_inputs") == 16
    local.run_to_end()
    local.assert_each_ran_once(60)
    stager.run_once(local.tools)
    assert local.one("SELECT count(*) FROM task_places") == 0


def test_a_task_starts_when_its_own_files_are_there(local: Grid, store: InputStore, tmp_path: Path) -> None:
    parameters = cases(tmp_path, 4)
    lost = sha256(b"case 2\n").hexdigest()
    campaign = submit(local, tmp_path, parameters)
    store.forget(lost)
    local.run_until(lambda: local.rows("SELECT * FROM events WHERE code = 'INPUTS_NOT_SENT'"))
    assert local.one("SELECT count(*) FROM jobs") == 0
    with local.database.begin() as conn:
        (part,), (view,) = list_parts(conn, [campaign]), list_campaigns(conn, [campaign])
    assert run_status(view, part, NOON, Settings()).state == "inputs"
    assert store.put(local.site.user, lost, b"case 2\n")
    local.run_to_end()
    local.assert_each_ran_once(4)


def furnish(grid: Grid, tasks: int) -> None:
    """The files of all are there, and none has been started."""

    def are_there() -> bool:
        stager.run_once(grid.tools)
        return bool(grid.one("SELECT count(*) FROM task_places WHERE is_furnished") == tasks)

    until(are_there)


def test_what_is_gone_from_a_cluster_is_sent_again(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path, cases(tmp_path, 3))
    updator.run_once(local.tools)
    furnish(local, 3)
    gone = [path for path in Path(local.site.config["directory"]).rglob("cache/*") if path.read_bytes() == b"case 1\n"]
    gone[0].unlink()
    local.run_to_end()
    assert local.counts() == {"done": 3}
    assert local.one("SELECT sum(deaths) FROM tasks") >= 1


def test_another_account_gets_them_too(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path, cases(tmp_path, 2))
    updator.run_once(local.tools)
    furnish(local, 2)
    with local.database.begin() as conn:
        map_user(conn, local.site.name, local.site.user, "somebody-else")
    stager.run_once(local.tools)
    assert local.one("SELECT count(*) FROM task_places WHERE is_furnished") == 0


def test_tasks_added_later_have_theirs(local: Grid, tmp_path: Path) -> None:
    parameters = cases(tmp_path, 4)
    campaign = submit(local, tmp_path, parameters[:2])
    _, sums = send(local, WANTED, parameters[2:], tmp_path, first=2)
    with local.database.begin() as conn:
        put_tasks(conn, campaign, Caller(local.site.user), parameters[2:], sums)
    local.run_to_end()
    local.assert_each_ran_once(4)
    assert outs(local) == [f"case {case}\n" for case in range(4)]


def test_tasks_leave_a_cluster_that_does_not_start_them(local: Grid, tmp_path: Path) -> None:
    """As where it is full or away, and another one has nothing left."""
    local.add(local_site(tmp_path / "spool", "away"))
    with local.database.begin() as conn:
        columns = "cluster_id, at, total, free, used, used_by_us, unavailable"
        conn.execute(text(f"INSERT INTO cluster_states ({columns}) SELECT id, now(), 4, 4, 0, 0, 0 FROM clusters"))
    submit(local, tmp_path, cases(tmp_path, 8), clusters={local.site.name: {}, "away": {}})
    stager.run_once(local.tools)
    away = "(SELECT id FROM clusters WHERE name = 'away')"
    assert local.one(f"SELECT count(*) FROM task_places WHERE cluster_id = {away}") == 4
    with local.database.begin() as conn:
        conn.execute(text("UPDATE clusters SET is_enabled = false WHERE name = 'away'"))
    local.run_until(lambda: local.counts() == {"waiting": 4, "done": 4})
    assert local.one(f"SELECT count(*) FROM task_places WHERE cluster_id = {away}") == 4, "they have waited for moments"
    with local.database.begin() as conn:
        late = text(f"UPDATE task_places SET at = at - make_interval(secs => :seconds) WHERE cluster_id = {away}")
        conn.execute(late, {"seconds": STANDSTILL})
    local.run_to_end()
    local.assert_each_ran_once(8)


def test_files_of_tasks_go_when_these_are_over(local: Grid, store: InputStore, tmp_path: Path) -> None:
    submit(local, tmp_path, cases(tmp_path, 3))
    local.run_to_end()
    assert "inputs removed from clusters" not in janitor.run_once(local.tools)
    with local.database.begin() as conn:
        conn.execute(text("UPDATE cached_inputs SET at = at - interval '2 hours'"))
    assert janitor.run_once(local.tools)["inputs removed from clusters"] == 3
    assert store.holds(sha256(b"case 0\n").hexdigest()), "the grid keeps it for some days"
    with local.database.begin() as conn:
        for table, column in (("campaigns", "ended_at"), ("stored_inputs", "stored_at"), ("sent_inputs", "sent_at")):
            conn.execute(text(f"UPDATE {table} SET {column} = {column} - interval '8 days'"))
    assert janitor.run_once(local.tools)["inputs removed"] == 4
    assert not store.holds(sha256(b"case 0\n").hexdigest())
