"""Which tasks of a job stood still while their job did."""

from collections.abc import Sequence


def shared_out(halted: float, side: int, told: float, durations: Sequence[float]) -> list[float]:
    """How many seconds of each of these durations their tasks stood still; pure.

    Their job, which has `side` of them at a time, did so for `halted` seconds; `told` of that was subtracted from its
    earlier tasks. What stood still lasted at least as long, so the longest come first.
    """
    left, shares = max(halted * side - told, 0.0), [0.0] * len(durations)
    for place in sorted(range(len(durations)), key=lambda place: -durations[place]):
        shares[place] = max(min(durations[place], halted, left), 0.0)
        left -= shares[place]
    return shares
