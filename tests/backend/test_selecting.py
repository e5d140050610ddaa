"""Which part of a requirement the nodes of a queue differ in, and how each batch system is asked for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.drivers import BatchRequest, ResourceRequest, load
from cigri.errors import ConfigError
from cigri.requirements import (
    BUILT_IN,
    Comparison,
    ComparisonOperator,
    Condition,
    Not,
    ValueKind,
    conditions,
    parse_requirement,
)
from cigri.requirements.conditions import all_of, any_of
from cigri.requirements.node_selection import ConditionNotSelectable, undecided
from cigri.requirements.three_valued_logic import holds
from tests.backend.drivers import DRIVERS

GB = 1024**3
KINDS = {
    **BUILT_IN,
    "release": ValueKind.VERSION,
    "scratch": ValueKind.NUMBER,
    "model": ValueKind.STRING,
    "fat": ValueKind.BOOLEAN,
}
THIN: dict[str, Any] = {
    "cores": 8,
    "memory": 8 * GB,
    "features": ["big", "Old"],
    "scratch": 100,
    "model": "xeon",
    "release": "1.9",
    "site": "here",
    "gpus": 2,
}
FAT = THIN | {
    "memory": 64 * GB,
    "features": ["big", "New"],
    "scratch": 1000,
    "model": "epyc 7",
    "release": "1.10",
    "fat": True,
}
MIDDLE = THIN | {"scratch": 200, "model": "opteron", "features": ["big"]}
NODES = [THIN, MIDDLE, FAT]


def condition(text: str) -> Condition:
    found = conditions(parse_requirement(text, KINDS))
    assert found is not None
    return found


DIFFERENCES = [
    ("cores >= 8 and site == 'here'", "True"),
    ("cores >= 9", "False"),
    ("memory >= 16 GB and cores >= 8", "memory >= 16 GB"),
    ("memory >= 16 GB or cores >= 8", "True"),
    ("memory >= 16 GB or cores >= 9", "memory >= 16 GB"),
    ("not (scratch < 500 or cores < 8)", "scratch >= 500"),
    ("not (memory > 16 GB and scratch > 10)", "memory <= 16 GB"),
    ("new", "features == 'New'"),
    ("'New' in features", "features == 'New'"),
    ("big", "True"),
    ("fat", "fat"),
    ("not fat", "not fat"),
    ("not new", "not new"),
    ("release >= '1.10'", "release == '1.10'"),
    ("release >= '1.8'", "True"),
    ("absent == 3", "False"),
    ("not absent == 3", "False"),
]


@pytest.mark.parametrize(("text", "left"), DIFFERENCES)
def test_only_what_the_nodes_differ_in_is_asked_for(text: str, left: str) -> None:
    assert str(undecided(condition(text), NODES)) == left


def test_of_nodes_that_nobody_has_looked_at_nothing_is_known() -> None:
    assert undecided(condition("memory >= 1 GB"), []) is False


VALUES = {
    "scratch": st.integers(0, 3),
    "model": st.sampled_from("ab"),
    "fat": st.booleans(),
    "release": st.sampled_from(["1.9", "1.10"]),
}
CLASSES = st.fixed_dictionaries({}, optional={**VALUES, "features": st.lists(st.sampled_from(["X", "y"]), unique=True)})
EXPRESSIONS = ["fat", "x", "y", "scratch >= 1", "scratch < 2", "scratch == 3", "model == 'a'", "model in ['a', 'c']"]
LEAVES = st.sampled_from([*EXPRESSIONS, "release > '1.9'", "'X' in features"]).map(condition)


def larger(some: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    parts = st.lists(some, min_size=1, max_size=3)
    return st.one_of(parts.map(all_of), parts.map(any_of), some.map(Not))


TREES = st.recursive(LEAVES, larger, max_leaves=8)


@given(TREES, st.lists(CLASSES, min_size=1, max_size=4))
def test_what_is_left_holds_for_the_same_nodes(tree: Condition, classes: Sequence[Mapping[str, Any]]) -> None:
    left = undecided(tree, classes)
    for one in classes:
        assert (left if isinstance(left, bool) else holds(left, one) is True) is (holds(tree, one) is True)


SELECTED = [
    ("slurm", "new", ["--constraint=New"]),
    ("slurm", "(new or old) and memory > 10 GB", ["--constraint=New|Old", "--mem=10241M"]),
    ("slurm", "features in ['Old', 'none-has-it']", ["--constraint=Old"]),
    ("slurm", "memory >= 9 GB", ["--mem=9216M"]),
    ("slurm", "scratch > 500", ["--gres=scratch:501"]),
    ("oar", "memory >= 16 GB", ["memnode >= 16384"]),
    ("oar", "not memory >= 16 GB", ["memnode < 16384"]),
    ("oar", "scratch >= 500 and model == 'epyc 7'", ["(model = 'epyc 7') AND (scratch >= 500)"]),
    ("oar", "scratch >= 500 or model in ['xeon', \"it's\"]", ["(model = 'xeon') OR (scratch >= 500)"]),
    ("oar", "model in ['xeon', 'opteron']", ["model IN ('opteron', 'xeon')"]),
    ("oar", "model != 'xeon'", ["model <> 'xeon'"]),
    ("oar", "release >= '1.10'", ["release = '1.10'"]),
    ("gridengine", "scratch >= 500", ["scratch=500"]),
    ("gridengine", "fat", ["Fat=TRUE"]),
    ("gridengine", "model != 'xeon'", ["model=!xeon"]),
    ("gridengine", "model == 'xeon' or model == 'opteron'", ["model=opteron|xeon"]),
    ("gridengine", "memory >= 16 GB and scratch >= 200 and scratch >= 500", ["mem_total=17179869184", "scratch=500"]),
]  # fmt: skip
NEITHER = [
    ("slurm", "not new"),
    ("slurm", "model == 'xeon'"),
    ("slurm", "memory <= 16 GB"),
    ("slurm", "memory >= 16 GB or new"),
    ("slurm", "fat"),
    ("oar", "fat"),
    ("oar", "new"),
    ("gridengine", "scratch < 500"),
    ("gridengine", "scratch > 100"),
    ("gridengine", "scratch >= 500 or model == 'xeon'"),
    ("gridengine", "not fat"),
    ("gridengine", "model == 'epyc 7'"),
    ("gridengine", "new"),
    ("local", "scratch >= 500"),
]
SITES = {
    **DRIVERS,
    "oar": load("oar", {"memory": "memnode"}),
    "gridengine": load("gridengine", {"complexes": {"scratch": "<=", "fat": "Fat ==", "model": "=="}}),
}


def left_of(text: str) -> Condition:
    found = undecided(condition(text), NODES)
    assert not isinstance(found, bool)
    return found


@pytest.mark.parametrize(("driver", "text", "words"), SELECTED)
def test_a_requirement_in_the_words_of_the_batch_system(driver: str, text: str, words: list[str]) -> None:
    request = BatchRequest("cigri-1", 1, 60, requirement=left_of(text))
    assert list(SITES[driver].select(left_of(text))) == words
    assert SITES[driver].problems(request) == []
    for word in words:
        assert word.replace("'", "'\"'\"'") in SITES[driver].submit(request)


@pytest.mark.parametrize(("driver", "text"), NEITHER)
def test_what_a_batch_system_has_no_words_for_is_a_problem(driver: str, text: str) -> None:
    left = left_of(text)
    with pytest.raises(ConditionNotSelectable):
        SITES[driver].select(left)
    [problem] = SITES[driver].problems(BatchRequest("cigri-1", 1, 60, requirement=left))
    assert problem.startswith("requirements: the batch system cannot be asked for ")


HOSTILE = ["'; rm -rf ~; '", "a$(id)", "a`id`", "a b", "*", "a|b", "x'--", "é", "a\\b"]


@pytest.mark.parametrize("driver", ["slurm", "oar", "gridengine"])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_is_read_as_more_than_a_value(driver: str, text: str) -> None:
    """It is refused, or stands in quotes of SQL; a shell sees one word (test_slurm, test_oar, test_gridengine)."""
    wanted = Comparison("features" if driver == "slurm" else "model", ComparisonOperator.EQ, text, ValueKind.STRING)
    try:
        [word] = SITES[driver].select(wanted)
    except ConditionNotSelectable:
        return
    assert word == "model = '" + text.replace("'", "''") + "'"


def test_slurm_is_asked_for_what_the_job_takes_or_the_node_has_whichever_is_more() -> None:
    wish = ResourceRequest(mem=20_000, others={"gpu": 1, "disk": 2})
    required = all_of([left_of("new"), condition("gpus >= 2"), condition("memory >= 1 GB")])
    request = BatchRequest("cigri-1", 1, 60, wish, properties="a|b", requirement=required)
    text = load("slurm", {"constraint": "ib", "resources": {"disk": "gres/disk"}}).submit(request)
    assert "'--constraint=(ib)&(a|b)&New'" in text
    assert "--mem=20000M" in text
    assert "--gres=disk:2,gpu:2" in text


def test_a_users_own_gres_may_not_hide_what_is_required() -> None:
    request = BatchRequest("cigri-1", 1, 60, backend=("--gres=disk:1",), requirement=condition("gpus >= 2"))
    [problem] = DRIVERS["slurm"].problems(request)
    assert "--gres goes before what is required (gpus >= 2); leave one of them out" in problem


def test_the_model_of_gpus_is_part_of_what_is_counted() -> None:
    assert DRIVERS["slurm"].select(condition("gpu_model == 'a100' and gpus >= 2")) == ["--gres=gpu:a100:2"]
    assert DRIVERS["slurm"].select(condition("gpu_model == 'a100'")) == ["--gres=gpu:a100:1"]


@pytest.mark.parametrize(
    ("driver", "options"),
    [
        ("gridengine", {"complexes": {"scratch": "=<"}}),
        ("gridengine", {"complexes": {"scratch": "a b <="}}),
        ("gridengine", {"complexes": {"Scratch": "<="}}),
        ("oar", {"columns": {"scratch": "a b"}}),
        ("oar", {"columns": {"a-b": "c"}}),
    ],
)
def test_names_that_are_none_are_told_when_the_driver_is_loaded(driver: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"complexes|columns"):
        load(driver, options)


def test_oar_may_call_a_property_by_another_name() -> None:
    driver = load("oar", {"columns": {"cores": "core_count"}})
    assert driver.select(condition("cores >= 8")) == ["core_count >= 8"]


@pytest.mark.parametrize("fields", [{"properties": "scratch=5"}, {"resources": ResourceRequest(others={"scratch": 2})}])
def test_grid_engine_would_heed_one_request_only_for_a_complex(fields: dict[str, Any]) -> None:
    request = BatchRequest("cigri-1", 1, 60, **fields, requirement=left_of("scratch >= 500"))
    [problem] = SITES["gridengine"].problems(request)
    assert problem.startswith("scratch is asked for by the requirements already")
