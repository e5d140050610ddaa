"""What tasks write as the last thing that they do, beside what became of these attempts: has each been done once?

A program that answers TERM by ending well looks the same as one that had just ended by itself, so the wrapper tells
neither as a success. An attempt of which it wrote down that it was asked to end may have said its last word before, and
its task is rightly done again. No other attempt may have said it but the one that succeeded.
"""

from collections import Counter
from typing import NamedTuple

from tests.grid import Grid


class LastWord(NamedTuple):
    campaign: int
    number: int
    attempt: int


def saying(path: str) -> str:
    """Sh text that a task's program says it by."""
    return f"echo $CIGRI_CAMPAIGN_ID.$CIGRI_TASK_NUMBER.$CIGRI_ATTEMPT >>{path}"


def read_words(said: str) -> Counter[LastWord]:
    return Counter(LastWord(*map(int, word.split("."))) for word in said.split())


def done_twice(grid: Grid, said: Counter[LastWord]) -> list[LastWord]:
    """Words said twice, or by an attempt that neither succeeded nor has a record of being asked to end."""
    may_be_said = _attempts(grid, "success", "preempted", "withdrawn")
    return sorted(word for word, times in said.items() if times > 1 or word not in may_be_said)


def never_said(grid: Grid, said: Counter[LastWord]) -> list[LastWord]:
    """Successes that did not run to their end."""
    return sorted(_attempts(grid, "success") - said.keys())


def _attempts(grid: Grid, *outcomes: str) -> set[LastWord]:
    """Those that ended so by the wrapper's own record, which says when they began."""
    rows = grid.rows(
        "SELECT campaign_id, t.number, a.number AS attempt FROM attempts a JOIN tasks t ON t.id = task_id"
        " WHERE started_at IS NOT NULL AND outcome::text = ANY (:outcomes)",
        outcomes=list(outcomes),
    )
    return {LastWord(row["campaign_id"], row["number"], row["attempt"]) for row in rows}
