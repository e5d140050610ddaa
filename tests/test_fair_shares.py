"""Who gets how much of what there is; pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.estimates.fair_shares import fair_shares


def test_what_one_does_not_want_goes_to_the_others() -> None:
    assert fair_shares(90, {"a": 100, "b": 100, "c": 100}, {}) == {"a": 30, "b": 30, "c": 30}
    assert fair_shares(90, {"a": 100, "b": 10, "c": 100}, {}) == {"a": 40, "b": 10, "c": 40}
    assert fair_shares(90, {"a": 100, "b": 100}, {"a": 2}) == {"a": 60, "b": 30}
    assert fair_shares(90, {"a": 20, "b": 10}, {}) == {"a": 20, "b": 10}
    assert fair_shares(90, {"a": 100, "b": 0}, {}) == {"a": 90, "b": 0}
    assert fair_shares(90, {"a": 100, "b": 100}, {"a": 0}) == {"a": 0, "b": 90}


@given(st.floats(0, 1e6), st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1e6)))
def test_fair_shares_give_all_that_is_wanted_and_no_more(total: float, wanted: dict[str, float]) -> None:
    shares = fair_shares(total, wanted, {})
    assert sum(shares.values()) == pytest.approx(min(total, sum(wanted.values())), abs=1e-6)
    assert all(shares[user] <= wanted[user] for user in wanted)
