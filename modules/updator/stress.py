"""How much may be asked of a front-end: less, the longer it is under stress, and slowly more when it is not; pure.

Signs of stress are answers that take SLOW times what is usual of it, a high load, and submissions of several campaigns
refused. Under stress the pace is halved in REACTION seconds, down to LOWEST; else it comes back in RECOVERY seconds.
What is usual follows slower answers only in the course of hours, so that a lasting stress is not soon taken for it.
"""

from cigri.flow.front_end_stress import FrontEndRate, FrontEndSample

SLOW = 4.0  # times the usual answer
SHORTEST_SLOW = 5.0  # seconds; what answers sooner is not slow
MANY_REFUSED = 3  # campaigns
REACTION = 30.0
RECOVERY = 600.0
LOWEST = 0.05
LONGEST_STEP = 60.0  # seconds between two looks that count
STRESS_FADES = 14_400.0  # seconds in which what is usual comes near to slower answers
RECOVERS = "it recovers; the last sign was: "  # which a setting that was changed since may not take for one
QUICKER = 0.2  # of the difference, at each quicker answer


def next_pace(before: FrontEndRate, seen: FrontEndSample, most_load: float) -> FrontEndRate:
    """The pace, the part of the usual that may be asked, after one more look.

    Under stress pace * 2^(-seconds / REACTION), else pace + seconds / RECOVERY; between LOWEST and 1.
    """
    usual = _usual(before.usual, seen)
    why = "; ".join(_signs(before.usual or seen.answer, seen, most_load))
    step = min(seen.elapsed, LONGEST_STEP)
    pace = before.pace * 0.5 ** (step / REACTION) if why else before.pace + step / RECOVERY
    pace = min(1.0, max(LOWEST, pace))
    if pace < 1.0 and not why:
        why = RECOVERS + before.why.removeprefix(RECOVERS)
    return FrontEndRate(pace, usual, why)


def _signs(usual: float, seen: FrontEndSample, most_load: float) -> list[str]:
    signs = []
    if seen.answer > max(SHORTEST_SLOW, SLOW * usual):
        signs.append(f"it answers in {seen.answer:.1f} s, usually in {usual:.1f} s")
    if seen.load is not None and seen.load > most_load:
        signs.append(f"load per core {seen.load:.1f} (limit {most_load:g})")
    if seen.refused >= MANY_REFUSED:
        signs.append(f"it refused jobs of {seen.refused} campaigns")
    return signs


def _usual(usual: float | None, seen: FrontEndSample) -> float:
    """Seconds of a usual answer, averaged: a quicker one weighs QUICKER, a slower one its time / STRESS_FADES."""
    if usual is None:
        return seen.answer
    weight = QUICKER if seen.answer < usual else min(1.0, min(seen.elapsed, LONGEST_STEP) / STRESS_FADES)
    return usual + weight * (seen.answer - usual)
