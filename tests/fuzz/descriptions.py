"""Descriptions as no honest user writes them: right ones in which something is too deep, wide or long, or is no text.

Values are JSON's, as text, which is YAML and nearly TOML, too. None is much longer than LONGEST: sizes multiply (a list
of a hundred thousand texts of a hundred thousand characters), and this process builds what gridsub is to refuse.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cigri.jdl.parsing import KNOWN_FIELDS


class Written(NamedTuple):
    """A description as the text of a file; `suffix` tells its format, "" nothing."""

    text: str
    suffix: str

    def __repr__(self) -> str:
        middle = f"...({len(self.text)} characters)..." if len(self.text) > 600 else ""
        text = self.text[:300] + middle + self.text[-300:] if middle else self.text
        return f"Written({text!r}, {self.suffix!r})"


LONGEST = 2**20
SIZES = st.sampled_from([1, 2, 3, 10, 49, 50, 51, 100, 1000, 3000, 10_000, 20_000, 50_000, 100_000])


def _fitting(piece: str, size: int) -> int:
    """How often the piece may be written: as often as wanted, while there is room."""
    return min(size, LONGEST // max(1, len(piece)) + 1)


def _times(piece: str, size: int) -> str:
    return piece * _fitting(piece, size)


def _list(values: Sequence[str], brackets: str = "[]") -> str:
    return f"{brackets[0]}{', '.join(values)}{brackets[1]}"


def _object(fields: Mapping[str, str]) -> str:
    return _list([f"{json.dumps(name)}: {value}" for name, value in fields.items()], "{}")


def _wide_list(value: str, size: int, brackets: str = "[]") -> str:
    return _list([value] * _fitting(value, size), brackets)


def _wide_object(value: str, size: int) -> str:
    return _object({f"k{number}": value for number in range(_fitting(value, size))})


def _deep(opening: str, inner: str, closing: str, size: int) -> str:
    return opening * size + inner + closing * size


NAMES = st.sampled_from(
    [*KNOWN_FIELDS, "Name", "clusters", "params", "sweep", "param_file", "a", "dahu", "cpu", "mem", "where"]
)
FRAGMENTS = st.sampled_from(
    ["\ud800", "\0", "\udcff", "\u202e", "\x85", "\n", "a", " ", "{a}", "$HOME", "'", '"', "ANY"]
)
NO_FILES = st.sampled_from(["/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", ".", "", "~", "a\0"])
TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(FRAGMENTS, max_size=4).map("".join),
    st.builds(_times, FRAGMENTS, SIZES),
    NO_FILES,
)
NUMBERS = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    SIZES.map(lambda size: "9" * size),
    SIZES.map(lambda size: f"1e{size}"),
    st.sampled_from([0, -1, 10**7, 10**9, 2**63]).map(str),
)
ATOMS = st.one_of(
    st.sampled_from(["null", "true", "false"]), NUMBERS, st.builds(json.dumps, TEXTS, ensure_ascii=st.booleans())
)
DEEP = st.builds(_deep, st.sampled_from(["[", '{"a":']), st.just("1"), st.sampled_from(["", "]", "}"]), SIZES)
INNER = ATOMS | st.sampled_from(["{}", "[1]"])
BLOCKS = st.dictionaries(NAMES | TEXTS, ATOMS | DEEP, max_size=2).map(_object)
VALUES = st.one_of(
    ATOMS,
    DEEP,
    st.builds(_wide_list, INNER, SIZES),
    st.builds(_wide_object, INNER, SIZES),
    st.lists(ATOMS, max_size=3).map(_list),
    st.dictionaries(NAMES | TEXTS, ATOMS, max_size=3).map(_object),
    st.dictionaries(NAMES | TEXTS, BLOCKS, max_size=2).map(_object),
)


FIELDS = st.one_of(
    st.tuples(NAMES | TEXTS, VALUES),
    st.tuples(
        st.just("clusters"),
        st.dictionaries(TEXTS, BLOCKS, max_size=2).map(_object)
        | st.lists(TEXTS.map(json.dumps), max_size=2).map(_list),
    ),
    st.tuples(st.just("param_file"), (NO_FILES | TEXTS).map(json.dumps)),
    st.tuples(st.just("nb_jobs"), NUMBERS),
    st.tuples(st.just("params"), VALUES),
    st.tuples(st.just("sweep"), st.builds(_wide_object, VALUES, SIZES)),
    st.tuples(st.sampled_from(["name", "exec_file", "requirements", "walltime"]), ATOMS),
)
"""A name and its value; where most can be wrong, more often."""


@st.composite
def described(draw: st.DrawFn) -> dict[str, str]:
    """A right description, in which one to three things are otherwise."""
    fields = {"name": '"n"', "exec_file": '"e"', "nb_jobs": "1", "clusters": '{"dahu": {}}'}
    for name, value in draw(st.lists(FIELDS, min_size=1, max_size=3)):
        if name in ("params", "param_file", "sweep"):
            fields.pop("nb_jobs", None)
        fields[name] = value
    return fields


def _laughs(field: str, width: int, levels: int, brackets: str) -> str:
    """Aliases of aliases of aliases, in lists or objects."""
    lines, value = [], "x"
    for level in range(levels):
        name = f"a{level}"
        values = [value] * width if brackets == "[]" else [f"k{number}: {value}" for number in range(width)]
        lines.append(f"{name}: &{name} {_list(values, brackets)}")
        value = f"*{name}"
    return "\n".join(["name: n", "exec_file: e", "clusters: {dahu: {}}", *lines, f"{field}: {value}"])


def _toml(fields: Mapping[str, str]) -> str:
    return "\n".join(f"{json.dumps(name)} = {value.replace(': ', ' = ')}" for name, value in fields.items())


def _of(suffix: str, texts: SearchStrategy[str]) -> SearchStrategy[Written]:
    return texts.map(lambda text: Written(text, suffix))


IN_JSON = _of(".json", described().map(_object))
IN_YAML = _of(
    ".yaml",
    st.one_of(
        described().map(_object),
        st.builds(_laughs, NAMES, st.integers(1, 60), st.integers(1, 12), st.sampled_from(["[]", "{}"])),
        st.builds("params: {}".format, st.builds(_times, st.sampled_from("[{"), SIZES)),
        st.builds(_times, st.sampled_from(["- ", "? ", "&a ", "!a ", "*a "]), SIZES),
    ),
)
IN_TOML = _of(
    ".toml",
    st.one_of(
        described().map(_toml),
        st.builds(lambda dot, size: f"{dot.join('a' * size)} = 1", st.sampled_from([".", " . "]), SIZES),
        SIZES.map(lambda size: f"[{'.'.join('a' * size)}]"),
        SIZES.map(lambda size: f"a = {'[' * size}"),
        SIZES.map(lambda size: f"a = 0x{'f' * size}"),
    ),
)
ATTRIBUTES = st.sampled_from(
    ["Parameters", "Parameters.A", "ParameterStart", "ParameterStep", "ParameterFactor", "JobName", "Arguments", "Site",
     "OutputSandbox", "CPUTime", "Requirements", "ExecutionEnvironment", "Unknown"]
)  # fmt: skip
SETTING = "{} = {};".format
IN_DIRAC = _of(
    ".jdl",
    st.one_of(
        st.lists(st.builds(SETTING, ATTRIBUTES, ATOMS | st.builds(_wide_list, ATOMS, SIZES, st.just("{}")))),
        st.tuples(
            st.builds(SETTING, st.just("Parameters"), st.sampled_from([1, 10, 100_000, 10**7])),
            *(st.builds(SETTING, st.just(f"Parameter{what}"), NUMBERS) for what in ("Start", "Step", "Factor")),
        ),
        SIZES.map(lambda size: [f"Unknown{number} = 1;" for number in range(size)]),
        SIZES.map(lambda size: [f"A = {'{' * size}"]),
    ).map(lambda entries: "\n".join(['Executable = "e";', *entries])),
)
PIECES = st.sampled_from(["/*", '"', '\\"', "//", "[", "{", "a=", "'''", '"""', "#", "\n", ": ", "- ", ";", "\ufeff"])
SOUP = st.builds(
    lambda begin, pieces, size, suffix: Written("".join(begin) + _times("".join(pieces), size), suffix),
    st.lists(PIECES, max_size=3),
    st.lists(PIECES, min_size=1, max_size=3),
    SIZES,
    st.sampled_from(["", ".json", ".yaml", ".toml"]),
)
EVERY = {"JSON": IN_JSON, "YAML": IN_YAML, "TOML": IN_TOML, "DIRAC's JDL": IN_DIRAC, "soup": SOUP}
