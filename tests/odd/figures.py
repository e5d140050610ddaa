"""Figures that nobody would write down, and that a clock, a sum or a broken cluster brings about all the same."""

from datetime import UTC, datetime
from math import inf, isnan, nan

from hypothesis import Phase, settings
from hypothesis import strategies as st

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ODD = (0.0, -0.0, inf, -inf, nan, -1.0, 5e-324, 1e-320, 1e-9, 0.5, 1.0, 60.0, 3600.0, 1e12, 1.7e308, -1.7e308)

floats = st.one_of(st.sampled_from(ODD), st.floats())
plausible = st.one_of(st.sampled_from((0.0, 1e-308, 1e-9, 0.5, 1.0, 60.0, 3600.0, 1e7, 1e10)), st.floats(0.0, 1e10))
sums = st.one_of(plausible, st.sampled_from((1e20, 1e30)))
counts = st.one_of(st.sampled_from((0, 1, 2, 3, 1000, 2**31 - 1, 2**53 + 1, 2**63 - 1)), st.integers(0, 100))
wholes = st.one_of(counts, st.integers(-100, -1), st.just(-(2**31)))
widths = st.one_of(st.integers(1, 9), st.just(2**31 - 1))
binned = st.lists(counts, max_size=120)
dates = st.one_of(
    st.sampled_from((datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), NOW)),
    st.datetimes(timezones=st.just(UTC)),
)


def maybe(some: st.SearchStrategy[float]) -> st.SearchStrategy[float | None]:
    return st.one_of(st.none(), some)


# what fails is small enough, and to make it smaller takes minutes of a busy machine
quickly = settings(max_examples=60, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def is_figure(value: float) -> bool:
    """A number that others can reckon and compare with, be it infinite."""
    return not isnan(value)
