"""What follows the command: the number of nb_jobs, unless its user says otherwise."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, CommandTemplate, Parameter, parse
from cigri.jdl.sweep import SizedIterable, last_of


def read(**fields: Any) -> CampaignDescription:
    described = {"name": "n", "exec_file": "sleep 60", "clusters": {"dahu": {}}} | fields
    return parse(yaml.safe_dump(described), base=Path(), home=Path())


def lines(description: CampaignDescription) -> list[str]:
    """What the first and the last task run on the first cluster."""
    settings = next(iter(description.clusters.values()))
    template = CommandTemplate(settings, description.names)
    tasks: list[Parameter] = [*description.parameters()]
    ran = [template.words(tasks[number], campaign_id=7, number=number) for number in (0, len(tasks) - 1)]
    return [" ".join(word.text for word in words) for words in ran]


@pytest.mark.parametrize(
    ("fields", "ran"),
    [
        ({}, ["sleep 60 0", "sleep 60 3"]),
        ({"append": True}, ["sleep 60 0", "sleep 60 3"]),
        ({"append": False}, ["sleep 60", "sleep 60"]),
        ({"append": "false"}, ["sleep 60", "sleep 60"]),
        ({"clusters": {"dahu": {"append": False}}}, ["sleep 60", "sleep 60"]),
        ({"exec_file": "run {number} -v"}, ["run 0 -v", "run 3 -v"]),
        ({"exec_file": "run --to=out{number}.h5"}, ["run --to=out0.h5", "run --to=out3.h5"]),
        ({"exec_file": "run {index}"}, ["run 0 0", "run 3 3"]),  # older than {number}, and goes on so
        ({"environment": {"N": "{number}"}}, ["sleep 60 0", "sleep 60 3"]),
    ],
)
def test_the_number_follows_the_command_unless_it_is_said_otherwise(fields: dict[str, Any], ran: list[str]) -> None:
    assert lines(read(nb_jobs=4, **fields)) == ran


def test_other_parameters_follow_a_command_with_the_number() -> None:
    assert lines(read(exec_file="run {number}", params=["a b", "c"])) == ["run 0 a b", "run 1 c"]


def test_a_parameter_may_be_called_number() -> None:
    assert lines(read(exec_file="run {number}", params=[{"number": "x"}, {"number": "y"}])) == ["run x", "run y"]


@pytest.mark.parametrize("params", [["a"], [["a", "b"]]])
def test_parameters_that_would_reach_no_task_are_refused(params: list[object]) -> None:
    with pytest.raises(DescriptionError, match="append: is false, so these parameters would reach no task"):
        read(append=False, params=params)


@pytest.mark.parametrize(
    "fields",
    [
        {"nb_jobs": 1_000},
        {"params": ["a", "b "]},
        {"params": ["a", " "]},
        {"params": [1, 2]},
        {"params": [{"x": 1}, {"x": 2}], "exec_file": "run {x}"},
        {"sweep": {"x": [1, 2], "y": {"from": 0.1, "to": 1, "step": 0.1}}, "exec_file": "run {x} {y}"},
        {"sweep": {"x": {"from": 3, "to": 1, "step": -1}}, "exec_file": "run {x}"},
    ],
)
def test_the_last_parameter_is_found(fields: dict[str, Any]) -> None:
    tasks: SizedIterable[Parameter] = read(**fields).tasks
    assert last_of(tasks) == [*tasks][-1]
