"""However deep, wide, long or odd a description is: it is read or refused, soon, and in a few words."""

import json
import os
import subprocess
import threading
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, CommandTemplate, Format, additional, parse
from cigri.jdl.command_length import LONGEST_WORD, MOST_BYTES
from cigri.jdl.problems import shown

PLAIN: dict[str, Any] = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": {"c": {}}}
HOME = Path("/home/bob")


def read(text: str, format: Format | None = None, base: Path = Path()) -> CampaignDescription:
    return parse(text, format=format, base=base, home=HOME)


def refusal(text: str, format: Format | None = None, base: Path = Path()) -> str:
    with pytest.raises(DescriptionError) as caught:
        read(text, format, base)
    assert len(str(caught.value)) < 10_000
    return str(caught.value)


def described(**fields: Any) -> str:
    return json.dumps({name: value for name, value in {**PLAIN, **fields}.items() if value is not None})


def laughs(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(["name: n", "exec_file: e", "clusters: {c: {}}", *lines, f"params: *a{levels - 1}"])


def test_aliases_of_aliases_are_counted() -> None:
    assert "stand for more than 1000000 values" in refusal(laughs(30), "yaml")
    assert "params[0]: a word is text or a number, not ['x', 'x'" in refusal(laughs(3), "yaml")


def test_aliases_and_merges_of_yaml_mean_what_they_mean_elsewhere() -> None:
    text = """
name: &name n
exec_file: e
params: [a, b]
clusters:
  c: &usual {walltime: 60, queue: q, environment: &variables {A: "1", B: "2"}}
  d: {<<: *usual, queue: own}
  e: {<<: [{queue: first}, *usual], environment: {<<: *variables, B: *name}}
"""
    clusters = read(text, "yaml").clusters
    assert (clusters["d"].walltime, clusters["d"].queue) == (60, "own")
    assert (clusters["e"].walltime, clusters["e"].queue) == (60, "first")
    assert clusters["e"].environment == {"A": "1", "B": "n"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: &a [*a]", "*a stands for nothing that is complete before it"),
        ("a: b\n---\nc: d", "a second document begins"),
        ("a: {<<: 1}", "<< takes an object"),
        ("a: {<<: {b: 1}, <<: {c: 1}}", "'<<' is given twice"),
        ("a: !!int x", "has no meaning for this value"),
        ("a: !!set {x: }", "has no meaning here"),
        ("{*a : b}", "a key must be text"),
    ],
)
def test_what_yaml_allows_and_nobody_needs_is_refused(text: str, told: str) -> None:
    assert told in refusal(text, "yaml")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("params: " + "[" * 50_000, "yaml"),
        ("- " * 50_000, "yaml"),
        ("params: " + "[" * 51 + "]" * 51, "yaml"),
        ("[" * 100_000, "json"),
        ('{"a":' * 100_000, "json"),
        ("a = " + "[" * 100_000, "toml"),
        (described(clusters={"c": {"environment": json.loads("[" * 60 + "]" * 60)}}), "json"),
    ],
)
def test_lists_in_lists_in_lists_are_refused(text: str, format: Format) -> None:
    told = refusal(text, format)
    assert "nested too deeply" in told or "more than 50 lists and objects stand in one another" in told


def test_a_deep_parameter_is_told_in_a_few_words() -> None:
    text = described(nb_jobs=None, params=["deep"]).replace('"deep"', "[" * 900 + "]" * 900)
    assert "params[0]: a word is text or a number, not [[[" in refusal(text)


def test_a_value_is_shown_as_its_repr_begins() -> None:
    for value in ("it's", "x" * 100, [1.5, None, True], {"b": 1, "a": [1, 2]}, ["x"] * 100, -5):
        whole = repr(value)
        assert shown(value) == whole or (shown(value).endswith("...") and whole.startswith(shown(value)[:-3]))
    assert shown(1 << 100_000) == "a number of very many digits"


@pytest.mark.parametrize("key", [".".join("a" * 20_000), " . ".join('a"b"' * 1000), f"[{'.'.join('a' * 20_000)}]"])
def test_a_dotted_key_of_toml_has_few_words(key: str) -> None:
    tracemalloc.start()
    assert "TOML" in refusal(f"{key} = 1", "toml")
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


@pytest.mark.parametrize(
    "value", ['"%s"', "'%s'", '"""%s"""', "'''%s'''", '"\\"%s"', '"""a"""\n# %s', '"""%s"""""', "'''%s'''''"]
)
def test_dots_in_a_text_of_toml_are_no_key(value: str) -> None:
    text = 'name = "n"\nexec_file = "e"\nnb_jobs = 1\n[clusters.c]\nproperties = '
    assert read(text + value.replace("%s", "a." * 100), "toml").count == 1


