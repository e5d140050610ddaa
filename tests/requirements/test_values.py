"""Values with units and kinds, and versions in their order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.requirements import Kind, Value, property_name, read_value, shown, written
from cigri.requirements.values import version

MB, GB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("raw", "kind", "value"),
    [
        (8, Kind.NUMBER, 8),
        ("8", Kind.NUMBER, 8),
        (8.0, Kind.NUMBER, 8),
        ("-2.5", Kind.NUMBER, -2.5),
        (4000, Kind.SIZE, 4000 * MB),
        ("16 GB", Kind.SIZE, 16 * GB),
        ("16gib", Kind.SIZE, 16 * GB),
        ("16G", Kind.SIZE, 16 * GB),
        ("512 MB", Kind.SIZE, 512 * MB),
        ("1 B", Kind.SIZE, 1),
        ("0.3 B", Kind.SIZE, 1),
        ("1.5 k", Kind.SIZE, 1536),
        (60, Kind.DURATION, 60),
        ("1:30", Kind.DURATION, 5400),
        ("26:00:01", Kind.DURATION, 93601),
        ("2 h", Kind.DURATION, 7200),
        ("90 minutes", Kind.DURATION, 5400),
        ("1.5 d", Kind.DURATION, 129600),
        ("1 week", Kind.DURATION, 604800),
        ("Intel Xeon", Kind.STRING, "Intel Xeon"),
        (7, Kind.STRING, "7"),
        ("1.10", Kind.VERSION, "1.10"),
        (True, Kind.BOOLEAN, True),
        ("False", Kind.BOOLEAN, False),
        (["1 GB", 2048], Kind.SIZE, [GB, 2 * GB]),
        ([], Kind.SIZE, []),
    ],
)
def test_a_value_is_kept_in_one_unit(raw: object, kind: Kind, value: Value) -> None:
    assert read_value(raw, kind) == (value, kind)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (True, Kind.BOOLEAN),
        (4, Kind.NUMBER),
        (4.5, Kind.NUMBER),
        ("4", Kind.STRING),
        ("16 GB", Kind.SIZE),
        ("90 min", Kind.DURATION),
        ("Intel Xeon", Kind.STRING),
        ("2 sockets", Kind.STRING),
        (["a", "b"], Kind.STRING),
        ([1, 2.5], Kind.NUMBER),
        ([], Kind.STRING),
    ],
)
def test_the_kind_is_told_by_how_a_value_is_written(raw: object, kind: Kind) -> None:
    assert read_value(raw)[1] is kind


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ("8 GB", Kind.NUMBER, "expected a number, not '8 GB' (write a number without a unit)"),
        ("100m", Kind.NUMBER, "'m' is milli in one place and minutes or megabytes in another"),
        ("100m", Kind.SIZE, "(write 'min' or 'MB')"),
        ("100 m", None, "'m' is milli"),
        ("2 h", Kind.SIZE, "expected a size, not '2 h' (write '16 GB', or a number of MB)"),
        (-1, Kind.SIZE, "expected a size, not -1"),
        ("2 GB", Kind.DURATION, "expected a duration"),
        (True, Kind.NUMBER, "expected a number, not True"),
        (1, Kind.BOOLEAN, "expected true or false, not 1"),
        (1.1, Kind.VERSION, "expected a version, not 1.1 (write a version in quotes, as '1.10')"),
        (float("nan"), Kind.NUMBER, "expected a number, not nan"),
        (float("inf"), None, "expected a number, not inf"),
        (10**30, None, "a number is too large to be meant"),
        ("99 EB", Kind.SIZE, "'99 EB' is too large to be meant"),
        ("a\0", Kind.STRING, "expected text"),
        ("a" * 1001, Kind.STRING, "a text of 1001 characters is too long"),
        ([1, "a"], None, "a list holds values of one kind, not number and string"),
        ([[1]], None, "expected a number, text, true or false, or a list of these, not [1]"),
        (None, None, "not None"),
        ({}, Kind.NUMBER, "expected a number, not {}"),
    ],
)
def test_what_is_no_value_is_told_what_to_write(raw: object, kind: Kind | None, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_value(raw, kind)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (192 * GB, Kind.SIZE, "192 GB"),
        (196304 * MB, Kind.SIZE, "191.7 GB"),
        (0, Kind.SIZE, "0 B"),
        (5400, Kind.DURATION, "90 min"),
        (0, Kind.DURATION, "0 s"),
        (True, None, "true"),
        ("it's", None, "'it\\'s'"),
        ([1, 2], Kind.NUMBER, "[1, 2]"),
    ],
)
def test_a_value_is_shown_short(value: Value, kind: Kind | None, text: str) -> None:
    assert shown(value, kind) == text


@given(st.integers(0, 2**62), st.sampled_from([Kind.NUMBER, Kind.SIZE, Kind.DURATION]))
def test_an_amount_is_written_to_the_letter(amount: int, kind: Kind) -> None:
    assert read_value(written(amount, kind), kind)[0] == amount


def test_versions_are_in_order() -> None:
    row = ["", "1.9rc1", "1.9", "1.9.1", "1.10beta", "1.10rc1", "1.10.0", "1.10.1", "2.0a", "2", "10"]
    assert sorted(reversed(row), key=version) == row
    assert version("1.10") == version("01.10.0")


def test_names_of_properties_are_kept_in_small_letters() -> None:
    assert property_name("CPUModel") == "cpumodel"
    for wrong in ("", "1a", "a-b", "é", "a b"):
        with pytest.raises(ValueError, match="is no name of a property"):
            property_name(wrong)
