"""Amounts of resources: how they are written, and what they are for each task."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.jdl.amounts import LARGEST_AMOUNT, formula, read_amount, values_of
from cigri.jdl.parameters import Parameter


def of_task(text: str, parameter: Parameter, number: int = 0, *, is_size: bool = True) -> int:
    return formula(text, is_size=is_size).amount(values_of(parameter, number, is_size=is_size))


@pytest.mark.parametrize(
    ("value", "megabytes"),
    [
        (0, 0),
        (300, 300),
        (1.5, 2),
        ("300", 300),
        ("512 MB", 512),
        ("512mb", 512),
        ("1 K", 1),
        ("1025 kB", 2),
        ("2 GB", 2048),
        ("2GiB", 2048),
        (".5 G", 512),
        ("1 T", 2**20),
        ("1 P", 2**30),
        ("1e3", 1000),
        ("2 * 3 GB", 6144),
        ("(1 + 1) GB - 24", 2024),
        ("max(1 GB, 100, 2000 MB)", 2000),
        ("min(1 GB, 100)", 100),
        ("3 GB / 3 * 2", 2048),
        ("20 / 3 * 3", 20),
    ],
)
def test_a_size_is_in_megabytes_and_rounded_up(value: object, megabytes: int) -> None:
    assert read_amount(value, is_size=True) == megabytes


@pytest.mark.parametrize(("value", "count"), [(2, 2), ("2", 2), ("4 K", 4096), ("1 MB", 2**20), (2.0, 2), ("6 / 3", 2)])
def test_what_has_no_unit_of_its_own_is_counted_in_ones(value: object, count: int) -> None:
    assert read_amount(value, is_size=False) == count


@pytest.mark.parametrize(
    ("value", "is_size", "message"),
    [
        ("10m", True, "a thousandth"),
        ("1 m", False, "a thousandth"),
        ("{a} * 5m", True, "a thousandth"),
        ("2 apples", True, "an amount of memory or disk"),
        ("2 apples * 3", True, "'apples' is no unit"),
        (-1, True, "an amount of memory or disk"),
        (True, True, "an amount of memory or disk"),
        ([1], False, "a whole number, 0 or more"),
        (1.5, False, "a whole number, 0 or more"),
        ("3 / 2", False, "a whole number, 0 or more"),
        ("1e400", True, "an amount of memory or disk"),
        ("1 / 0", True, "an amount of memory or disk"),
        ("{a} + ", True, "an amount is expected at the end"),
        ("({a}", True, "')' is expected at the end"),
        ("{a} {b}", True, "'{b}' is not expected there"),
        ("{a} ** 2", True, "an amount is expected before '*'"),
        ("pow({a}, 2)", True, "an amount is expected before 'pow'"),
        ("max {a}", True, "'(' is expected before '{a}'"),
        ("{a b}", True, "{a b} is no name of a parameter"),
        ("{0}", True, "{0} is no name of a parameter"),
        ("{CAMPAIGN_ID}", True, "the campaign has no number yet"),
        ("{a}; import os", True, "';' has no place in an amount"),
        ("__import__('os')", True, "'_' has no place in an amount"),
        ("{a} + " * 50 + "1", True, "longer than 200 characters"),
    ],
)
def test_what_is_no_amount_is_refused(value: object, is_size: bool, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_amount(value, is_size=is_size)


@pytest.mark.parametrize(
    ("text", "parameter", "amount"),
    [
        ("{size} * 2 GB", {"size": 3}, 6144),
        ("{size} GB", {"size": 0.1}, 103),
        ("{ size }", {"size": "2 GB"}, 2048),
        ("{size}", {"size": "7"}, 7),
        ("{a} + {b} * 2", {"a": 1, "b": 3}, 7),
        ("-{a} + 10", {"a": 3}, 7),
        ("{} * 10", "12", 120),
        ("{1} + {2}", "12 30 name", 42),
        ("{2}", ["name", "30"], 30),
        ("{2}", "'a name' 30", 30),
        ("{index} + 1", "anything", 6),
    ],
)
def test_an_amount_is_computed_for_each_task(text: str, parameter: Parameter, amount: int) -> None:
    assert read_amount(text, is_size=True) == text
    assert of_task(text, parameter, 5) == amount


@pytest.mark.parametrize(
    ("text", "parameter", "message"),
    [
        ("{size}", {"sizes": 3}, "no parameter is called 'size'; did you mean 'sizes'?"),
        ("{size}", "3", "no parameter is called 'size': words have numbers"),
        ("{}", "3 4", "{} is the only word of a parameter, and this has 2"),
        ("{3}", "3 4", "there is no word {3}, the parameter has 2"),
        ("{a}", {"a": "big"}, "a is no number: 'big'"),
        ("{a}", {"a": True}, "a is no number: True"),
        ("{a}", {"a": float("inf")}, "a is no number: inf"),
        ("{a}", {"a": "1" * 300}, "a is no number"),
        ("{a}", {"a": "3m"}, "a thousandth"),
        ("{a} - 4", {"a": 3}, "{a} - 4 is negative"),
        ("1 / {a}", {"a": 0}, "divides by zero"),
        ("{a} * {a}", {"a": 10**12}, f"is more than {LARGEST_AMOUNT}"),
    ],
)
def test_an_amount_that_cannot_be_computed_says_why(text: str, parameter: Parameter, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        of_task(text, parameter)


SOUP = st.text(alphabet=string.printable + "{}()*/+-,", max_size=220)


@given(SOUP)
def test_no_text_is_more_than_refused(text: str) -> None:
    try:
        amount = read_amount(text, is_size=True)
    except ValueError:
        return
    assert isinstance(amount, str) or 0 <= amount <= LARGEST_AMOUNT


@given(st.integers(0, 10**6), st.integers(1, 1000), st.sampled_from(["{a} * {b}", "{b} * ({a})", "{a} * {b} + 0 K"]))
def test_whole_numbers_are_exact(a: int, b: int, text: str) -> None:
    assert of_task(text, {"a": a, "b": b}) == a * b
