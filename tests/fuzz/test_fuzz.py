"""The readers of what users write, with other texts each time, for as long as there is time.

Each is a test of properties elsewhere, with a few hundred texts there. A reader that hangs is ended by the time-out.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.jdl import test_amounts as amounts
from tests.jdl import test_dirac as dirac
from tests.requirements import test_expression as expression
from tests.requirements import test_rfc as rfc

SECONDS = 15
"""Of each; half a minute for two side by side."""
TEXTS_AT_ONCE = 100
FUZZED: dict[str, tuple[Callable[..., None], SearchStrategy[Any]]] = {
    "a job of DIRAC's": (dirac.test_any_text_is_read_or_refused_at_a_place, dirac.SOUP | st.text()),
    "an expression": (expression.test_any_text_is_read_or_refused_at_a_column, expression.SOUP | st.text()),
    "requirements": (rfc.test_any_object_is_read_or_refused_in_words, st.dictionaries(rfc.KEYS, rfc.RAW)),
    "an amount": (amounts.test_no_text_is_more_than_refused, amounts.SOUP | st.text()),
}


@pytest.mark.fuzz
@pytest.mark.timeout(6 * SECONDS)
@pytest.mark.parametrize("what", FUZZED)
def test_nothing_that_is_written_hangs_or_breaks_its_reader(what: str) -> None:
    test, texts = FUZZED[what]
    reader = test.hypothesis.inner_test  # type: ignore[attr-defined]
    again = settings(max_examples=TEXTS_AT_ONCE, derandomize=False, database=None)(given(texts)(reader))
    rounds, end = 0, monotonic() + SECONDS
    while monotonic() < end:
        again()
        rounds += 1
    assert rounds > 0
