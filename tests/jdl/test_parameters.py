"""Parameters: where they come from, the three kinds, and a million of them."""

import json
import subprocess
import sys
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, Parameter, additional, parse
from cigri.jdl.text_formats import read_list

FLAT = "run"
NAMED = "run {a} {b}"


def read(base: Path = Path(), exec_file: str = FLAT, **fields: Any) -> CampaignDescription:
    content = {"name": "n", "exec_file": exec_file, "clusters": {"c": {}}, **fields}
    return parse(json.dumps(content), base=base, home=base / "home")


def refusal(base: Path = Path(), exec_file: str = FLAT, **fields: Any) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        read(base, exec_file, **fields)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("exec_file", "fields", "parameters"),
    [
        (FLAT, {"nb_jobs": 3}, ["0", "1", "2"]),
        (FLAT, {"nb_jobs": "10"}, [str(number) for number in range(10)]),
        (FLAT, {"params": []}, []),
        (FLAT, {"params": ["param1 1", "param1 2", "param1 1", ""]}, ["param1 1", "param1 2", "param1 1", ""]),
        (FLAT, {"params": ["a", 1, 0.5]}, ["a", "1", "0.5"]),
        (FLAT, {"params": [["a b", 1], [], ["'"]]}, [["a b", "1"], [], ["'"]]),
        (
            NAMED,
            {"params": [{"a": 1, "b": "x y"}, {"b": True, "a": 0.5}]},
            [{"a": 1, "b": "x y"}, {"a": 0.5, "b": True}],
        ),
        (
            NAMED,
            {"sweep": {"a": ["x", "y"], "b": {"from": 1, "to": 5, "step": 2}}},
            [{"a": a, "b": b} for a in "xy" for b in (1, 3, 5)],
        ),
        ("run {a}", {"sweep": {"a": {"from": 0, "to": 0.3, "step": 0.1}}}, [{"a": a} for a in (0.0, 0.1, 0.2, 0.3)]),
        ("run {a}", {"sweep": {"a": {"from": 3, "to": 1, "step": -1}}}, [{"a": a} for a in (3, 2, 1)]),
        ("run {a}", {"sweep": {"a": {"from": 1, "to": 1}}}, [{"a": 1}]),
    ],
)
def test_parameters(exec_file: str, fields: dict[str, Any], parameters: list[Parameter]) -> None:
    description = read(exec_file=exec_file, **fields)
    assert list(description.parameters()) == parameters
    assert list(description.parameters()) == parameters
    assert description.count == len(parameters)


@pytest.mark.parametrize(
    ("exec_file", "fields", "problem"),
    [
        (FLAT, {"params": "a"}, "params: expected a list"),
        (FLAT, {"params": ["a", "b 'c"]}, "params[1]: a quote is not closed"),
        (FLAT, {"params": ["a", None]}, "params[1]: expected text, not None"),
        (FLAT, {"params": ["a", ["b"]]}, "params[1]: expected text"),
        (FLAT, {"params": [["a"], "b"]}, "params[1]: expected a list of words"),
        (FLAT, {"params": [["a", None]]}, "params[0]: a word is text or a number"),
        (FLAT, {"params": ["a\0b"]}, "params[0]: holds a NUL"),
        (FLAT, {"params": [["\ud800"]]}, "params[0]: holds bytes that are not UTF-8"),
        (FLAT, {"params": [10**20]}, "params[0]: expected text"),
        (NAMED, {"params": [{"a": 1, "b": 2}, {"a": 1}]}, "params[1]: has the names a, the others have a, b"),
        (NAMED, {"params": [{"a": 1, "b": [2]}]}, "params[0]: b: expected text or a number"),
        (NAMED, {"params": [{"a": 1, "b": "\0"}]}, "params[0]: b: holds a NUL"),
        (NAMED, {"params": [{"a": 1, "b": 1}, "x"]}, "params[1]: expected an object of names"),
        (NAMED, {"params": [{"a": 1, "b": 1, "c": 1}]}, "params: the parameter 'c' is used nowhere"),
        (NAMED, {"params": [{"a": 1}]}, "exec_file: no parameter is called 'b' (write {{b}}"),
        (
            NAMED,
            {"params": [{"a": 1, "b": 1}], "exec_directory": "x/{aa}"},
            "exec_directory: no parameter is called 'aa' (did you mean 'a'?)",
        ),
        (FLAT, {"params": [{}]}, "params[0]: names nothing"),
        ("run {index}", {"params": [{"index": 1}]}, "params[0]: index: this name has a meaning of its own"),
        ("run", {"params": [{"1a": 1}]}, "params[0]: 1a: is no name"),
        (FLAT, {"sweep": []}, "sweep: expected an object"),
        (NAMED, {"sweep": {"a": [], "b": [1]}}, "sweep.a: expected a list of values"),
        (NAMED, {"sweep": {"a": [[1]], "b": [1]}}, "sweep.a[0]: expected text or a number"),
        ("run {a}", {"sweep": {"a": {"from": 1}}}, "sweep.a.to: is missing"),
        ("run {a}", {"sweep": {"a": {"from": 1, "to": "9"}}}, "sweep.a.to: expected a number, not '9'"),
        ("run {a}", {"sweep": {"a": {"from": 1, "to": 2, "stepp": 1}}}, "did you mean 'step'?"),
        ("run {a}", {"sweep": {"a": {"from": 1, "to": 2, "step": 0}}}, "holds no value"),
        ("run {a}", {"sweep": {"a": {"from": 2, "to": 1}}}, "holds no value"),
        ("run {a}", {"sweep": {"a": {"from": 0, "to": 1e300}}}, "10000000 tasks at most"),
        (NAMED, {"sweep": {name: {"from": 1, "to": 9999999} for name in "ab"}}, "sweep: makes 99999980000001 tasks"),
    ],
)
def test_a_wrong_parameter_is_told(exec_file: str, fields: dict[str, Any], problem: str) -> None:
    found = refusal(exec_file=exec_file, **fields)
    assert len(found) == 1, found
    assert problem in found[0]


