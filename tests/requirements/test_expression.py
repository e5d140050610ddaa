"""Expressions: what they mean, the column of what is wrong, and that no text hangs their reader."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cigri.errors import RequirementError
from cigri.requirements import PropertyValue, ValueKind, judge, parse_requirement
from tests.requirements.made import EXPRESSIONS, KINDS

GB = 1024**3
NODE: dict[str, PropertyValue] = {
    "memory": 192 * GB,
    "cores": 32,
    "max_walltime": 5400,
    "platform": "x86_64",
    "features": ["avx2", "IB"],
    "os": "1.10",
    "el7": False,
    "gpu_mem": [16 * GB, 40 * GB],
}


@pytest.mark.parametrize(
    "text",
    [
        "memory >= 192 GB",
        "memory >= 196608",
        "memory == 192GiB and memory != 1 TB",
        "memory < 0.2 T",
        "cores in [16, 32]",
        "cores not in [16]",
        "not cores in [16, 64]",
        "max_walltime >= 1:30:00",
        "max_walltime >= 90 min and max_walltime <= 1.5 hours",
        "Platform == 'x86_64'",
        'platform == "x86_64"',
        "platform != 'it\\'s'",
        "features == 'avx2'",
        "'avx2' in features and 'avx512' not in features",
        "avx2 and ib",
        "not el7",
        "not el8",
        "el7 == false",
        "os >= 1.9 and os < '1.11' and os == '1.10.0'",
        "gpu_mem >= 40 GB and (cores == 1 or not el7)",
        "gpu_mem >= 16 GB AND (platform == 'x' OR NOT el7)",
        "absent == 1 or cores == 32",
        "not (absent == 1 and cores == 1)",
        "",
    ],
)
def test_what_the_node_satisfies(text: str) -> None:
    assert judge(parse_requirement(text, KINDS), NODE, KINDS) is None


@pytest.mark.parametrize(
    "text",
    [
        "memory > 192 GB",
        "memory >= 192.001 GB",
        "max_walltime >= 91 min",
        "platform == 'X86_64'",
        "os > '1.10'",
        "os < 1.9",
        "features != 'avx2'",
        "el7",
        "el7 == true",
        "cores == 16 or avx512",
        "gpu_mem >= 41 GB",
        "gpu_mem not in [16 GB, 1 GB]",
        "absent == 1",
        "absent != 1",
        "not (absent == 1)",
        "not (absent == 1 and cores == 32)",
        "gpu_mem >= '1.1'",
        "platform >= 1",
        "el7 == 0",
    ],
)
def test_what_it_does_not(text: str) -> None:
    kinds = {name: kind for name, kind in KINDS.items() if name not in ("platform", "el7")}
    assert judge(parse_requirement(text, kinds), NODE, kinds) is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory >= 16 XB", "column 11: expected a size, not '16 XB' (write '16 GB', or a number of MB)"),
        ("memory >= 16 m", "column 11: 'm' is milli in one place and minutes or megabytes in another"),
        ("memory >= big", "column 11: expected a value, not 'big' (put text in quotes)"),
        ("memory", "column 1: memory is a size, it has to be compared"),
        ("platform > 'a'", "column 10: platform is a string, of which none is more than another"),
        ("el7 < true", "column 5: el7 is a boolean, of which none is more than another"),
        ("unknown == 5 foo", "column 12: '5 foo' has a unit that is not known"),
        ("unknown in [1, 'a']", "column 16: expected a number, not 'a'"),
        ("cores == 1e99", "column 10: '1e99' is too large to be meant"),
        ("cores = 1", "column 7: '=' is not known here (write '==')"),
        ("el7 && ib", "column 5: '&&' is not known here (write 'and')"),
        ("!el7", "column 1: '!' is not known here (write 'not')"),
        ("((el7)", "column 7: expected ')', not the end"),
        ("el7 ib", "column 5: expected 'and', 'or' or the end, not 'ib'"),
        ("16 GB <= memory", "column 1: a condition begins with the name of a property"),
        ("'a' in 'b'", "column 8: expected the name of a property, not 'b'"),
        ("platform == 'x", "column 13: a quote is not closed (end the text with ')"),
        ("os == 1.2.3", "column 7: cannot read '1.2.3' (put text in quotes)"),
        ("os == 2 GB", "column 7: expected text, not '2 GB' (put text in quotes)"),
        ("cores in []", "column 11: expected a value, not ']'"),
        ("cores in [1", "column 12: expected ']', not the end"),
        ("cores not 1", "column 11: expected 'in', not '1'"),
        ("a and", "column 6: expected a condition, not the end"),
        ("__import__('os')", "column 11: expected 'and', 'or' or the end, not '('"),
        ("(" * 50, "column 42: more than 40 brackets and 'not' stand in one another"),
        ("not " * 50, "column 165: more than 40 brackets and 'not' stand in one another"),
        ("a or " * 5000 + "a", "column 20001: an expression has 20000 characters at most"),
    ],
)
def test_what_is_wrong_is_told_with_its_column(text: str, message: str) -> None:
    with pytest.raises(RequirementError) as raised:
        parse_requirement(text, KINDS)
    assert message in str(raised.value)


def test_a_text_compared_for_more_is_a_version_where_nobody_says_otherwise() -> None:
    (condition,) = parse_requirement("gcc >= '12.3'", {}).canonical()["conditions"]
    assert condition["kind"] == ValueKind.VERSION


@given(EXPRESSIONS)
def test_an_expression_is_written_as_what_is_read_again(text: str) -> None:
    requirement = parse_requirement(text, KINDS)
    assert parse_requirement(str(requirement), KINDS) == requirement


MARKS = ["(", ")", "[", "]", ",", "'", '"', "\\", "==", "!=", "<", ">=", "=", "&&", "!", "-", ".", ":", " ", "\n", "\0"]
WORDS = ["and", "or", "not ", "in ", "true", "a", "memory", "1", "e9", "GB"]
SOUP = st.lists(st.sampled_from([*MARKS, *WORDS]), max_size=40).map("".join)
LONG = ("(", "not ", "'", "'\\", "1", ".1", "1:", "a ", "[", "a or ", "a in [", "1e", "-", "=")


def refusal(text: str) -> str:
    """Why it is refused, or ""."""
    try:
        parse_requirement(text, KINDS)
    except RequirementError as error:
        return str(error)
    return ""


@pytest.mark.timeout(60)
@settings(max_examples=400)
@given(SOUP | st.text(max_size=60))
def test_any_text_is_read_or_refused_at_a_column(text: str) -> None:
    assert re.match(r"column \d+: |\Z", refusal(text))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", LONG)
def test_long_texts_take_no_time(piece: str) -> None:
    assert refusal(piece * (19_000 // len(piece)) + "=")
    assert refusal(piece * 200_000)
