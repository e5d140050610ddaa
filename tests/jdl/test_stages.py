"""`stages`: what stands around holds for each, each waits for the one before; what is wrong is told by its place."""

from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import parse_described
from cigri.jdl.stages import MOST_STAGES, stages_of

SHARED: dict[str, Any] = {"clusters": {"c": {}}, "nb_jobs": 10, "walltime": "1:00:00"}


def after(*stages: dict[str, Any], **common: Any) -> list[object]:
    return [stage.get("after") for stage in stages_of({**common, "stages": [*stages]})]


def test_what_has_none_is_one_campaign() -> None:
    assert stages_of({"name": "a"}) == stages_of("[ Executable = x ]") == []


def test_what_stands_around_holds_for_each_that_says_nothing_else() -> None:
    first, second = stages_of(
        {**SHARED, "Name": "study", "stages": [
            {"name": "make", "exec_file": "./make"},
            {"NAME": "solve", "exec_file": "./solve", "walltime": 60, "params": ["x", "y"]},
        ]}
    )  # fmt: skip
    assert first == {**SHARED, "name": "study.make", "exec_file": "./make"}
    assert second == {
        **{"clusters": {"c": {}}, "walltime": 60, "params": ["x", "y"]},
        **{"name": "study.solve", "exec_file": "./solve", "after": "study.make"},
    }
    assert [parse_described(stage, ()).count for stage in (first, second)] == [10, 2]


def test_each_waits_for_the_one_before_unless_it_says_for_which() -> None:
    a, b = {"name": "a"}, {"name": "b"}
    assert after(a, b, {"name": "c"}) == [None, "a", "b"]
    assert after(a, {**b, "after": []}, {"name": "c", "after": ["a", "b:same"]}) == [None, [], ["a", "b:same"]]
    assert after(a, {**b, "after": {"campaign": "a", "when": "end"}}) == [None, {"campaign": "a", "when": "end"}]
    assert after(a, {**b, "after": [12, "elsewhere", "a"]}, name="s") == [None, [12, "elsewhere", "s.a"]]
    assert after(a, {**b, "after": "a:same"}, name="s") == [None, "s.a:same"]


def test_the_first_waits_for_what_all_of_them_wait_for() -> None:
    assert after({"name": "a"}, {"name": "b"}, after=12) == [12, "a"]


@pytest.mark.parametrize(
    ("stages", "place", "message"),
    [
        ([], "stages", "expected a list of stages"),
        ("a", "stages", "expected a list of stages"),
        ([{"name": "a"}, "b"], "stages", "expected a list of stages"),
        ([{"name": "a"}, {}], "stages[1].name", "is missing"),
        ([{"name": "a"}, {"name": " a"}], "stages[1].name", "is the name of another stage"),
        ([{"name": "a", "stages": []}], "stages[0].stages", "a stage has no stages"),
        ([{"name": "a", "after": "b"}, {"name": "b"}], "stages[0].after", "stage 'b' does not stand before"),
        ([{"name": "a", "after": "a:same"}], "stages[0].after", "stage 'a' does not stand before"),
        ([{"name": "a"}] * (MOST_STAGES + 1), "stages", f"there may be {MOST_STAGES}"),
    ],
)
def test_what_is_wrong_is_told_by_its_place(stages: object, place: str, message: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        stages_of({"stages": stages})
    assert refused.value.problems[0].place == place
    assert message in str(refused.value.problems[0])


def test_stages_are_no_field_of_one_campaign() -> None:
    with pytest.raises(DescriptionError, match="are several campaigns"):
        parse_described({**SHARED, "name": "a", "exec_file": "x", "stages": []}, ())
