"""What OAR says of jobs that wait: those for which no resources are there go elsewhere, and back once these are."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.grid import Grid

pytestmark = pytest.mark.cluster

OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
SAID = "SELECT said, meaning, is_stuck, jobs FROM waiting_reasons ORDER BY said"
ABSENT = "network_address = 'delta-n1'"
VAIN = "no resources that are there have what it asks for (No enough matching resources (no_matching_slot))"


def set_state(grid: Grid, state: str) -> None:
    grid.site.sh(f"oarnodesetting -s {state} -h delta-n1 >/dev/null", user="root")


@pytest.fixture
def half(delta: Grid) -> Iterator[Grid]:
    """OAR of whose two nodes the first is not there, and the cluster `first`, which is that node alone."""
    options = delta.site.config["options"] | {"properties": ABSENT}
    delta.add(replace(delta.site, name="first", config=delta.site.config | {"options": options}))
    set_state(delta, "Absent")
    yield delta
    set_state(delta, "Alive")


def test_what_waits_for_a_node_that_is_not_there_goes_to_another_cluster(half: Grid) -> None:
    alone = half.submit(["1"], clusters={"first": {}})
    half.run_until(lambda: half.rows(OPEN))
    [told] = half.rows(OPEN)
    assert (told["code"], told["subject"]) == ("JOBS_CANNOT_START", f"campaign {alone} on first")
    assert f"1 of its jobs wait there for what does not come by itself: {VAIN}; none of its other" in told["message"]
    moved = half.submit(["1", "2"], clusters={"first": {}, "delta": {}}, name="moved")
    half.run_until(lambda: half.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=moved))
    assert half.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 1
    set_state(half, "Alive")
    half.run_to_end()
    half.cycle()
    assert half.rows(SAID) == []
    assert half.rows(OPEN) == []
    half.assert_sane()


def test_whose_turn_has_not_come_is_told_without_what_differs_from_job_to_job(delta: Grid) -> None:
    delta.site.sh("oarsub -l /nodes=2/core=8,walltime=0:10 'sleep 600' >/dev/null", user="bob")
    delta.submit(["1", "2"])
    delta.run_until(lambda: delta.rows(SAID))
    delta.run_until(lambda: delta.rows("SELECT 1 FROM waiting_reasons WHERE starts_at > now()"))
    meaning = "its turn has not come: cores are in use, or others go first"
    assert [tuple(row.values()) for row in delta.rows(SAID)] == [("quota_ok", meaning, False, 2)]
    assert delta.rows(OPEN) == []
