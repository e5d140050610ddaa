"""Tables of parameters: rows by names, what is wrong with one by its line, and names that no parameter has."""

import json
from pathlib import Path

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, parse

COMMAND = "python3 mc.py --id {id} --spot {spot}"


def described(base: Path, name: str, content: str | bytes, command: str = COMMAND) -> CampaignDescription:
    (base / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    description = {"name": "mc", "exec_file": command, "param_file": name, "clusters": {"c": {}}}
    return parse(json.dumps(description), base=base, home=base)


def told(base: Path, name: str, content: str | bytes, command: str = COMMAND) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        described(base, name, content, command)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("t.csv", "id,spot\n1,100\n2,101\n", [{"id": "1", "spot": "100"}, {"id": "2", "spot": "101"}]),
        ("t.CSV", b"\xef\xbb\xbfid, spot\r\n1, 100\r\n\r\n", [{"id": "1", "spot": "100"}]),
        ("t.csv", 'id,spot\n"2 ""a""\nb"," 10,1"', [{"id": '2 "a"\nb', "spot": " 10,1"}]),
        ("t.csv", "id,spot\n,\n", [{"id": "", "spot": ""}]),
        ("t.tsv", "id\tspot\n1\t a, b \n", [{"id": "1", "spot": " a, b "}]),
        (
            "t.jsonl",
            '{"id": 1, "spot": "x"}\n\n{"spot": true, "id": 2.5}\n',
            [{"id": 1, "spot": "x"}, {"id": 2.5, "spot": True}],
        ),
        ("t.ndjson", '{"id": 1, "spot": 2}', [{"id": 1, "spot": 2}]),
    ],
)
def test_each_row_is_a_task_with_names(tmp_path: Path, name: str, content: str, rows: list[object]) -> None:
    description = described(tmp_path, name, content)
    assert list(description.parameters()) == list(description.parameters()) == rows
    assert description.count == len(rows)


def test_each_row_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    content = b'id,spot\n1\n"a\nb",3\n4,5,6\n7,\xff\n8,9\n"x'
    assert told(tmp_path, "t.csv", content) == [
        "t.csv line 2: its cells are 1, and the columns 2: id, spot",
        "t.csv line 5: its cells are 3, and the columns 2: id, spot",
        "t.csv line 6: spot: holds bytes that are not UTF-8 text",
        "t.csv line 8: is no row of a table: unexpected end of data",
    ]
    lines = ['{"id": 1, "spot": 2}', '{"id": 3}', "[4]", '{"id": 5, "spot": [6]}', "{7", "[" * 100_000]
    assert [problem.split(": ")[0] for problem in told(tmp_path, "t.jsonl", "\n".join(lines))] == [
        f"t.jsonl line {line}" for line in (2, 3, 4, 5, 6)
    ]


def test_a_header_names_each_column_once(tmp_path: Path) -> None:
    found = told(tmp_path, "t.csv", "id,id,1x,index,\n1,2,3,4,5\n")
    assert [problem.split(" (")[0] for problem in found] == [
        "t.csv line 1: the column 'id': it is there twice",
        "t.csv line 1: the column '1x': is no name: letters, digits and _ only, no digit first",
        "t.csv line 1: the column 'index': this name has a meaning of its own",
        "t.csv line 1: the column '': is no name: letters, digits and _ only, no digit first",
    ]
    assert "a file with another ending, as .txt, is read as lines of words" in found[0]
    assert told(tmp_path, "t.csv", "\n\n") == ["t.csv: is empty: its first row names the columns"]


def test_a_column_may_be_of_no_use_here_but_not_all_of_them(tmp_path: Path) -> None:
    rows = "id,spot,remark\n1,100,slow\n"
    assert described(tmp_path, "t.csv", rows).count == 1
    (problem,) = told(tmp_path, "t.csv", rows, "python3 mc.py")
    assert problem.startswith("param_file: none of the table's columns is used: id, remark, spot (write {id} in")


def test_a_table_may_come_through_a_pipe_of_lines_no_more(tmp_path: Path) -> None:
    """Whoever sends its rows has read them; lines are what an older program sends."""
    from cigri.jdl import parse_described

    description = {"name": "mc", "exec_file": COMMAND, "param_file": "t.csv", "clusters": {"c": {}}}
    assert parse_described(description, [{"id": 1, "spot": 2}]).count == 1
    with pytest.raises(DescriptionError, match=r"param_file: t.csv is a table: send its rows as objects"):
        parse_described(description, ["id,spot", "1,2"])


@pytest.mark.parametrize("parameters", [{"nb_jobs": 3}, {"params": ["a", "b"]}, {"params": [["a"]]}])
def test_a_name_that_no_parameter_can_have_is_refused(parameters: dict[str, object]) -> None:
    description = {"name": "mc", "exec_file": COMMAND, "clusters": {"c": {"environment": {"X": "{x}"}}}, **parameters}
    with pytest.raises(DescriptionError) as caught:
        parse(json.dumps(description), base=Path(), home=Path())
    assert [(problem.place, problem.message) for problem in caught.value.problems] == [
        ("exec_file", "no parameter is called 'id'"),
        ("exec_file", "no parameter is called 'spot'"),
        ("clusters.c.environment.X", "no parameter is called 'x'"),
    ]
    assert "name a table in param_file" in str(caught.value)


def test_braces_that_are_no_names_stay() -> None:
    description = {"name": "n", "exec_file": "awk '{print $1}' {index} {{x}} {1}", "nb_jobs": 1, "clusters": ["c"]}
    assert parse(json.dumps(description), base=Path(), home=Path()).count == 1
