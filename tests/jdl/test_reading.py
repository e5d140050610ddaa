"""Descriptions are read as CiGri 3 reads them, in three formats, and every problem is told at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.jdl import CampaignDescription, ClusterSettings, format_of, parse
from cigri.requirements import BUILT_IN, ValueKind, parse_requirement
from cigri.requirements.values import read_value

HOME = Path("/home/bob")
MINIMAL = {"name": "n", "nb_jobs": 1, "clusters": {"c": {"exec_file": "e"}}}

AS_JSON = """{"name": "n", "exec_file": "run {a}", "walltime": "01:30:00", "params": [{"a": 1}, {"a": "x"}],
 "environment": {"A": "1"}, "clusters": {"dahu": {}, "luke": {"max_jobs": "3", "prologue": ["true", "exit 2"]}}}"""
AS_YAML = """
name: n
exec_file: run {a}
walltime: 1:30:00
params: [{a: 1}, {a: x}]
environment: {A: 1}
clusters:
  dahu:
  luke: {max_jobs: 3, prologue: "true\\nexit 2"}
"""
AS_TOML = """
name = "n"
exec_file = "run {a}"
walltime = 01:30:00
params = [{a = 1}, {a = "x"}]
environment.A = "1"
[clusters.dahu]
[clusters.luke]
max_jobs = 3
prologue = '''
true
exit 2'''
"""


def read(content: dict[str, Any]) -> CampaignDescription:
    return parse(json.dumps(content), base=Path(), home=HOME)


def problems(text: str) -> list[DescriptionProblem]:
    with pytest.raises(DescriptionError) as caught:
        parse(text, base=Path(), home=HOME)
    return caught.value.problems


def places(content: dict[str, Any]) -> list[str]:
    return [problem.place for problem in problems(json.dumps(content))]


def test_the_three_formats_say_the_same() -> None:
    json_, yaml, toml = (parse(text, base=Path(), home=HOME) for text in (AS_JSON, AS_YAML, AS_TOML))
    assert json_ == yaml == toml
    assert list(json_.parameters()) == [{"a": 1}, {"a": "x"}]
    assert json_.clusters["luke"].walltime == 5400
    assert json_.clusters["luke"].prologue == ("true", "exit 2")
    assert json_.clusters["luke"].max_jobs == 3


def test_a_file_name_tells_its_format() -> None:
    assert [format_of(name) for name in ("a.json", "b.YAML", Path("c.yml"), "d.toml", "e.jdl")] == [
        "json",
        "yaml",
        "yaml",
        "toml",
        None,
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"name": "n", "nb_jobs": 0, "clusters": {"c": {"exec_file": "e"}}},
        {"name": "n", "nb_jobs": 0, "exec_file": "e", "clusters": {"c": {}}},
        {"NAME": "n", "Nb_Jobs": "0", "EXEC_FILE": "e", "Clusters": {"c": None}, "test_mode": "false"},
        {**MINIMAL, "nb_jobs": 0, "jobs_type": "normal", "temporal_grouping": "true", "checkpointing_type": "None"},
        {**MINIMAL, "nb_jobs": 0, "output_gathering_method": None, "output_file": "", "dimensional_grouping": "true"},
    ],
)
def test_what_cigri_3_takes(content: dict[str, Any]) -> None:
    description = read(content)
    assert (description.name, description.count, description.campaign_type) == ("n", 0, "default")
    assert description.clusters == {"c": ClusterSettings(exec_file="e")}


@pytest.mark.parametrize("to", ["/results", "/results/", "/results/{number}"])
@pytest.mark.parametrize("method", ["scp", "Collector", None, "None"])
def test_where_cigri_3_has_outputs_gathered_they_are_collected(to: str, method: str | None) -> None:
    gathered = {"output_file": "a.h5", "output_gathering_method": method, "output_destination": to, "exec_file": "e"}
    ours = {"outputs": ["a.h5"], "collect": {"to": "/results/{number}"}, "exec_file": "e"}
    assert read({**MINIMAL, **gathered}).clusters == read({**MINIMAL, **ours}).clusters
    own = {**MINIMAL, "output_file": "a.h5", "exec_file": "e", "clusters": {"c": {"output_destination": to}}}
    assert read(own).clusters["c"].collect.to == "/results/{number}"


def test_json_with_comments_is_read_as_cigri_3_does() -> None:
    text = '{"name": "n", /* a\n b */ "nb_jobs": 1, // "x"\n "exec_file": "http://x/y", "clusters": {"c": {}}}'
    assert parse(text, base=Path(), home=HOME).clusters["c"].exec_file == "http://x/y"


def test_global_settings_hold_unless_the_cluster_says_otherwise() -> None:
    content = {"exec_file": "e", "walltime": "00:10:00", "project": "p", "environment": {"A": "1", "B": "2"}}
    own = {"walltime": 60, "environment": {"A": "3"}, "project": None}
    clusters = read({**MINIMAL, **content, "clusters": {"c": {}, "d": own}}).clusters
    assert (clusters["c"].walltime, clusters["c"].project, clusters["c"].environment) == (
        600,
        "p",
        {"A": "1", "B": "2"},
    )
    assert (clusters["d"].walltime, clusters["d"].project, clusters["d"].environment) == (60, "", {"A": "3"})
    assert clusters["d"].exec_file == "e"


@pytest.mark.parametrize(
    ("fields", "campaign_type"),
    [
        ({}, "default"),
        ({"test_mode": "true"}, "test"),
        ({"test_mode": True}, "test"),
        ({"test_mode": "false"}, "default"),
        ({"campaign_type": "test"}, "test"),
        ({"campaign_type": "test", "test_mode": "true"}, "test"),
        ({"campaign_type": "default", "test_mode": "false"}, "default"),
        ({"clusters": {"c": {"exec_file": "e", "test_mode": "true"}}}, "test"),
    ],
)
def test_type_of_a_campaign(fields: dict[str, Any], campaign_type: str) -> None:
    assert read(MINIMAL | fields).campaign_type == campaign_type


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        ({"name": None}, "name", "is missing"),
        ({"name": " "}, "name", "expected some text"),
        ({"clusters": []}, "clusters", "expected clusters by name"),
        ({"clusters": ["dahu", 1]}, "clusters", "expected clusters by name"),
        ({"clusters": {}}, "clusters", "expected clusters by name"),
        ({"clusters": {"": {}}}, "clusters", "a cluster has a name"),
        ({"clusters": "dahu"}, "clusters", "expected clusters by name"),
        ({"clusters": "any"}, "exec_file", "is missing"),
        ({"clusters": "any", "exec_file": "e", "walltime": "x"}, "walltime", "expected a duration"),
        ({"clusters": {"c": "e"}}, "clusters.c", "expected an object"),
        ({"clusters": {"c": {}}}, "exec_file", "is missing"),
        ({"clusters": {"c": {"exec_file": "e"}, "d": {}}}, "clusters.d.exec_file", "is missing"),
        ({"campaign_type": "tset"}, "campaign_type", "'default' or 'test'"),
        ({"campaign_type": "default", "test_mode": "true"}, "test_mode", "contradicts campaign_type"),
        ({"test_mode": 2}, "test_mode", "expected true or false"),
        ({"jobs_type": "desktop_computing", "nb_jobs": None}, "jobs_type", "not supported yet"),
        ({"jobs_type": "other"}, "jobs_type", "expected 'normal'"),
        ({"nb_jobs": None}, "params", "no parameters are given"),
        ({"params": ["a"]}, "params", "params and nb_jobs are given"),
        ({"nb_jobs": -1}, "nb_jobs", "0 or more"),
        ({"nb_jobs": "x"}, "nb_jobs", "0 or more"),
        ({"nb_jobs": 20_000_000}, "nb_jobs", "10000000 at most"),
        ({"maxjobs": 3}, "maxjobs", "did you mean 'max_jobs'?"),
        ({"NAME": "m"}, "NAME", "given twice"),
        ({"walltime": "banana"}, "walltime", "expected a duration"),
        ({"output_gathering_method": "scp"}, "output_gathering_method", "says not where to (write output_destination"),
        ({"output_gathering_method": "iRods"}, "output_gathering_method", "expected scp or collector, not 'iRods'"),
        ({"output_destination": "/x", "collect": {}}, "output_destination", "contradicts collect"),
        ({"output_destination": "/x"}, "collect", "nothing is to be collected"),
        ({"output_destination": 3, "output_file": "a"}, "collect.to", "expected a path from / on"),
        ({"data_to_transfer": "/x"}, "data_to_transfer", "name files in 'inputs', and those of each task"),
        ({"output_file": "/x"}, "output_file[0]", "is not below the directory of the task"),
    ],
)
def test_what_is_wrong_at_the_top_is_told(fields: dict[str, Any], place: str, message: str) -> None:
    found = problems(json.dumps(MINIMAL | fields))
    assert len(found) == 1, found
    assert found[0].place == place
    assert message in str(found[0])


def test_a_number_beyond_all_bounds_is_told() -> None:
    found = problems('{"name": "n", "retries": 1e400, "params": [1e400], "exec_file": "e", "clusters": {"c": {}}}')
    assert [str(problem).split(",")[0] for problem in found] == [
        "retries: expected a whole number",
        "params[0]: expected text",
    ]


def test_a_test_is_a_test_on_all_clusters() -> None:
    clusters = {"c": {"exec_file": "e", "test_mode": "true"}, "d": {"exec_file": "e"}}
    assert places(MINIMAL | {"clusters": clusters}) == ["test_mode"]


def test_every_problem_is_told_at_once_and_where_it_was_written() -> None:
    content = {
        "exec_file": "run {a} {b}",
        "walltime": "banana",
        "clusters": {"c": {}, "d": {"walltime": 60, "queu": "x"}, "e": {"environment": {"X": "{c}"}, "max_jobs": -1}},
        "sweep": {"a": [1], "z": [2]},
        "colour": "red",
    }
    found = places(content)
    assert sorted(found) == sorted(
        [
            "name",
            "walltime",
            "clusters.d.queu",
            "clusters.e.max_jobs",
            "clusters.e.environment.X",
            "exec_file",
            "colour",
        ]
    )


def test_a_global_value_is_checked_where_no_cluster_uses_it() -> None:
    assert places({**MINIMAL, "walltime": "banana", "clusters": {"c": {"exec_file": "e", "walltime": 1}}}) == [
        "walltime"
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "the description", "is empty"),
        ('{"name": "n",\n "nb_jobs": 1,}', "line 2, column 15", ""),
        ('{"name": "n", /* x */\n "nb_jobs": 1,}', "line 2, column 15", ""),
        ('{"x": 1, "name": 1, "name": 2}', "name", "is given twice"),
        ('{"nb_jobs": NaN}', "NaN", "is not a number"),
        ('[\n"a"]', "the description", "expected an object of fields"),
        ("[" * 100_000, "the description", "nested too deeply"),
        ('{"nb_jobs": 1' + "0" * 5000 + "}", "the description", "a number that is too long to be meant"),
        ('name = "n"\nexec_file = e\n', "line 2, column 13", "Invalid value"),
        ('name = "n"\nname = "m"\n', "line 2", "Cannot overwrite"),
        ("name: n\nclusters: [a\nb: c", "line 3, column 2", ""),
        ("name: n\nname: m\n", "line 2, column 1", "'name' is given twice"),
        ("name: n\nexec_file: !!python/name:os.system x\n", "line 2, column 12", "has no meaning for this value"),
        ("? [a]\n: b\n", "line 1, column 3", "a key must be text"),
        ("just words", "the description", "expected an object of fields"),
        ("a: \x01", "", ""),
    ],
)
def test_where_the_text_breaks(text: str, place: str, message: str) -> None:
    found = problems(text)
    assert len(found) == 1
    assert place in found[0].place
    assert message in found[0].message


def test_yaml_scalars_are_those_of_json() -> None:
    text = "name: yes\nexec_file: e\nqueue: 2024-01-01\nproject: 010\nclusters: {c: }\nparams: [on, 1:30, 007, 1, ~]"
    with pytest.raises(DescriptionError, match=r"^params\[4\]: expected text, not None"):
        parse(text, base=Path(), home=HOME)
    description = parse(text.replace(", ~]", "]"), base=Path(), home=HOME)
    assert description.name == "yes"
    assert (description.clusters["c"].queue, description.clusters["c"].project) == ("2024-01-01", "010")
    assert list(description.parameters()) == ["on", "1:30", "007", "1"]


def test_yaml_merges_an_anchor_and_lets_it_be_overridden() -> None:
    text = "name: n\nnb_jobs: 1\nclusters:\n  a: &a {exec_file: e, walltime: 60}\n  b: {<<: *a, walltime: 120}\n"
    clusters = parse(text, base=Path(), home=HOME).clusters
    assert (clusters["b"].exec_file, clusters["a"].walltime, clusters["b"].walltime) == ("e", 60, 120)


@pytest.mark.parametrize(
    "content",
    [
        {"clusters": "any"},
        {"clusters": " ANY"},
        {"requirements": "cores >= 8"},
        {"clusters": "any", "requirements": ""},
    ],
)
def test_the_grid_chooses_where_no_cluster_is_named(content: dict[str, Any]) -> None:
    description = read({"name": "n", "nb_jobs": 1, "exec_file": "e", "walltime": 60, **content})
    assert (description.clusters, description.anywhere) == ({}, ClusterSettings(exec_file="e", walltime=60))
    assert description.on_any(["c", "d"]).clusters == dict.fromkeys(["c", "d"], description.anywhere)


def test_the_grid_chooses_no_others_than_the_user_has_named() -> None:
    description = read(
        {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"any": {}}, "requirements": "cores >= 8"}
    )
    assert (list(description.clusters), description.anywhere) == (["any"], None)
    assert description.on_any(["c"]) == description


def test_a_template_that_holds_for_all_clusters_is_checked() -> None:
    content = {"name": "n", "params": [{"a": 1}], "exec_file": "run {b}", "clusters": "any"}
    assert places(content) == ["exec_file", "params"]


def test_clusters_may_be_a_list_or_left_out() -> None:
    assert read({**MINIMAL, "exec_file": "e", "clusters": ["c", "d"]}).clusters == {
        name: ClusterSettings(exec_file="e") for name in "cd"
    }
    left_out = read({"name": "n", "nb_jobs": 1, "exec_file": "e"})
    assert (left_out.is_unplaced, left_out.clusters, left_out.anywhere) == (True, {}, ClusterSettings(exec_file="e"))
    for chosen in ({"requirements": "memory >= 1 GB"}, {"clusters": "any"}):
        assert not read({"name": "n", "nb_jobs": 1, "exec_file": "e", **chosen}).is_unplaced


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2h", 7200),
        ("90 min", 5400),
        ("1-00:00:00", 86400),
        ("1:30:00", 5400),
        ("1.5 d", 129_600),
        ("1 d 2 h", 93_600),
        ("2-12:00", 216_000),
    ],
)
def test_durations_are_written_alike_everywhere(written: str, seconds: int) -> None:
    settings = read(
        {**MINIMAL, "walltime": written, "clusters": {"c": {"exec_file": "e", "duration": written}}}
    ).clusters
    assert (settings["c"].walltime, settings["c"].duration) == (seconds, seconds)
    assert read_value(written, ValueKind.DURATION) == (seconds, ValueKind.DURATION)
    if " " not in written:
        wanted = parse_requirement(f"max_walltime >= {written}", BUILT_IN)
        assert wanted == parse_requirement(f"max_walltime >= {seconds}", BUILT_IN)


def test_a_part_of_a_second_counts_as_a_whole_one() -> None:
    assert read({**MINIMAL, "walltime": 90.5}).clusters["c"].walltime == 91
    for wrong in (-0.5, 1e300):
        assert "expected a duration" in problems(json.dumps({**MINIMAL, "walltime": wrong}))[0].message


def test_a_duration_in_m_may_be_too_much() -> None:
    assert (
        "'m' is milli in one place and minutes or megabytes in another"
        in problems(json.dumps({**MINIMAL, "walltime": "90 m"}))[0].message
    )
