"""What fits, and what starts next: pure."""

from hypothesis import given
from hypothesis import strategies as st

from cigri.localbatch.backfill_queue import PASSING_PATIENCE, BackfillQueue, JobArray
from cigri.localbatch.pools import ResourcePools

NEEDS = st.fixed_dictionaries(
    {"cpu": st.integers(1, 5)}, optional={"mem": st.integers(0, 12), "gpu": st.integers(0, 2)}
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), NEEDS, st.integers(1, 6)),
        st.tuples(st.just("end"), st.integers(0, 30), st.none()),
        st.tuples(st.just("cancel"), st.integers(1, 30), st.integers(1, 6)),
        st.tuples(st.just("restart"), st.none(), st.none()),
    ),
    max_size=60,
)


def make(array_id: int, size: int = 1, **need: int) -> JobArray:
    array = JobArray(array_id, 0, f"a{array_id}", size, need, 60, 0, ("/bin/true",))
    array.left.extend(range(1, size + 1))
    return array


def chosen(waiting: BackfillQueue, now: float = 0.0, limit: int = 100) -> list[tuple[int, int]]:
    return [(array.id, index) for array, index in waiting.choose(now, limit)]


class Model:
    """A cluster that remembers what runs, beside the code under test."""

    def __init__(self) -> None:
        self.totals = {"cpu": 4, "mem": 10, "gpu": 1}
        self.arrays: list[JobArray] = []
        self.running: list[tuple[JobArray, int]] = []
        self.seen: set[tuple[int, int]] = set()
        self.restart()

    def restart(self) -> None:
        self.pools = ResourcePools(self.totals)
        self.waiting = BackfillQueue(self.pools, patience=3)
        for array, _ in self.running:
            self.pools.take(array.need)
        for array in self.arrays:
            self.waiting.add(array)

    def submit(self, need: dict[str, int], size: int) -> None:
        if not self.pools.impossible(need):
            self.arrays.append(make(len(self.arrays) + 1, size, **need))
            self.waiting.add(self.arrays[-1])

    def end(self, which: int) -> None:
        if self.running:
            array, _ = self.running.pop(which % len(self.running))
            self.pools.give(array.need)

    def start(self, now: float) -> None:
        started = self.waiting.choose(now, 100)
        for array, index in started:
            assert (array.id, index) not in self.seen
            self.seen.add((array.id, index))
        self.running += started


@given(STEPS)
def test_the_sums_never_exceed_the_pools_and_no_job_is_chosen_twice(steps: list[tuple[str, object, object]]) -> None:
    model = Model()
    for now, (what, first, second) in enumerate(steps):
        match what, first, second:
            case "submit", dict(need), int(size):
                model.submit(need, size)
            case "end", int(which), _:
                model.end(which)
            case "cancel", int(which), int(index) if which <= len(model.arrays):
                model.waiting.remove(model.arrays[which - 1], [index])
            case "restart", _, _:
                model.restart()
        model.start(now)
        for name, total in model.totals.items():
            used = sum(array.need.get(name, 0) for array, _ in model.running)
            assert used <= total
            assert model.pools.free(name) == total - used


@given(STEPS)
def test_every_job_starts_in_the_end(steps: list[tuple[str, object, object]]) -> None:
    model = Model()
    for what, first, second in steps:
        if what == "submit" and isinstance(first, dict) and isinstance(second, int):
            model.submit(first, second)
    for now in range(500):
        model.start(now)
        model.end(0)
    assert len(model.seen) == sum(array.size for array in model.arrays)


def test_first_come_first_served() -> None:
    waiting = BackfillQueue(ResourcePools({"cpu": 2}))
    waiting.add(make(1, size=3, cpu=1))
    waiting.add(make(2, cpu=1))
    assert chosen(waiting) == [(1, 1), (1, 2)]


def test_a_smaller_job_passes_one_that_does_not_fit() -> None:
    waiting = BackfillQueue(pools := ResourcePools({"cpu": 2}))
    pools.take({"cpu": 1})
    waiting.add(make(1, cpu=2))
    waiting.add(make(2, cpu=1))
    assert chosen(waiting) == [(2, 1)]


def test_the_first_job_is_passed_for_a_minute_only() -> None:
    waiting = BackfillQueue(pools := ResourcePools({"cpu": 3}))
    pools.take({"cpu": 1})
    waiting.add(make(1, cpu=3))
    waiting.add(make(2, size=4, cpu=1))
    assert chosen(waiting, now=0, limit=1) == [(2, 1)]
    pools.give({"cpu": 1})
    assert chosen(waiting, now=PASSING_PATIENCE - 1, limit=1) == [(2, 2)]
    pools.give({"cpu": 1})
    assert chosen(waiting, now=PASSING_PATIENCE) == []
    pools.give({"cpu": 1})
    assert chosen(waiting, now=PASSING_PATIENCE + 1) == [(1, 1)]


def test_an_array_that_no_longer_fits_the_host_holds_nobody_up() -> None:
    waiting = BackfillQueue(pools := ResourcePools({"cpu": 1}))
    waiting.add(make(1, cpu=4))
    waiting.add(make(2, size=2, cpu=1))
    assert chosen(waiting, now=0) == [(2, 1)]
    pools.give({"cpu": 1})
    assert chosen(waiting, now=PASSING_PATIENCE) == [(2, 2)]
    assert waiting.reason(make(1, cpu=4)) == "a job asks for cpu=4, the cluster has 1"


def test_what_running_jobs_hold_after_the_pool_was_shrunk_is_still_charged() -> None:
    pools = ResourcePools({"cpu": 1})
    pools.take({"cpu": 2, "gpu": 1})
    assert pools.free("cpu") == -1
    pools.give({"cpu": 2, "gpu": 1})
    assert pools.free("cpu") == 1
    assert pools.shortage({"cpu": 2}) == "needs cpu=2, free 1"
