"""Descriptions of CiGri 3: its own examples, and what its users wrote, go on; what is ours stays strict."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import parse
from cigri.jdl.cigri3 import from_cigri3, looks_like_cigri3, read_cigri3
from cigri.jdl.parsing import USUAL_DEFAULTS, parse_described, without_params

EXAMPLE = r"""
{
    /* as in its documentation */
    "name": "povray", "resources": "core=1", "exec_file": "\$HOME/povray/start.bash", "test_mode": "true",
    "exec_directory": "\$HOME/povray", "type": "best-effort", "checkpointing_type": "BLCR",
    "prologue": ["set -e", "mkdir -p \\$HOME/povray", "cd \$HOME"], // a comment
    "clusters": {"gofree": {"walltime": "00:10:00", "max_jobs": 50}, "froggy": {"project": "test", "heavy": 1}},
    "heaviness": 1, "wall_time": "1:00:00",
    "params": ["p 1"], "nb_jobs": 10
}
"""
PLAIN = {"name": "n", "clusters": {"c": {}}, "params": ["1"], "exec_file": "./run"}


def read(text: str) -> tuple[dict[str, Any], list[str]]:
    described, notes = read_cigri3(text)
    assert isinstance(described, dict)
    fields, more = from_cigri3(described)
    return fields, [*notes, *more]


def test_its_own_example_is_read_as_it_read_it() -> None:
    described, notes = read(EXAMPLE)
    alone, params = without_params(described)
    campaign = parse_described(alone, params, USUAL_DEFAULTS)
    settings = campaign.clusters["gofree"]
    assert settings.exec_file == "$HOME/povray/start.bash"
    assert settings.exec_directory == "$HOME/povray"
    assert settings.prologue == ("set -e", "mkdir -p $HOME/povray", "cd $HOME")
    assert (campaign.count, settings.max_jobs, campaign.clusters["froggy"].project) == (1, 50, "test")
    assert notes == [
        "checkpointing_type: nothing comes of it, as in CiGri 3",
        "heaviness: unknown field, left out",
        "wall_time: unknown field, left out; did you mean 'walltime'?",
        "nb_jobs: stands beside params, which hold",
        "clusters.froggy.heavy: unknown field, left out",
    ]


@pytest.mark.parametrize(
    ("line", "is_read_by_shell"),
    [
        ("./run", False),
        ("$HOME/bin/run -x 'a b'", False),
        ("{HOME}/run", False),
        ("cd x && ./run > o", True),
        ("OMP_NUM_THREADS=1 ./run", True),
        ("./run $CIGRI_CAMPAIGN_ID", True),
        (r"./run \$CIGRI_CAMPAIGN_ID", True),
        ("./run '", False),
    ],
)
def test_a_line_for_a_shell_is_known(line: str, is_read_by_shell: bool) -> None:
    for described in (PLAIN | {"exec_file": line}, PLAIN | {"clusters": {"c": {"exec_file": line}}}):
        fields = from_cigri3(described).fields
        place = fields["clusters"]["c"] if "exec_file" in fields["clusters"]["c"] else fields
        assert (place.get("shell") is True) is is_read_by_shell


def test_of_two_equal_keys_the_last_one_holds() -> None:
    described, notes = read('{"name": "a", "name": "b", "clusters": {"c": {"walltime": 1, "walltime": 2}}}')
    assert (described["name"], described["clusters"]["c"]["walltime"]) == ("b", 2)
    assert sorted(notes) == ["name: is given twice; the last one holds", "walltime: is given twice; the last one holds"]


def test_tasks_share_no_job_where_grouping_is_to_be_asked_for() -> None:
    fields = from_cigri3(PLAIN, is_grouping_asked_for=True).fields
    assert (fields["temporal_grouping"], fields["dimensional_grouping"]) == (False, False)
    asked = from_cigri3(PLAIN | {"temporal_grouping": "true"}, is_grouping_asked_for=True).fields
    assert (asked["temporal_grouping"], asked["dimensional_grouping"]) == ("true", False)
    assert "temporal_grouping" not in from_cigri3(PLAIN).fields


@pytest.mark.parametrize(
    ("more", "is_cigri3"),
    [
        ({}, False),
        ({"heaviness": 1}, False),
        ({"jobs_type": "normal"}, True),
        ({"resources": "/core=1"}, True),
        ({"resources": {"cpu": 1}}, False),
        ({"clusters": {"c": {"type": "normal"}}}, True),
        ({"type": "normal", "inputs": ["x"]}, False),
        ({"type": "normal", "clusters": {"c": {"outputs": ["x"]}}}, False),
        ({"prologue": [r"mkdir \$HOME/x"]}, True),
        ({"prologue": [r"echo it costs 5\$"]}, False),
    ],
)
def test_what_is_of_cigri3_is_known_by_its_fields(more: dict[str, Any], is_cigri3: bool) -> None:
    assert looks_like_cigri3(PLAIN | more) is is_cigri3


@pytest.mark.parametrize("text", ["[1]", "3", '"name"', "null"])
def test_what_is_no_description_is_none_of_cigri3(text: str) -> None:
    assert not looks_like_cigri3(json.loads(text))


@pytest.mark.parametrize(("more", "told"), [({"heaviness": 1}, "heaviness"), ({"exec_file": "a; b"}, "no shell")])
def test_our_own_descriptions_stay_strict(more: dict[str, Any], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        parse(json.dumps(PLAIN | more), format="json", base=Path(), home=Path("/"))


@pytest.mark.parametrize("written", [r'"\$HOME/run"', r'"a\\\$b"', r'"\"\$x\" // no comment"'])
def test_a_dollar_behind_a_backslash_is_a_dollar(written: str) -> None:
    ruby = written.replace(r"\$", "$")
    assert read_cigri3(f'{{"name": {written}}}') == ({"name": json.loads(ruby)}, [])


def test_very_many_keys_are_told_in_few_words() -> None:
    keys = ", ".join(f'"k{number}": 1, "k{number}": 2' for number in range(100_000))
    fields, notes = read(f'{{"name": "n", {keys}}}')
    assert (fields, len(notes)) == ({"name": "n"}, 42)
    assert notes[-1] == "99980 more of this kind"


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(DescriptionError, match="NaN: is not a number"):
        read_cigri3('{"walltime": NaN}')
