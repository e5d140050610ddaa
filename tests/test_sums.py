"""Which files each task takes along, as a text that is sent."""

from io import BytesIO

import pytest

from cigri.errors import UsageError
from cigri.inputs.sums import read_sums, written_sums

SUMS = [["a" * 64, "0" * 64], ["b" * 64, "1" * 64], ["a" * 64, "2" * 64]]


def sent(text: str) -> BytesIO:
    return BytesIO(text.encode())


def test_what_is_written_is_read() -> None:
    assert [*read_sums(sent("".join(written_sums(7, SUMS))), 7, 2)] == SUMS
    assert [*read_sums(sent("".join(written_sums(0, []))), 0, 2)] == []


@pytest.mark.parametrize("line", ["", "a" * 64, " ".join(["a" * 64] * 3), f"{'a' * 64} {'A' * 64}", "a\tb", "\0"])
def test_a_line_that_has_not_the_sums_of_its_task_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="the line of task 8 has not the sums of 2 files"):
        [*read_sums(sent("".join(written_sums(7, SUMS[:1])) + line + "\n"), 7, 2)]


def test_sums_of_other_tasks_are_refused() -> None:
    with pytest.raises(UsageError, match="not those of tasks from number 3 on"):
        [*read_sums(sent("".join(written_sums(7, SUMS))), 3, 2)]


def test_a_line_without_an_end_is_not_read_to_its_end() -> None:
    endless = sent("".join(written_sums(0, [])) + "a" * 10_000_000)
    with pytest.raises(UsageError, match="the line of task 0"):
        [*read_sums(endless, 0, 2)]
    assert endless.tell() < 1000