def test_a_name_may_be_of_use_in_the_environment_or_the_directory_only() -> None:
    description = read(params=[{"a": 1, "b": 2}], environment={"A": "{a}"}, exec_directory="{b}")
    assert description.names == {"a", "b"}


def test_twenty_wrong_parameters_are_told_and_the_others_counted() -> None:
    found = refusal(params=["'"] * 25 + ["a"])
    assert len(found) == 21
    assert found[-1] == "params: 5 more parameters are wrong"


@pytest.mark.parametrize("name", ["p.txt", "~/q.txt", "$HOME/q.txt", "{HOME}/q.txt", "ABSOLUTE"])
def test_a_parameter_file_is_read_line_by_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "home").mkdir()
    for path in (tmp_path / "p.txt", tmp_path / "home" / "q.txt"):
        path.write_text("\ufeffparam 1\r\n param 2    \n\n   \n    param3 'é'\x0b\u2028\xa0\n\x0c 4\r\r\n", newline="")
    name = str(tmp_path / "p.txt") if name == "ABSOLUTE" else name
    assert list(read(tmp_path, param_file=name).parameters()) == [
        "param 1",
        " param 2    ",
        "    param3 'é'\x0b\u2028\xa0",
        "\x0c 4\r",
    ]


def test_a_wrong_parameter_file_is_told(tmp_path: Path) -> None:
    assert "p.txt cannot be read: No such file" in refusal(tmp_path, param_file="p.txt")[0]
    assert "cannot be read: Is a directory" in refusal(tmp_path, param_file=".")[0]
    assert "expected the name of a file" in refusal(tmp_path, param_file=3)[0]
    assert "cannot be read" in refusal(tmp_path, param_file="a\0")[0]
    (tmp_path / "p.txt").write_bytes(b"mesh 1\rmesh 2\rmesh 3\r")
    assert "p.txt cannot be read: line 1 has carriage returns (CR)" in refusal(tmp_path, param_file="p.txt")[0]
    (tmp_path / "p.txt").write_bytes(b"ok\n\n\xff\nit's\n")
    found = refusal(tmp_path, param_file="p.txt")
    assert [problem.split(":")[0] for problem in found] == ["p.txt line 3", "p.txt line 4"]


@pytest.mark.parametrize(
    ("text", "like", "parameters"),
    [
        ('["a", "b c"]', "x", ["a", "b c"]),
        ('["a"]', None, ["a"]),
        ("- a 1\n- 007", "x", ["a 1", "007"]),
        ('[["a", 1]]', ["x"], [["a", "1"]]),
        ('[{"b": 1, "a": 2}]', {"a": 1, "b": "x"}, [{"b": 1, "a": 2}]),
        ("[]", {"a": 1}, []),
    ],
)
def test_parameters_are_added(text: str, like: Parameter | None, parameters: list[Parameter]) -> None:
    assert list(additional(read_list(text, None), {}, like=like)) == parameters


@pytest.mark.parametrize(
    ("text", "like"),
    [('["a"]', ["x"]), ('[["a"]]', "x"), ('[{"a": 1}]', {"b": 1}), ('{"a": 1}', None), ("[", None), ('["\'"]', "x")],
)
def test_parameters_that_do_not_fit_are_not_added(text: str, like: Parameter | None) -> None:
    with pytest.raises(DescriptionError):
        additional(read_list(text, None), {}, like=like)


@pytest.mark.parametrize(
    ("exec_file", "fields"),
    [
        (FLAT, {"nb_jobs": 1_000_000}),
        ("run {a}", {"sweep": {"a": {"from": 1, "to": 1_000_000}}}),
        (NAMED, {"sweep": {"a": {"from": 1, "to": 1000}, "b": {"from": 0.5, "to": 500, "step": 0.5}}}),
    ],
)
def test_a_million_computed_parameters_take_no_memory(exec_file: str, fields: dict[str, Any]) -> None:
    tracemalloc.start()
    try:
        description = read(exec_file=exec_file, **fields)
        assert len(list(islice(description.parameters(), 0, 2000, 500))) == 4
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert description.count == 1_000_000


MILLION = """
import json, resource, time
from pathlib import Path
from cigri.jdl import parse
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
lines = ",".join(f'"param{i} \\'{i}\\'"' for i in range(1_000_000))
text = '{"name": "n", "exec_file": "e", "clusters": {"c": {}}, "params": [' + lines + "]}"
del lines
start = time.process_time()
count = parse(text, base=Path(), home=Path()).count
print(count, time.process_time() - start, peak() - before)
"""


@pytest.mark.process
def test_a_million_given_parameters_take_little() -> None:
    answer = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True)
    count, seconds, megabytes = answer.stdout.split()
    assert int(count) == 1_000_000
    assert float(seconds) < 20
    assert int(megabytes) < 200