def test_a_dotted_key_does_not_hide_behind_quotes() -> None:
    assert "one dotted key" in refusal(f'x = {{a = """a"""", {".".join("b" * 100)} = 1}}', "toml")


@pytest.mark.parametrize("text", ["{" + "/*" * 300_000, '{"' + '\\"' * 300_000, "{" + "//" * 300_000])
@pytest.mark.timeout(20)
def test_comments_that_do_not_end_are_looked_through_once(text: str) -> None:
    assert "line 1, column" in refusal(text, "json")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"\ud800": 1}, "\ud800: holds bytes that are not UTF-8 text"),
        ({"requirements": {"\ud800": "1"}}, "requirements.\ud800: holds bytes"),
        ({"requirements": "a == '\ud800'"}, "requirements: holds bytes"),
        ({"clusters": {"\ud800": {}}}, "clusters.\ud800: holds bytes"),
        ({"clusters": {"\0": {}}}, "clusters.\0: holds a NUL character"),
        ({"clusters": {"c": {"environment": {"A": "\0"}}}}, "clusters.c.environment.A: holds a NUL"),
        ({"requirements": {"a": 10**40}}, "requirements.a: is a number that is too long to be meant"),
    ],
)
def test_text_that_cannot_be_stored_is_refused_anywhere(fields: dict[str, Any], told: str) -> None:
    assert told in refusal(described(**fields))


def test_text_of_dirac_that_cannot_be_stored_is_refused() -> None:
    assert "line 2, column 1: JobName: holds a NUL" in refusal('Executable = "e";\nJobName = "a\0b";\n')


@pytest.mark.parametrize(
    "fields",
    [
        {f"key{number}": 1 for number in range(5000)},
        {"clusters": {f"c{number}": {"walltim": 1} for number in range(3000)}},
        {"nb_jobs": None, "sweep": {f"1{number}": [1] for number in range(20_000)}},
        {"nb_jobs": None, "sweep": {"a": {f"k{number}": 1 for number in range(20_000)}}},
    ],
)
@pytest.mark.timeout(20)
def test_of_many_wrong_names_the_first_are_told(fields: dict[str, Any]) -> None:
    told = refusal(described(**fields)).splitlines()
    assert 20 < len(told) < 30
    assert any(" more " in line for line in told)


def test_fields_that_hold_more_than_anybody_writes_are_refused() -> None:
    many = {f"A{number}": "x" for number in range(20_000)}
    assert "more than 20000 values" in refusal(described(environment=many))
    assert "more than 1048576 characters" in refusal(described(prologue="x" * 2**21))
    assert "at most 4000 characters" in refusal(described(queue="x" * 5000))
    assert "expected resources in fewer words" in refusal(described(resources="/nodes=1+" * 1000))


def test_many_unknown_attributes_of_dirac_are_told_soon() -> None:
    told = refusal('Executable = "e";\n' + "".join(f"Unknown{number} = 1;\n" for number in range(20_000)))
    assert told.splitlines()[-1] == "the description: 19980 more attributes are unknown"


def test_a_sweep_may_have_a_thousand_axes() -> None:
    names = [f"a{number}" for number in range(1000)]
    axes: dict[str, list[int]] = {name: [1] for name in names} | {"a7": [1, 2], "a999": [3, 4]}
    text = described(nb_jobs=None, exec_file="e " + " ".join(f"{{{name}}}" for name in names), sweep=axes)
    combinations = list(read(text).parameters())
    assert [(one["a7"], one["a999"]) for one in combinations if isinstance(one, dict)] == [
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
    ]


def test_a_sweep_without_number_is_told() -> None:
    axes = {f"a{number}": [0] * 10 for number in range(5000)}
    assert "sweep: makes tasks without number; a campaign has 10000000 at most" in refusal(
        described(nb_jobs=None, sweep=axes, exec_file="e")
    )


@pytest.mark.parametrize("arguments", ["", 'Arguments = "%s %n";\n'])
@pytest.mark.timeout(20)
def test_ten_million_parameters_of_dirac_are_counted_not_kept(arguments: str) -> None:
    tracemalloc.start()
    description = read(f'Executable = "e";\n{arguments}Parameters = 10000000;\nParameterStep = 1;\n')
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert description.count == 10_000_000
    assert description.anywhere
    command = CommandTemplate(description.anywhere, description.names)
    second = [
        word.text for word in command.words(next(islice(description.parameters(), 1, 2)), campaign_id=1, number=1)
    ]
    assert second == (["e", "2", "0000001"] if arguments else ["e"])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("ParameterStart = 1e-999999; ParameterStep = 1;", "is a number too long to be meant"),
        ("ParameterStart = 1e999999; ParameterStep = 1;", "is a number too long to be meant"),
        ("ParameterFactor = 0.1;", "its values have more than 300 zeros behind the point"),
        ("ParameterFactor = 1.1;", "its values grow beyond 1e+15"),
    ],
)
@pytest.mark.timeout(20)
def test_parameters_of_dirac_are_numbers_as_people_write_them(settings: str, told: str) -> None:
    assert told in refusal(f'Executable = "e";\nArguments = "%s";\nParameters = 10000000;\n{settings}\n')


