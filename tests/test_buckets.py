"""Rounding groups tasks; what each of them asks for stays exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.eligibility.queues import wanted_of
from cigri.errors import CigriError
from cigri.jdl.task_amounts import BucketSorter, PeakAmount, exact, exact_together, find_peaks, rounded
from cigri.requirements import BUILT_IN, NO_REQUIREMENT, JobShape, judge_job
from cigri.resources.bucket_amounts import amounts_of, formulas_of

MEM = {"mem": "{size} GB"}


def test_sizes_are_rounded_up_to_three_significant_bits() -> None:
    assert sorted({rounded(amount) for amount in range(81)}) == [
        *range(9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80,
    ]  # fmt: skip
    assert rounded(65537) == 81920
    assert len({rounded(amount) for amount in range(1, 2**20 + 1)}) == 76


@given(st.integers(0, 2**53), st.lists(st.integers(1, 2**53)).map(sorted))
def test_rounding_adds_at_most_a_quarter_and_never_crosses_what_a_node_has(amount: int, sizes: list[int]) -> None:
    size = rounded(amount, sizes)
    assert amount <= size <= amount * 1.25
    assert all(size <= there for there in sizes if amount <= there)
    assert rounded(size, sizes) == size


def test_tasks_that_ask_for_about_the_same_are_in_one_bucket() -> None:
    sorting = BucketSorter([MEM, {"gpu": "{gpus}"}, MEM], {"mem": [5000]})
    keys = [sorting.key({"size": size, "gpus": 1}, 0) for size in (3, 3.4, 3.5, 4.5, 4.9)]
    assert keys == [(1, 3072), (1, 3584), (1, 3584), (1, 5000), (1, 5120)]
    amounts = sorting.amounts(keys[0])
    assert amounts == {"gpu": {"{gpus}": 1}, "mem": {"{size} GB": 3072}}
    assert sorting.key_of(amounts) == keys[0]
    assert amounts_of({"amounts": amounts}, MEM) == {"mem": 3072}
    assert amounts_of({}, {}) == {}


def test_what_a_job_is_given_is_exact_and_enough_for_each_of_its_tasks() -> None:
    wanted = {"mem": "{size} GB", "gpu": "2 - {size}"}
    assert exact(wanted, {"size": 1.3}, 0) == {"mem": 1332, "gpu": 1}
    assert exact_together(wanted, [({"size": 1.3}, 0), ({"size": 0.1}, 1)]) == {"mem": 1332, "gpu": 2}
    assert exact_together({}, [("a", 0)]) == {}


def test_the_formulas_of_stored_settings_are_what_is_no_number() -> None:
    assert formulas_of({"resources": {"cpu": 1, "mem": "{a} GB", "native": ["/nodes=1"], "gpu": 2}}) == {
        "mem": "{a} GB"
    }
    assert formulas_of({}) == {}


def test_every_task_is_looked_at_and_wrong_ones_are_told_by_their_number() -> None:
    peaks, problems = find_peaks([MEM, MEM], [{"size": size} for size in (1, "x", 3, 2, -1)])
    assert peaks == {("mem", "{size} GB"): PeakAmount(3072, 2)}
    assert [str(problem) for problem in problems] == [
        "task 1: resources.mem: size is no number: 'x'",
        "task 4: resources.mem: {size} GB is negative",
    ]
    peaks, problems = find_peaks([MEM], [{"size": "x"}] * 50)
    assert len(problems) == 21
    assert str(problems[-1]) == "params: 30 more amounts cannot be computed"


def test_a_task_whose_amounts_cannot_be_computed_has_no_bucket() -> None:
    with pytest.raises(CigriError, match=r"task 7: resources\.mem: size is no number"):
        BucketSorter([MEM], {}).key({"size": "x"}, 7)


def test_a_bucket_is_judged_by_all_that_its_tasks_compute() -> None:
    resources = {"mem": "{size} GB", "tmp": "{size}", "gpu": 1}
    bucket = {"amounts": {"mem": {"{size} GB": 3072}, "tmp": {"{size}": 5}}}
    shape = wanted_of(NO_REQUIREMENT, {"resources": resources, "walltime": 60}, bucket).shape
    assert shape == JobShape(1, 1, 3 * 2**30, 60, {"gpu": 1, "tmp": 5})
    nodes = {"memory": 4 * 2**30, "gpus": 1, "tmp": 4}
    reject = judge_job(NO_REQUIREMENT, shape, nodes, BUILT_IN)
    assert reject is not None
    assert reject.name == "tmp"
    assert judge_job(NO_REQUIREMENT, shape, {**nodes, "tmp": 5}, BUILT_IN) is None
