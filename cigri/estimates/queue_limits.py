"""Limits that a batch system has for an account, found by what it takes and what it refuses; pure.

Long form: docs/explanation/scheduling.md#limits-of-an-account.
"""

from typing import NamedTuple

MOST_MISSES = 3
"""So many refusals in a row of what was taken before are a lower limit; fewer may be jobs that have just ended."""
LOOK_SHARE = 8  # a look goes beyond what is known by an eighth


class QueueBounds(NamedTuple):
    """Of what is in the queue at a time: `most` was taken, `refused` was not (None: nothing since the last look).

    `misses`: refusals in a row of no more than `most`; `looks`: how often more was refused in vain, which makes pauses
    longer.
    """

    most: int
    refused: int | None
    misses: int = 0
    looks: int = 0

    def allowed(self, *, is_due: bool) -> int:
        """How much may be in the queue; `is_due`: it is time to look for more."""
        if self.refused is None:
            return 2 * self.most + 1
        if self.refused - self.most > 1:
            return (self.most + self.refused) // 2
        return self.most + (max(1, self.most // LOOK_SHARE) if is_due else 0)

    def after_taken(self, present: int) -> "QueueBounds":
        """The last of `present` was taken just now."""
        if present <= self.most:
            return self._replace(misses=0)
        if self.refused is None or present >= self.refused:
            return QueueBounds(present, None)
        return self._replace(most=present, misses=0)

    def after_refused(self, present: int, size: int) -> "QueueBounds":
        """While `present` were in the queue, `size` more were not taken."""
        total = present + size
        if total <= self.most and self.misses + 1 < MOST_MISSES:
            return self._replace(misses=self.misses + 1)
        is_look = self.refused is None or total >= self.refused
        most = self.most if total > self.most else present
        return QueueBounds(most, total, 0, self.looks + is_look)


def first_bounds(present: int, size: int) -> QueueBounds:
    """What the first refusal tells."""
    return QueueBounds(present, present + size)
