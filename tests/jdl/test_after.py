"""`after` in a description: each way to say what is waited for, and what is wrong with others."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.flow.dependencies import RequiredCampaign
from cigri.jdl import CampaignDescription, parse
from cigri.jdl.after import MOST_REQUIRED
from cigri.states import AfterWhen
from cigri.submission.new_campaign import wanted_before

SUCCESS, END, FAILURE = AfterWhen


def read(after: object, **fields: object) -> CampaignDescription:
    content: dict[str, Any] = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"c": {}}}
    return parse(json.dumps(content | {"after": after} | fields), base=Path(), home=Path())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, []),
        ([], []),
        (12, [RequiredCampaign(12)]),
        ("12", [RequiredCampaign(12)]),
        ("solve it", [RequiredCampaign("solve it")]),
        ("12:same", [RequiredCampaign(12, True)]),
        (["solve:same", "13:all"], [RequiredCampaign("solve", True), RequiredCampaign(13)]),
        ("a:b", [RequiredCampaign("a:b")]),
        ({"campaign": 12}, [RequiredCampaign(12)]),
        ([{"campaign": "12", "tasks": "same", "when": "end"}], [RequiredCampaign(12, True, END)]),
        ({"campaign": 12, "when": "failure"}, [RequiredCampaign(12, False, FAILURE)]),
        ({"campaign": 12, "tolerance": "5%"}, [RequiredCampaign(12, False, SUCCESS, 0, 0.05)]),
        ({"campaign": 12, "tolerance": " 12.5 % "}, [RequiredCampaign(12, False, SUCCESS, 0, 0.125)]),
        ({"campaign": 12, "tolerance": 3}, [RequiredCampaign(12, False, SUCCESS, 3)]),
        ({"campaign": 12, "tolerance": "3"}, [RequiredCampaign(12, False, SUCCESS, 3)]),
        ({"campaign": 12, "tasks": "same", "tolerance": 0}, [RequiredCampaign(12, True)]),
    ],
)
def test_each_way_to_say_it(written: object, expected: list[RequiredCampaign]) -> None:
    found = read(written)
    assert wanted_before(found) == expected
    again = parse(json.dumps({**found.written, "nb_jobs": 1}), base=Path(), home=Path())
    assert again.after == found.after, "what is kept of it says the same"


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        (True, "after[0]", "expected a campaign to wait for"),
        ({"campain": 12}, "after[0]", "did you mean 'campaign'"),
        ({"tasks": "same"}, "after[0]", "says no campaign"),
        ({"campaign": 0}, "after[0].campaign", "number or the name of a campaign"),
        ({"campaign": ""}, "after[0].campaign", "number or the name of a campaign"),
        ({"campaign": [1]}, "after[0].campaign", "number or the name of a campaign"),
        ({"campaign": "a\nb"}, "after[0].campaign", "one line without control characters"),
        ({"campaign": 12, "when": "never"}, "after[0]", "success or end or failure"),
        ({"campaign": 12, "tasks": [3]}, "after[0]", "all or same"),
        ({"campaign": 12, "tolerance": "101%"}, "after[0].tolerance", "a number of tasks, or a percentage"),
        ({"campaign": 12, "tolerance": -1}, "after[0].tolerance", "a number of tasks, or a percentage"),
        ({"campaign": 12, "tolerance": 0.5}, "after[0].tolerance", "a number of tasks, or a percentage"),
        ({"campaign": 12, "tolerance": True}, "after[0].tolerance", "a number of tasks, or a percentage"),
        ({"campaign": 12, "tolerance": 1, "tasks": "same"}, "after[0]", "nothing is to be tolerated of single tasks"),
        ({"campaign": 12, "tolerance": 1, "when": "end"}, "after[0]", "where any end will do"),
        ([12, "12:same"], "after", "campaign 12 is named twice"),
        ([*range(1, MOST_REQUIRED + 2)], "after", f"{MOST_REQUIRED} may be waited for"),
    ],
)
def test_what_is_wrong_is_told(written: object, place: str, message: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        read(written)
    [problem] = refused.value.problems
    assert problem.place == place
    assert message in str(problem)


def test_a_test_waits_for_nothing() -> None:
    with pytest.raises(DescriptionError, match="a test runs at once"):
        read(12, campaign_type="test")
    with pytest.raises(ValueError, match="a test runs at once"):
        read(12).with_options(campaign_type="test")


def test_what_is_said_beside_counts_as_written() -> None:
    found = read(12).with_options(after=["13", "solve:same"])
    assert wanted_before(found) == [RequiredCampaign(13), RequiredCampaign("solve", True)]
    assert found.written["after"] == ["13", "solve:same"]


def test_it_is_told_in_words() -> None:
    told = [{"campaign": 12, "tolerance": "5%"}, "solve:same", {"campaign": 7, "when": "failure", "tolerance": 1200}]
    assert [each.words for each in read(told).after] == [
        "once campaign 12 has ended well (tolerance 5 %)",
        "each task, once that of the same number of campaign solve has ended well",
        "once campaign 7 has ended with failures (tolerance 1,200)",
    ]
