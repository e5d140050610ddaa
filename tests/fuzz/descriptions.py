"""Descriptions as no honest user writes them: right ones in which something is too deep, wide or long, or is no text.

Values are written by json.dumps, which is JSON, YAML and nearly TOML; what it cannot write is put in as text.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cigri.jdl.reading import KNOWN


class Written(NamedTuple):
    """A description as the text of a file; `suffix` tells its format, "" nothing."""

    text: str
    suffix: str

    def __repr__(self) -> str:
        middle = f"...({len(self.text)} characters)..." if len(self.text) > 600 else ""
        text = self.text[:300] + middle + self.text[-300:] if middle else self.text
        return f"Written({text!r}, {self.suffix!r})"


class Raw(NamedTuple):
    """A value as it is written."""

    text: str


SIZES = st.sampled_from([1, 2, 3, 10, 49, 50, 51, 100, 1000, 3000, 10_000, 20_000, 50_000, 100_000])
SMALL = st.sampled_from([0, 1, 2, 10, 100, 1000])
NAMES = st.sampled_from(
    [*KNOWN, "Name", "clusters", "params", "sweep", "param_file", "a", "dahu", "cpu", "mem", "where"]
)
FRAGMENTS = st.sampled_from(
    ["\ud800", "\0", "\udcff", "\u202e", "\x85", "\n", "a", " ", "{a}", "$HOME", "'", '"', "ANY"]
)
NO_FILES = st.sampled_from(["/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", ".", "", "~", "a\0"])
TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(FRAGMENTS, max_size=4).map("".join),
    st.builds(lambda piece, size: piece * size, FRAGMENTS, SIZES),
    NO_FILES,
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda size: Raw("9" * size), SIZES),
    st.builds(lambda size: Raw(f"1e{size}"), SIZES),
    st.sampled_from([0, -1, 10**7, 10**9, 2**63]),
)
ATOMS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
DEEP = st.one_of(
    st.builds(lambda size: Raw("[" * size), SIZES),
    st.builds(lambda size: Raw("[" * size + "]" * size), SIZES),
    st.builds(lambda size: Raw('{"a":' * size + "1" + "}" * size), SIZES),
)


def _wide(values: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(
        st.builds(lambda value, size: [value] * size, values, SIZES),
        st.builds(lambda value, size: {f"k{number}": value for number in range(size)}, values, SIZES),
    )


VALUES: SearchStrategy[Any] = st.one_of(
    ATOMS,
    DEEP,
    _wide(st.one_of(ATOMS, st.just({}), st.just([1]))),
    st.lists(ATOMS, max_size=3),
    st.dictionaries(NAMES | TEXTS, ATOMS, max_size=3),
    st.dictionaries(NAMES | TEXTS, st.dictionaries(NAMES | TEXTS, ATOMS | DEEP, max_size=2), max_size=2),
)


@st.composite
def described(draw: st.DrawFn, values: SearchStrategy[Any] = VALUES) -> dict[str, Any]:
    """A right description, in which one to three things are otherwise."""
    fields: dict[str, Any] = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": {"dahu": {}}}
    for _ in range(draw(st.integers(1, 3))):
        name = draw(NAMES | TEXTS)
        if name in ("params", "param_file", "sweep"):
            fields.pop("nb_jobs", None)
        fields[name] = draw(values)
    return fields


def written(fields: Any, raw: Callable[[Raw], str] = lambda value: value.text) -> str:
    """JSON, with all that is Raw put in as it stands."""
    pieces: list[str] = []

    def marked(value: Any) -> Any:
        match value:
            case Raw():
                pieces.append(raw(value))
                return f"@{len(pieces) - 1}@"
            case dict():
                return {name: marked(inner) for name, inner in value.items()}
            case list() if value and isinstance(value[0], Raw | dict | list):
                return [marked(value[0])] * len(value)
            case _:
                return value

    text = json.dumps(marked(fields))
    for number, piece in enumerate(pieces):
        text = text.replace(f'"@{number}@"', piece)
    return text


def _laughs(field: str, width: int, levels: int, anchor: str) -> str:
    """Aliases of aliases of aliases."""
    lines = [f"{anchor}0: &{anchor}0 [{', '.join(['x'] * width)}]"]
    for level in range(1, levels):
        lines.append(f"{anchor}{level}: &{anchor}{level} [{', '.join([f'*{anchor}{level - 1}'] * width)}]")
    return "\n".join(["name: n", "exec_file: e", "clusters: {dahu: {}}", *lines, f"{field}: *{anchor}{levels - 1}"])


def _toml(fields: dict[str, Any]) -> str:
    return "\n".join(f"{json.dumps(name)} = {written(value).replace(': ', ' = ')}" for name, value in fields.items())


def _attribute(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"{name} = {{{', '.join(_atom(item) for item in value)}}};"
    return f"{name} = {_atom(value)};"


def _atom(value: Any) -> str:
    return value.text if isinstance(value, Raw) else json.dumps(value, ensure_ascii=False)


IN_JSON = described().map(lambda fields: Written(written(fields), ".json"))
IN_YAML = st.one_of(
    described().map(lambda fields: Written(written(fields), ".yaml")),
    st.builds(_laughs, NAMES, st.integers(1, 12), st.integers(1, 60), st.just("a")).map(lambda t: Written(t, ".yml")),
    st.builds(lambda opening, size: Written(f"params: {opening * size}", ".yml"), st.sampled_from("[{"), SIZES),
    st.builds(
        lambda item, size: Written(item * size, ".yml"), st.sampled_from(["- ", "? ", "&a ", "!a ", "*a "]), SIZES
    ),
)
IN_TOML = st.one_of(
    described().map(lambda fields: Written(_toml(fields), ".toml")),
    st.builds(lambda dot, size: Written(f"{dot.join('a' * size)} = 1", ".toml"), st.sampled_from([".", " . "]), SIZES),
    st.builds(lambda size: Written(f"[{'.'.join('a' * size)}]", ".toml"), SIZES),
    st.builds(lambda size: Written(f"a = {'[' * size}", ".toml"), SIZES),
    st.builds(lambda size: Written(f"a = 0x{'f' * size}", ".toml"), SIZES),
)
ATTRIBUTES = st.sampled_from(
    ["Parameters", "Parameters.A", "ParameterStart", "ParameterStep", "ParameterFactor", "JobName", "Arguments", "Site",
     "OutputSandbox", "CPUTime", "Requirements", "ExecutionEnvironment", "Unknown"]
)  # fmt: skip
IN_DIRAC = st.one_of(
    st.lists(st.builds(_attribute, ATTRIBUTES, ATOMS | _wide(ATOMS).filter(lambda value: isinstance(value, list)))),
    st.builds(
        lambda count, *settings: [f"Parameters = {count};", *settings],
        st.sampled_from([1, 10, 100_000, 10**7]),
        *(
            st.builds(_attribute, st.just(name), NUMBERS)
            for name in ("ParameterStart", "ParameterStep", "ParameterFactor")
        ),
    ),
    st.builds(lambda size: [f"Unknown{number} = 1;" for number in range(size)], SIZES),
    st.builds(lambda size: [f"A = {'{' * size}"], SIZES),
).map(lambda entries: Written("\n".join(['Executable = "e";', *entries]), ".jdl"))
PIECES = st.sampled_from(["/*", '"', '\\"', "//", "[", "{", "a=", "'''", '"""', "#", "\n", ": ", "- ", ";", "\ufeff"])
SOUP = st.builds(
    lambda begin, pieces, size, suffix: Written("".join(begin) + "".join(pieces) * size, suffix),
    st.lists(PIECES, max_size=3),
    st.lists(PIECES, min_size=1, max_size=3),
    SIZES,
    st.sampled_from(["", ".json", ".yaml", ".toml"]),
)
EVERY = {"JSON": IN_JSON, "YAML": IN_YAML, "TOML": IN_TOML, "DIRAC's JDL": IN_DIRAC, "soup": SOUP}
