"""The one rule of inheritance, sentence by sentence."""

from collections.abc import Mapping

import pytest

from cigri.requirements.value_kinds import PropertyValue
from cigri.resources.inheritance import DeclarationPlace, DeclaredValue, QueueLineage, SourcedValue, effective
from cigri.states import PropertyLevel

GRID, DRIVER, SITE, CLUSTER, QUEUE = PropertyLevel
FAT = QueueLineage("slurm", "grenoble", "dahu", "fat")
EVERYWHERE = (
    DeclarationPlace(GRID, ""),
    DeclarationPlace(DRIVER, "slurm"),
    DeclarationPlace(SITE, "grenoble"),
    DeclarationPlace(CLUSTER, "dahu"),
    DeclarationPlace(QUEUE, "fat@dahu"),
)

Said = Mapping[DeclarationPlace, PropertyValue | tuple[str, ...]]


def sourced(declared: Said, project: str = "", found: Mapping[str, PropertyValue] | None = None) -> SourcedValue | None:
    """The one property `os` of the queue fat@dahu; a tuple extends."""
    said = {
        where: {"os": DeclaredValue(list(value), True) if isinstance(value, tuple) else DeclaredValue(value)}
        for where, value in declared.items()
    }
    return effective(FAT, project, said, found).get("os")


@pytest.mark.parametrize("level", range(5))
def test_arbitrary_parameters_may_be_given_at_each_level_and_queues_inherit_them(level: int) -> None:
    assert sourced({EVERYWHERE[level]: "a"}) == ("a", str(EVERYWHERE[level]))


@pytest.mark.parametrize("level", range(1, 5))
def test_what_is_said_nearer_to_the_queue_overrides_what_is_said_above(level: int) -> None:
    said: Said = {where: str(number) for number, where in enumerate(EVERYWHERE[: level + 1])}
    assert sourced(said) == (str(level), str(EVERYWHERE[level]))


@pytest.mark.parametrize("level", range(5))
def test_parameters_may_be_valid_for_a_given_vo_only(level: int) -> None:
    said = {EVERYWHERE[level]: "a", EVERYWHERE[level]._replace(project="chem"): "b"}
    assert sourced(said, "chem") == ("b", f"{EVERYWHERE[level]}, project chem")
    assert sourced(said, "bio") == sourced(said) == ("a", str(EVERYWHERE[level]))


def test_what_is_said_for_a_project_is_overridden_by_what_a_nearer_level_says_for_all() -> None:
    assert sourced(
        {DeclarationPlace(SITE, "grenoble", "chem"): "a", DeclarationPlace(CLUSTER, "dahu"): "b"}, "chem"
    ) == ("b", "cluster dahu")


@pytest.mark.parametrize(
    "elsewhere",
    [
        DeclarationPlace(DRIVER, "oar"),
        DeclarationPlace(SITE, "lyon"),
        DeclarationPlace(CLUSTER, "luke"),
        DeclarationPlace(QUEUE, "thin@dahu"),
    ],
    ids=str,
)
def test_what_is_said_of_others_is_not_inherited(elsewhere: DeclarationPlace) -> None:
    assert sourced({elsewhere: "a"}) is None


def test_a_list_replaces_the_one_above() -> None:
    assert sourced({DeclarationPlace(GRID, ""): ["a", "b"], DeclarationPlace(SITE, "grenoble"): ["c"]}) == (
        ["c"],
        "site grenoble",
    )


def test_a_list_extends_the_one_above_when_it_says_so() -> None:
    said: Said = {
        DeclarationPlace(GRID, ""): ["a", "b"],
        DeclarationPlace(SITE, "grenoble"): ("b", "c"),
        DeclarationPlace(QUEUE, "fat@dahu"): ("d",),
    }
    assert sourced(said) == (["a", "b", "c", "d"], "grid + site grenoble + queue fat@dahu")


def test_a_list_extends_a_single_value_and_what_is_not_there() -> None:
    assert sourced({DeclarationPlace(GRID, ""): "a", DeclarationPlace(SITE, "grenoble"): ("b",)}) == (
        ["a", "b"],
        "grid + site grenoble",
    )
    assert sourced({DeclarationPlace(SITE, "grenoble"): ("b",)}) == (["b"], "site grenoble")


def test_what_was_found_stands_right_above_what_is_declared_of_the_cluster() -> None:
    found: dict[str, PropertyValue] = {"os": "found"}
    assert sourced({DeclarationPlace(SITE, "grenoble"): "a"}, found=found) == ("found", "discovered")
    assert sourced({DeclarationPlace(CLUSTER, "dahu"): "a"}, found=found) == ("a", "cluster dahu")
    assert sourced({DeclarationPlace(QUEUE, "fat@dahu"): ("a",)}, found=found) == (
        ["found", "a"],
        "discovered + queue fat@dahu",
    )
