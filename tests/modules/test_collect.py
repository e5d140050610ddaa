"""Outputs come back by themselves: each task's whole and once, to where its user wants them, and then go from there."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.errors import RemoteOutcomeUnknown
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.ends import EndedAttempt, put_ended
from cigri.flow.tasks import redo_tasks
from cigri.flow.views.campaigns import list_campaigns, list_parts
from cigri.gateway.requests import FetchOutputFilePart, FetchOutputFiles
from cigri.identity.callers import Caller
from cigri.lifecycle.verdicts import STAYS
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from cigri.states import Outcome, TaskState
from cigri.wrapper.output_fetching import OutputFilePart
from modules import janitor, stager
from modules.stager import cluster_files, collecting
from tests.factories import NOON
from tests.grid import Grid
from tests.groups import access, other_group

PROGRAM = 'mkdir log; echo "$CIGRI_TASK_NUMBER" >result; echo a >log/a.txt; : >log/b.txt; : >other'
OUTPUTS = ["result", "log/*.txt"]
LARGE = 3_000_000  # bytes


def submit(grid: Grid, to: Path | str, count: int = 3, command: str = PROGRAM, **fields: Any) -> int:
    collect = {"to": str(to), **fields.pop("collect", {})}
    outputs = fields.pop("outputs", OUTPUTS)
    params = [str(number) for number in range(count)]
    return grid.submit(params, command=command, outputs=outputs, collect=collect, walltime=60, **fields)


def contents(place: Path) -> dict[str, str]:
    files = {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}
    return {name: path.read_text() for name, path in files.items() if not name.startswith(".cigri")}


def expected(*numbers: int) -> dict[str, str]:
    each = {"result": "{}\n", "log/a.txt": "a\n", "log/b.txt": ""}
    return {f"{n}/{name}": content.format(n) for n in numbers for name, content in each.items()}


def on_cluster(grid: Grid) -> list[Path]:
    return sorted(Path(grid.site.config["directory"]).rglob("*.d"))


def counted(grid: Grid) -> tuple[int, ...]:
    names = ("uncollected", "uncollected_bytes", "collected", "lost")
    (row,) = grid.rows(f"SELECT {', '.join(names)} FROM campaign_clusters")
    return tuple(row[name] for name in names)


def events(grid: Grid, code: str) -> list[Any]:
    return grid.rows("SELECT * FROM events WHERE code = :code", code=code)


def pieces(order: object) -> bool:
    return isinstance(order, FetchOutputFiles | FetchOutputFilePart)


class Gate:
    """Stands before the gateway: counts what comes, or spoils it."""

    def __init__(self, grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
        self.came: list[int] = []
        self.spoil: Callable[[object, list[OutputFilePart]], list[OutputFilePart]] = lambda _, pieces: pieces
        self._ask: Any = grid.gateway.request
        monkeypatch.setattr(grid.gateway, "request", self._pass)

    def _pass(self, cluster: Any, user: str, order: Any) -> Any:
        answer = self._ask(cluster, user, order)
        if not pieces(order):
            return answer
        answer = self.spoil(order, answer)
        self.came.append(sum(len(piece.content) for piece in answer))
        return answer


@pytest.fixture
def gate(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(local, monkeypatch)


def test_outputs_come_to_where_their_user_wants_them(local: Grid, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "results"
    submit(local, place)
    local.run_to_end()
    assert contents(place) == expected(0, 1, 2)
    assert local.counts() == {"done": 3}
    local.run_until(lambda: on_cluster(local) == [])
    assert counted(local) == (0, 0, 3, 0)
    assert [path.name for path in (place / ".cigri-1").iterdir()] == ["made"]
    local.assert_sane()


def test_outputs_are_shared_as_their_campaign_says(local: Grid, tmp_path: Path) -> None:
    group = other_group()
    submit(local, tmp_path / "results", 1, outputs_mode={"mode": "0664", "group": group.gr_name})
    local.run_to_end()
    place = tmp_path / "results"
    assert {access(made) for made in (place, place / "0", place / "0" / "log")} == {(0o775, group.gr_gid)}
    assert access(place / "0" / "log" / "a.txt") == (0o664, group.gr_gid)
    assert access(place / ".cigri-1")[0] == 0o700


def test_a_group_that_is_unknown_to_the_grid_is_an_event(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path / "results", 1, outputs_mode={"group": "nobody-knows-it"})
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    (event,) = events(local, "OUTPUTS_NOT_COLLECTED")
    assert event["message"] == "outputs_mode: there is no group nobody-knows-it on this host"
    assert not (tmp_path / "results").exists()


def test_in_the_grids_store_all_is_the_grids_alone(
    local: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cigri.outputs.store.may_deliver", lambda _user: False)
    local.tune("outputs", directory=(store := tmp_path / "store"))
    submit(local, tmp_path / "results", 1, outputs_mode="0644")
    local.run_to_end()
    assert {access(made)[0] for made in (store, *store.rglob("*"))} == {0o700, 0o600}


def test_a_place_is_made_of_the_number_wherever_it_stands(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path / "run-{number}" / "out", count=2)
    local.run_to_end()
    assert (tmp_path / "run-1" / "out" / "result").read_text() == "1\n"
    assert sorted(path.name for path in tmp_path.glob("run-*")) == ["run-0", "run-1"]


def test_a_campaign_ends_when_all_has_come(local: Grid, tmp_path: Path, gate: Gate) -> None:
    def lose(*_: object) -> list[OutputFilePart]:
        raise RemoteOutcomeUnknown(local.site.name, "the answer was lost")

    gate.spoil = lose
    campaign = submit(local, tmp_path / "results")
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    local.run_until(lambda: local.counts() == {"done": 3})
    local.cycle()
    with local.database.begin() as conn:
        (view,) = list_campaigns(conn, [campaign])
    assert (view.ended_at, view.uncollected, view.uncollected_bytes, view.collected) == (None, 3, 12, 0)
    gate.spoil = lambda _, pieces: pieces
    local.run_to_end()
    assert contents(tmp_path / "results") == expected(0, 1, 2)
    assert {event["closed_by"] for event in events(local, "OUTPUTS_NOT_COLLECTED")} == {"cigri"}


def test_without_a_place_nothing_comes_by_itself(local: Grid, tmp_path: Path) -> None:
    local.submit(["0"], command=PROGRAM, outputs=OUTPUTS, walltime=60)
    local.run_to_end()
    assert counted(local) == (0, 0, 0, 0)
    assert len(on_cluster(local)) == 1


def test_what_failed_tasks_leave_comes_where_it_is_wanted(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path / "all", 1, f"{PROGRAM}; exit 3", collect={"when": "end"})
    submit(local, tmp_path / "none", 1, f"{PROGRAM}; exit 3")
    local.run_until(lambda: contents(tmp_path / "all"))
    assert contents(tmp_path / "all") == expected(0)
    assert contents(tmp_path / "none") == {}
    assert local.counts() == {"failed": 2}


def test_what_has_come_stays_as_long_as_is_wanted(local: Grid, tmp_path: Path) -> None:
    submit(local, tmp_path / "results", 1, collect={"keep": "7d"})
    local.run_to_end()
    stager.run_once(local.tools)
    assert len(on_cluster(local)) == 1
    with local.database.begin() as conn:
        conn.execute(text("UPDATE parcels SET remove_at = remove_at - interval '7 days'"))
    stager.run_once(local.tools)
    assert on_cluster(local) == []
    assert contents(tmp_path / "results") == expected(0)


def test_more_than_is_allowed_stays_on_the_cluster(local: Grid, tmp_path: Path) -> None:
    command = '[ "$CIGRI_TASK_NUMBER" = 0 ] || head -c 1100000 /dev/zero >big; echo 1 >result'
    campaign = submit(local, tmp_path / "results", 2, command, outputs=["*"], collect={"max": "1 MB"})
    local.run_to_end()
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"0", ".cigri-1"}
    (event,) = events(local, "OUTPUTS_TOO_LARGE")
    assert event["message"].startswith("outputs of task 1 are more than 1 MB or 100000 files, so they stay on here")
    assert f"`gridget {campaign} --tasks 1`" in event["message"]
    assert len(on_cluster(local)) == 1
    assert counted(local) == (0, 0, 1, 1)


def test_a_directory_that_we_have_not_made_stays(local: Grid, tmp_path: Path) -> None:
    place = tmp_path / "results"
    (place / "1").mkdir(parents=True)
    (place / "1" / "mine").write_text("mine")
    (place / "0").mkdir()
    submit(local, place)
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    (event,) = events(local, "OUTPUTS_NOT_COLLECTED")
    assert f"{place}/1 was not made by this campaign, so it stays: move it" in event["message"]
    assert contents(place) == {**expected(0, 2), "1/mine": "mine"}
    assert counted(local)[0] == 1
    (place / "1").rename(place / "moved")
    local.run_to_end()
    assert contents(place) == {**expected(0, 1, 2), "moved/mine": "mine"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_nothing_is_written_over_or_through_what_stands_there(kind: str, local: Grid, tmp_path: Path) -> None:
    place = tmp_path / "results"
    place.mkdir()
    (tmp_path / "secret").mkdir()
    if kind == "file":
        (place / "0").write_text("mine")
    else:
        (place / "0").symlink_to(tmp_path / "secret")
    submit(local, place, 1)
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    assert [*(tmp_path / "secret").iterdir()] == []
    assert (place / "0").is_symlink() == (kind == "link")


def test_a_task_done_again_never_mixes_two_attempts(local: Grid, tmp_path: Path) -> None:
    mark = tmp_path / "again"
    command = f"[ -e {mark} ] && echo second >b || echo first >a; [ -e {mark} ]"
    campaign = submit(local, tmp_path / "results", 1, command, outputs=["*"], collect={"when": "end"})
    local.run_until(lambda: contents(tmp_path / "results"))
    assert contents(tmp_path / "results") == {"0/a": "first\n"}
    mark.touch()
    with local.database.begin() as conn:
        redo_tasks(conn, campaign, Caller(local.site.user, False), None, [TaskState.FAILED])
    local.assert_sane()
    local.run_to_end()
    assert contents(tmp_path / "results") == {"0/b": "second\n", "0.attempt-1/a": "first\n"}
    local.assert_sane()


def test_what_is_not_all_there_is_given_up_and_told(local: Grid, tmp_path: Path) -> None:
    place = tmp_path / "results"
    place.mkdir()
    (place / "1").write_text("in the way")
    campaign = submit(local, place)
    local.run_until(lambda: counted(local)[2] == 2)
    for parcel in on_cluster(local):
        (parcel / "result").unlink(missing_ok=True)
    (place / "1").unlink()
    local.run_to_end()
    (event,) = events(local, "OUTPUTS_LOST")
    assert "outputs of task 1 are not all on here any more" in event["message"]
    assert f"`gridget {campaign} --tasks 1`" in event["message"]
    assert counted(local) == (0, 0, 2, 1)
    assert contents(place) == expected(0, 2)
    local.assert_sane()


LIES: dict[str, Callable[[list[OutputFilePart]], list[OutputFilePart]]] = {
    "more bytes": lambda told: [piece._replace(size=(piece.size or 0) + 9, content=b"123456789") for piece in told],
    "huge": lambda told: [piece._replace(size=10**15) for piece in told],
    "more files": lambda told: [
        *told,
        *(piece._replace(file=piece.file._replace(path=piece.file.path + b"x")) for piece in told),
    ],
    "above": lambda told: [
        piece._replace(file=piece.file._replace(path=b"../../" + piece.file.path)) for piece in told
    ],
    "absolute": lambda told: [piece._replace(file=piece.file._replace(path=b"/" + piece.file.path)) for piece in told],
    "a file that is a directory": lambda told: [
        *told[:1],
        *(piece._replace(file=piece.file._replace(path=told[0].file.path + b"/x")) for piece in told[1:]),
    ],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_cluster_that_lies_writes_nothing_elsewhere(lie: str, local: Grid, tmp_path: Path, gate: Gate) -> None:
    gate.spoil = lambda _, told: LIES[lie](told)
    place = tmp_path / "deep" / "results"
    submit(local, place, 1)
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED") or events(local, "OUTPUTS_LOST"))
    assert {path.name for path in place.iterdir()} <= {".cigri-1"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"results"}
    written = [path.stat().st_size for path in place.rglob("*") if path.is_file() and path.name != "made"]
    assert sum(written) <= 10
    local.assert_sane()


def test_a_large_file_goes_on_where_it_was(
    local: Grid, tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cigri.outputs.assembling.WRITTEN_AGAIN", 100_000)
    monkeypatch.setattr(cluster_files, "MOST_ASKED", cluster_files.LEAST_ASKED)
    left = [5]

    def cut(_: object, told: list[OutputFilePart]) -> list[OutputFilePart]:
        left[0] -= 1
        if left[0] == 0:
            raise RemoteOutcomeUnknown(local.site.name, "the connection was cut")
        return told

    gate.spoil = cut
    submit(local, tmp_path / "results", 1, f"yes 0123456789 | head -c {LARGE} >big", outputs=["big"])
    local.run_to_end()
    content = (tmp_path / "results" / "0" / "big").read_bytes()
    assert content == (b"0123456789\n" * LARGE)[:LARGE]
    assert sum(gate.came) < LARGE + 200_000 + cluster_files.LEAST_ASKED


def test_others_have_their_turn_beside_a_large_file(
    local: Grid, tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cigri.outputs.assembling.WRITTEN_AGAIN", 100_000)
    monkeypatch.setattr(cluster_files, "MOST_ASKED", cluster_files.LEAST_ASKED)
    monkeypatch.setattr(collecting, "TURN_OF_CLUSTER", 1_000_000)
    monkeypatch.setattr(collecting, "TURN_OF_CAMPAIGN", 1_000_000)
    submit(local, tmp_path / "large", 1, f"yes 0123456789 | head -c {LARGE} >big", outputs=["big"])
    local.run_until(lambda: local.counts() == {"done": 1})
    stager.run_once(local.tools)
    local.run_to_end()
    assert (tmp_path / "large" / "0" / "big").stat().st_size == LARGE
    assert events(local, "OUTPUTS_NOT_COLLECTED") == []


def test_another_campaign_is_not_held_up(local: Grid, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    submit(local, tmp_path / "file" / "results", 1)
    submit(local, tmp_path / "results", 1)
    local.run_until(lambda: contents(tmp_path / "results"))
    (event,) = events(local, "OUTPUTS_NOT_COLLECTED")
    assert event["campaign_id"] == 1
    assert "cannot be written" in event["message"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 20 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("spare", [16 * 2**20, -(10**9)], ids=["it is seen before", "a write fails"])
def test_a_full_disk_loses_nothing(spare: int, small_disk: Path, local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cigri.outputs.assembling.SPARE", spare)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 19_000_000)
    submit(local, small_disk / "results", 2, f"yes | head -c {LARGE} >big", outputs=["big"])
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    assert any(word in events(local, "OUTPUTS_NOT_COLLECTED")[0]["message"] for word in ("no room", "No space left"))
    assert counted(local)[2:] == (0, 0)
    filler.unlink()
    monkeypatch.setattr("cigri.outputs.assembling.SPARE", 0)
    local.run_to_end()
    assert [(small_disk / "results" / str(n) / "big").stat().st_size for n in range(2)] == [LARGE, LARGE]
    assert events(local, "OUTPUTS_LOST") == []


def test_uncollected_outputs_stop_new_jobs(local: Grid, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    local.tune("outputs", most=1)
    few = {"max_jobs": 2, "temporal_grouping": False, "dimensional_grouping": False}
    command = "head -c 600000 /dev/zero >result"
    campaign = submit(local, tmp_path / "file" / "x", 12, command, outputs=["result"], **few)
    local.run_until(lambda: local.one("SELECT bool_or(outputs_wait) FROM campaign_clusters"))
    with local.database.begin() as conn:
        (part,) = list_parts(conn, [campaign])
        (view,) = list_campaigns(conn, [campaign])
    assert run_status(view, part, NOON, Settings()).state == "outputs"
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state <> 'ended'") == 0)
    assert local.counts()["waiting"] > 0
    (tmp_path / "file").unlink()
    local.run_to_end()
    assert local.counts() == {"done": 12}


def test_what_was_done_of_a_cancelled_campaign_still_comes(local: Grid, tmp_path: Path) -> None:
    place = tmp_path / "results"
    place.mkdir()
    (place / "0").write_text("in the way")
    campaign = submit(local, place, 1)
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    with local.database.begin() as conn:
        assert cancel_campaign(conn, campaign, Caller(local.site.user, False))
    (place / "0").unlink()
    local.run_until(lambda: contents(place))
    assert contents(place) == expected(0)
    local.assert_sane()


def test_what_is_purged_is_awaited_no_longer(local: Grid, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    campaign = submit(local, tmp_path / "file" / "x", 1)
    local.run_until(lambda: events(local, "OUTPUTS_NOT_COLLECTED"))
    janitor.run_once(local.tools)
    assert len(on_cluster(local)) == 1, "nothing of an open campaign is purged"
    with local.database.begin() as conn:
        assert cancel_campaign(conn, campaign, Caller(local.site.user, False))
        conn.execute(text("UPDATE campaigns SET ended_at = ended_at - interval '31 days'"))
    janitor.run_once(local.tools)
    assert on_cluster(local) == []
    assert counted(local) == (0, 0, 0, 0)
    local.assert_sane()


def test_only_the_winner_of_replicas_counts(local: Grid, tmp_path: Path) -> None:
    """The other is superseded, whatever it leaves."""
    campaign = submit(local, tmp_path / "results", 1)
    local.run_until(lambda: local.rows("SELECT * FROM attempts"))
    with local.database.begin() as conn:
        cluster = conn.execute(text("SELECT id FROM clusters")).scalar_one()
        task = conn.execute(text("SELECT id FROM tasks")).scalar_one()
        job = conn.execute(text("SELECT id FROM jobs")).scalar_one()
        lost = EndedAttempt(campaign, job, task, 1, Outcome.SUPERSEDED, 0, None, None, STAYS, files=3, bytes=9)
        put_ended(conn, cluster, [lost], [])
    assert counted(local) == (0, 0, 0, 0)
