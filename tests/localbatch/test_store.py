"""What is remembered, and for how long."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from cigri.localbatch.backfill_queue import JobArray
from cigri.localbatch.store import JobStore, LocalJobRow, LocalJobState, read_rows


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    return JobStore(str(tmp_path / "state.db"))


def add(store: JobStore, name: str, size: int, ended: float | None = None) -> int:
    array_id = store.add_array(JobArray(0, 7, name, size, {"cpu": 1}, 60, 0, ("/bin/true",)))
    if ended is not None:
        store.put_jobs(
            LocalJobRow(array_id, index, LocalJobState.SUCCEEDED, ended=ended) for index in range(1, size + 1)
        )
        store.end_array(array_id, ended)
    return array_id


def known(store: JobStore, *names: str) -> list[str]:
    return [name for name in names if store.find_array(7, name)]


def test_old_arrays_are_forgotten_with_their_jobs(store: JobStore) -> None:
    old, _ = add(store, "old", 2, ended=99.0), add(store, "new", 2, ended=101.0)
    store.forget(before=100.0, keep=1000)
    assert known(store, "old", "new") == ["new"]
    assert store.get_job(old, 1) is None


def test_the_oldest_arrays_are_forgotten_when_there_are_too_many_jobs(store: JobStore) -> None:
    for name, ended in (("a", 1.0), ("c", 3.0), ("b", 2.0)):
        add(store, name, 4, ended)
    add(store, "live", 100)
    store.forget(before=0.0, keep=8)
    assert known(store, "a", "b", "c", "live") == ["b", "c", "live"]


def test_the_id_of_a_forgotten_array_is_never_used_again(store: JobStore) -> None:
    first = add(store, "first", 1, ended=1.0)
    store.forget(before=2.0, keep=10)
    assert add(store, "second", 1) > first


def test_what_has_no_row_still_waits(store: JobStore) -> None:
    array_id = add(store, "array", 4)
    store.put_jobs(
        [LocalJobRow(array_id, 1, LocalJobState.RUNNING), LocalJobRow(array_id, 3, LocalJobState.KILLED, ended=1.0)]
    )
    [array] = store.live_arrays()
    assert list(array.left) == [2, 4]
    assert [job.position for job in store.live_jobs()] == [1]


def test_another_boot_is_noticed_once(store: JobStore) -> None:
    assert [store.boot(boot) for boot in ("a", "a", "b", "b")] == [False, False, True, False]


def test_jobs_and_arrays_are_read_as_they_were_written(store: JobStore) -> None:
    array = JobArray(0, 7, "array", 9, {"cpu": 2, "mem": 30}, 60, 5, ("/bin/echo", "a b"))
    array.id = store.add_array(array)
    job = LocalJobRow(array.id, 8, LocalJobState.FAILED, "token", 1.5, 2.5, 33, 44, "cancelled", 5.5, 66, "because")
    store.put_jobs([job])
    assert store.find_array(7, "array") == array
    assert store.get_job(array.id, 8) == job


class Parcel(NamedTuple):
    """What the statements below select."""

    sender: str
    weight: int


@pytest.mark.parametrize(
    "columns",
    ["3 AS weight, 'ada' AS sender", "'ada' AS sender, 3 AS size", "'ada' AS sender", "'ada' AS sender, 3, 4"],
)
def test_rows_with_other_columns_than_the_fields_are_refused(columns: str) -> None:
    db = sqlite3.connect(":memory:")
    assert read_rows(Parcel, db.execute("SELECT 'ada' AS sender, 3 AS weight")) == [Parcel("ada", 3)]
    with pytest.raises(TypeError, match="Parcel has the fields sender, weight, not"):
        read_rows(Parcel, db.execute(f"SELECT {columns}"))
    db.close()
