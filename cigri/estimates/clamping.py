"""What was measured, within what can be: clocks jump, sums overflow, clusters answer nonsense; pure.

Whoever reckons takes its figures through here first, and then has numbers from 0 to `largest`, none of them inf or nan.
"""

LARGEST_PLAUSIBLE = 1e30  # more than the squares of the durations of a million tasks of a year each
LARGEST_INTEGER = 2**31 - 1  # that a column of whole numbers takes
LARGEST_TIME = 1e10  # seconds: 300 years


def within(figure: float, largest: float = LARGEST_TIME) -> float:
    """The nearest figure from 0 to `largest`; 0 for nan."""
    return min(largest, max(0.0, figure))  # in this order: max(nan, 0.0) is nan


def known_within(figure: float | None, largest: float = LARGEST_TIME) -> float | None:
    """As `within`; None, for what is not known, stays None."""
    return None if figure is None else within(figure, largest)


def known_speed(speed: float | None) -> float | None:
    """None, too, for a speed that is no number, not above 0, or beyond what can be."""
    return speed if speed is not None and 1 / LARGEST_TIME <= speed <= LARGEST_TIME else None


def are_within(figures: tuple[float, ...], largest: float = LARGEST_TIME) -> bool:
    """Nearly always, and this is faster than to look at each: the sum shows nan and inf, which comparisons hide."""
    return 0.0 <= sum(figures) <= largest and min(figures) >= 0.0