def test_a_sequence_of_dirac_may_come_to_rest() -> None:
    text = 'Executable = "e";\nArguments = "%s";\nParameters = 1000000;\nParameterFactor = 0.5; ParameterStep = 1;\n'
    assert read(text).count == 1_000_000


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "/dev/tty"])
def test_a_parameter_file_is_no_device(name: str) -> None:
    assert f"param_file: {name} cannot be read: it is a device, not a file" in refusal(
        described(nb_jobs=None, param_file=name)
    )


def test_a_parameter_file_may_be_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=["a\nb\n"])
    writer.start()
    assert list(read(described(nb_jobs=None, param_file="pipe"), base=tmp_path).parameters()) == ["a", "b"]
    writer.join()


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(2**40)
    told = refusal(described(nb_jobs=None, param_file="long"), base=tmp_path)
    assert "one of its lines has more than 2 MB" in told


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"params": ["a", "x" * (LONGEST_WORD + 1)]}, f"task 1: a word of {LONGEST_WORD + 1} bytes"),
        ({"params": [["é" * (LONGEST_WORD // 2 + 1)]]}, f"task 0: a word of {LONGEST_WORD + 1} bytes"),
        ({"exec_file": "e x{a}", "params": [{"a": "x" * LONGEST_WORD}]}, "task 0: a word of"),
        ({"exec_file": "e {a}{a}{a}", "params": [{"a": "x" * 50_000}]}, "task 0: a word of 150000 bytes"),
        ({"exec_file": "e {a}{b}", "sweep": {"a": ["y", "x" * 99_999], "b": ["x" * 99_999]}}, "task 1: a word of"),
        ({"environment": {"A": "x" * LONGEST_WORD}, "nb_jobs": 1}, "task 0: a word of"),
        ({"params": ["x " * (MOST_BYTES // 10)]}, "task 0: words and variables of"),
        ({"params": [[""] * (MOST_BYTES // 9)]}, "task 0: words and variables of"),
        ({"exec_file": "e " + "x" * 140_000, "nb_jobs": 5}, "task 0: a word of 140000 bytes"),
    ],
)
def test_words_that_no_system_takes_are_refused(fields: dict[str, Any], told: str) -> None:
    assert told in refusal(described(**{"nb_jobs": None, **fields}))


@pytest.mark.process
@pytest.mark.parametrize(
    "fields",
    [
        {"params": ["x" * LONGEST_WORD]},
        {"params": [["x"] * (MOST_BYTES // 10 - 5)]},
        {"exec_file": "e x{a}", "params": [{"a": "x" * (LONGEST_WORD - 1)}]},
    ],
)
def test_the_longest_words_that_are_taken_start_a_program(fields: dict[str, Any]) -> None:
    description = read(described(**{"nb_jobs": None, **fields}))
    command = CommandTemplate(description.clusters["c"], description.names)
    (parameter,) = description.parameters()
    words = [word.text for word in command.words(parameter, campaign_id=1, number=0)]
    assert subprocess.run(["/bin/true", *words], check=False).returncode == 0


def test_words_of_more_tasks_are_looked_at_too() -> None:
    clusters = read(described()).clusters
    with pytest.raises(DescriptionError, match=r"params\[1\]: a word of 131072 bytes"):
        additional(["a", "x" * (LONGEST_WORD + 1)], clusters)
    with pytest.raises(DescriptionError, match=r"params\[0\]: words and variables of"):
        additional([["x"] * 200_000], clusters, like=["a"])


def test_words_of_more_tasks_are_looked_at_with_the_campaigns_own() -> None:
    """The parameter alone is short enough."""
    longer = [{"a": "x"}, {"a": "x" * (LONGEST_WORD - 1)}]
    clusters = read(described(exec_file="e a={a}", params=[{"a": 1}], nb_jobs=None)).clusters
    with pytest.raises(DescriptionError, match=r"params\[1\]: a word of 131072 bytes"):
        additional(longer, clusters, like={"a": 1})
    many = [["x" * 9] * (MOST_BYTES // 20)]
    with pytest.raises(DescriptionError, match=r"params\[0\]: words and variables of"):
        additional(many, read(described(exec_file="e " + "y " * (MOST_BYTES // 19))).clusters, like=["a"])
