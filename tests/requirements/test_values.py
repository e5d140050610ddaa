"""Values with units and kinds, and versions in their order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.requirements import PropertyValue, ValueKind, property_name, read_value, shown, written
from cigri.requirements.values import version

MB, GB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("raw", "kind", "value"),
    [
        (8, ValueKind.NUMBER, 8),
        ("8", ValueKind.NUMBER, 8),
        (8.0, ValueKind.NUMBER, 8),
        ("-2.5", ValueKind.NUMBER, -2.5),
        (4000, ValueKind.SIZE, 4000 * MB),
        ("16 GB", ValueKind.SIZE, 16 * GB),
        ("16gib", ValueKind.SIZE, 16 * GB),
        ("16G", ValueKind.SIZE, 16 * GB),
        ("512 MB", ValueKind.SIZE, 512 * MB),
        ("1 B", ValueKind.SIZE, 1),
        ("0.3 B", ValueKind.SIZE, 1),
        ("1.5 k", ValueKind.SIZE, 1536),
        (60, ValueKind.DURATION, 60),
        ("1:30", ValueKind.DURATION, 5400),
        ("26:00:01", ValueKind.DURATION, 93601),
        ("2 h", ValueKind.DURATION, 7200),
        ("90 minutes", ValueKind.DURATION, 5400),
        ("1.5 d", ValueKind.DURATION, 129600),
        ("1 week", ValueKind.DURATION, 604800),
        ("Intel Xeon", ValueKind.STRING, "Intel Xeon"),
        (7, ValueKind.STRING, "7"),
        ("1.10", ValueKind.VERSION, "1.10"),
        (True, ValueKind.BOOLEAN, True),
        ("False", ValueKind.BOOLEAN, False),
        (["1 GB", 2048], ValueKind.SIZE, [GB, 2 * GB]),
        ([], ValueKind.SIZE, []),
    ],
)
def test_a_value_is_kept_in_one_unit(raw: object, kind: ValueKind, value: PropertyValue) -> None:
    assert read_value(raw, kind) == (value, kind)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (True, ValueKind.BOOLEAN),
        (4, ValueKind.NUMBER),
        (4.5, ValueKind.NUMBER),
        ("4", ValueKind.STRING),
        ("16 GB", ValueKind.SIZE),
        ("90 min", ValueKind.DURATION),
        ("Intel Xeon", ValueKind.STRING),
        ("2 sockets", ValueKind.STRING),
        (["a", "b"], ValueKind.STRING),
        ([1, 2.5], ValueKind.NUMBER),
        ([], ValueKind.STRING),
    ],
)
def test_the_kind_is_told_by_how_a_value_is_written(raw: object, kind: ValueKind) -> None:
    assert read_value(raw)[1] is kind


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ("8 GB", ValueKind.NUMBER, "expected a number, not '8 GB' (write a number without a unit)"),
        ("100m", ValueKind.NUMBER, "'m' is milli in one place and minutes or megabytes in another"),
        ("100m", ValueKind.SIZE, "(write 'min' or 'MB')"),
        ("100 m", None, "'m' is milli"),
        ("2 h", ValueKind.SIZE, "expected a size, not '2 h' (write '16 GB', or a number of MB)"),
        (-1, ValueKind.SIZE, "expected a size, not -1"),
        ("2 GB", ValueKind.DURATION, "expected a duration"),
        (True, ValueKind.NUMBER, "expected a number, not True"),
        (1, ValueKind.BOOLEAN, "expected true or false, not 1"),
        (1.1, ValueKind.VERSION, "expected a version, not 1.1 (write a version in quotes, as '1.10')"),
        (float("nan"), ValueKind.NUMBER, "expected a number, not nan"),
        (float("inf"), None, "expected a number, not inf"),
        (10**30, None, "a number is too large to be meant"),
        ("99 EB", ValueKind.SIZE, "'99 EB' is too large to be meant"),
        ("a\0", ValueKind.STRING, "expected text"),
        ("a" * 1001, ValueKind.STRING, "a text of 1001 characters is too long"),
        ([1, "a"], None, "a list holds values of one kind, not number and string"),
        ([[1]], None, "expected a number, text, true or false, or a list of these, not [1]"),
        (None, None, "not None"),
        ({}, ValueKind.NUMBER, "expected a number, not {}"),
    ],
)
def test_what_is_no_value_is_told_what_to_write(raw: object, kind: ValueKind | None, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_value(raw, kind)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (192 * GB, ValueKind.SIZE, "192 GB"),
        (196304 * MB, ValueKind.SIZE, "191.7 GB"),
        (0, ValueKind.SIZE, "0 B"),
        (5400, ValueKind.DURATION, "90 min"),
        (0, ValueKind.DURATION, "0 s"),
        (True, None, "true"),
        ("it's", None, "'it\\'s'"),
        ([1, 2], ValueKind.NUMBER, "[1, 2]"),
    ],
)
def test_a_value_is_shown_short(value: PropertyValue, kind: ValueKind | None, text: str) -> None:
    assert shown(value, kind) == text


@given(st.integers(0, 2**62), st.sampled_from([ValueKind.NUMBER, ValueKind.SIZE, ValueKind.DURATION]))
def test_an_amount_is_written_to_the_letter(amount: int, kind: ValueKind) -> None:
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
