"""`replicate` in a description: the usual budget, one of one's own, and what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, parse
from cigri.jdl.replication import ReplicationSettings
from cigri.submission.new_campaign import new_campaign


def read(replicate: object) -> CampaignDescription:
    content: dict[str, Any] = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"c": {}}}
    return parse(json.dumps(content | {"replicate": replicate}), base=Path(), home=Path())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, None),
        (False, None),
        (True, ReplicationSettings()),
        ({}, ReplicationSettings(budget=0.05, max_replicas=1)),
        ({"budget": "0.2", "max_replicas": "3"}, ReplicationSettings(budget=0.2, max_replicas=3)),
        ({"budget": 1}, ReplicationSettings(budget=1.0)),
    ],
)
def test_nobody_is_replicated_unasked(written: object, expected: ReplicationSettings | None) -> None:
    found = read(written)
    assert found.replicate == expected
    new = new_campaign(found, "alice")
    values = (expected.budget, expected.max_replicas) if expected else (None, None)
    assert (new.replica_budget, new.max_replicas) == values


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        ("yes", "replicate", "an object, or true"),
        ({"buget": 0.1}, "replicate", "did you mean 'budget'"),
        ({"budget": 0}, "replicate.budget", "above 0, at most 1"),
        ({"budget": 5}, "replicate.budget", "above 0, at most 1"),
        ({"budget": "much"}, "replicate.budget", "above 0, at most 1"),
        ({"budget": True}, "replicate.budget", "above 0, at most 1"),
        ({"max_replicas": 0}, "replicate.max_replicas", "1 or more"),
        ({"max_replicas": 11}, "replicate.max_replicas", "10 at the most"),
    ],
)
def test_what_cannot_be_meant_is_refused(written: object, place: str, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read(written)
    (problem,) = caught.value.problems
    assert problem.place == place
    assert message in str(problem)


def test_it_is_about_the_campaign_as_a_whole() -> None:
    content = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"c": {"replicate": True}}}
    with pytest.raises(DescriptionError, match="belongs at the top"):
        parse(json.dumps(content), base=Path(), home=Path())
