"""What DIRAC's RFC 7 says of requirements, sentence by sentence; the project keys the hash besides."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.errors import RequirementError
from cigri.requirements import (
    NO_REQUIREMENT,
    PropertyValue,
    Requirement,
    digest,
    judge,
    parse_requirement,
    read_canonical,
)
from tests.requirements.made import KINDS, requirements

MB = 1024**2
EXAMPLE: dict[str, object] = {
    "SoftwareTag": ["AppVersion1", "AppVersion2"],
    "CPUModel": "Intel Xeon",
    "Memory": 4000,
}
NODE: dict[str, PropertyValue] = {
    "site": "grenoble",
    "cluster": "dahu",
    "platform": "x86_64",
    "softwaretag": "AppVersion2",
    "cpumodel": "Intel Xeon",
    "memory": 4000 * MB,
    "max_walltime": 3600,
}


PARTS = ["cores >= 2", "el7", "not (a or b)", "x in [3, 1, 2]", "(a or b)"]


def is_eligible(raw: str | dict[str, object], **changes: PropertyValue) -> bool:
    return judge(parse_requirement(raw, KINDS), NODE | changes, KINDS) is None


def test_the_example_is_obeyed() -> None:
    assert is_eligible(EXAMPLE)
    for name, value in (("softwaretag", "AppVersion3"), ("cpumodel", "IntelXeon"), ("memory", 3999 * MB)):
        assert not is_eligible(EXAMPLE, **{name: value})


@pytest.mark.parametrize("name", ["softwaretag", "cpumodel", "memory"])
def test_a_parameter_that_is_not_present_in_the_resource_description_makes_it_not_eligible(name: str) -> None:
    known = {key: value for key, value in NODE.items() if key != name}
    assert judge(parse_requirement(EXAMPLE, KINDS), known, KINDS) is not None


@pytest.mark.parametrize(
    ("found", "eligible"),
    [("AppVersion1", True), ("AppVersion3", False), (["x", "AppVersion1"], True), (["x"], False), ([], False)],
)
def test_if_the_value_is_a_list_resources_having_one_of_the_values_are_eligible(
    found: PropertyValue, eligible: bool
) -> None:
    assert is_eligible({"SoftwareTag": ["AppVersion1", "AppVersion2"]}, softwaretag=found) is eligible


@pytest.mark.parametrize(("megabytes", "eligible"), [(3999, False), (4000, True), (4001, True)])
def test_the_resource_capacity_should_be_greater_than_the_requirement_and_equality_passes(
    megabytes: int, eligible: bool
) -> None:
    assert is_eligible({"Memory": 4000}, memory=megabytes * MB) is eligible


@pytest.mark.parametrize(
    ("wanted", "value", "eligible"),
    [(4000, 4000 * MB, True), ("4 GB", 4096 * MB, True), ("4 GB", 4000 * MB, False)],
)
def test_the_parameter_type_is_deduced_from_its_description(wanted: object, value: int, eligible: bool) -> None:
    assert is_eligible({"Memory": wanted}, memory=value) is eligible


def test_the_type_of_a_parameter_without_a_description_is_that_of_its_value() -> None:
    assert is_eligible({"Disks": 2, "Disk": "ssd"}, disks=3, disk="ssd")
    assert not is_eligible({"Disks": 2}, disks=1)
    assert not is_eligible({"Disk": "ssd"}, disk="ssda")


@pytest.mark.parametrize(
    ("raw", "eligible"),
    [
        ({"Site": "grenoble"}, True),
        ({"Site": ["lyon", "grenoble"]}, True),
        ({"Sites": ["lyon"]}, False),
        ({"Site": "dahu"}, True),
        ({"BannedSite": ["grenoble", "lyon"]}, False),
        ({"BannedSites": "dahu"}, False),
        ({"BannedSites": "lyon"}, True),
        ({"Site": ["grenoble", "lyon"], "BannedSite": "grenoble"}, False),
        ({"Platform": "x86_64"}, True),
        ({"Platform": ["arm", "ppc"]}, False),
        ({"CPUTime": 3600}, True),
        ({"CPUTime": 3601}, False),
    ],
)
def test_the_reserved_keywords_are_obeyed(raw: dict[str, object], eligible: bool) -> None:
    assert is_eligible(raw) is eligible


def test_a_queue_without_a_longest_walltime_takes_any_cpu_time() -> None:
    known = {key: value for key, value in NODE.items() if key != "max_walltime"}
    assert judge(parse_requirement({"CPUTime": 10**6}, KINDS), known, KINDS) is None


@pytest.mark.parametrize("nothing", [None, "", "ANY", "any", "<Any>", [], ["x", "ANY"]])
@pytest.mark.parametrize("key", ["Site", "BannedSite", "Platform", "CPUTime", "Memory", "CPUModel", "where"])
def test_nothing_and_any_are_no_requirement(key: str, nothing: object) -> None:
    assert parse_requirement({key: nothing}, KINDS) == NO_REQUIREMENT


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"Site": "a", "BannedSite": ["a", "b"]}, "Site: every site that is wanted is banned too"),
        ({"Site": "a", "SITES": "b"}, "SITES: says the same as Site (leave one out)"),
        ({"memory": 1, "Memory": 1}, "Memory: says the same as memory"),
        ({"Memory": "lots"}, "Memory: expected a size, not 'lots' (write '16 GB', or a number of MB)"),
        ({"Memory": {"min": 1}}, "Memory: expected a size"),
        ({"CPUTime": [1, 2]}, "CPUTime: expected one duration"),
        ({"Site": [""]}, "Site: a site has a name"),
        ({"cpu model": 1}, "cpu model: 'cpu model' is no name of a property"),
        ({"where": "a &&"}, "where, column 3: '&&' is not known here"),
        ({"where": 1}, "where: expected an expression"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(raw: dict[str, object], message: str) -> None:
    with pytest.raises(RequirementError) as raised:
        parse_requirement(raw, KINDS)
    assert message in str(raised.value)


RAW = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from(["Site", "BannedSite", "Platform", "CPUTime", "where", "Memory", "x"]) | st.text(max_size=5)


@given(st.dictionaries(KEYS, RAW, max_size=4))
def test_any_object_is_read_or_refused_in_words(raw: dict[str, object]) -> None:
    refused = ""
    try:
        requirement = parse_requirement(raw, KINDS)
    except RequirementError as error:
        refused = str(error)
    assert refused or read_canonical(requirement.canonical()) == requirement


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="Memory") as raised:
        parse_requirement({"Memory": "x", "CPUTime": "y", "where": ")"}, KINDS)
    assert isinstance(raised.value, RequirementError)
    assert [problem.place for problem in raised.value.problems] == ["Memory", "CPUTime", "where, column 1"]


def test_an_expression_may_stand_beside_the_properties() -> None:
    both = parse_requirement({"Memory": 4000, "where": "cpumodel == 'Intel Xeon' and not el7"}, KINDS)
    assert both == parse_requirement("not el7 and memory >= 4000 MB and cpumodel == 'Intel Xeon'", KINDS)


def test_the_requirements_are_ordered_alphabetically() -> None:
    names = [condition["name"] for condition in parse_requirement(EXAMPLE, KINDS).canonical()["conditions"]]
    assert names == ["cpumodel", "memory", "softwaretag"]
    sites = parse_requirement({"Site": list("gfedcba"), "BannedSite": list("zyxwv")}, KINDS).canonical()
    assert (sites["sites"], sites["banned_sites"]) == (list("abcdefg"), list("vwxyz"))


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"Memory": 4096}, {"MEMORY": "4 GB"}),
        ({"SoftwareTag": ["a", "b", "a"]}, {"softwaretag": ["b", "a"]}),
        ({"SoftwareTag": ["a"]}, {"softwaretag": "a"}),
        ({"Site": ["a", "b"]}, {"Sites": ["b", "a", "a"]}),
        ("a or b and c", "(c and b) or a"),
        ("not (cores == 1)", "cores != 1.0"),
        ("not not a", "(a == true)"),
        ({"CPUTime": "1:00:00", "Platform": "any"}, {"cputime": 3600}),
        ("", {}),
    ],
)
def test_the_hash_of_equal_requirements_is_equal(one: str | dict[str, object], same: str | dict[str, object]) -> None:
    first, second = (digest(parse_requirement(raw, KINDS).canonical(), "p") for raw in (one, same))
    assert first == second


def test_the_hash_of_different_requirements_is_unique_and_so_is_that_of_another_project() -> None:
    raws: list[str | dict[str, object]] = ["", "a", "not a", "a or b", "a and b", "x == 1", "x == '1'", "x >= 1"]
    raws += [{"Site": "a"}, {"BannedSite": "a"}, {"CPUTime": 1}, "x in [1, 2]", "x not in [1, 2]", "a == false"]
    hashes = {digest(parse_requirement(raw, KINDS).canonical(), project) for raw in raws for project in ("", "p")}
    assert len(hashes) == 2 * len(raws)
    assert all(len(one) == 64 for one in hashes)


@given(requirements())
def test_the_canonical_form_is_json_that_is_read_as_the_same_requirement(requirement: Requirement) -> None:
    form = json.loads(json.dumps(requirement.canonical(), allow_nan=False))
    assert read_canonical(form) == requirement
    assert read_canonical(form).canonical() == form


@given(
    st.permutations(["cores >= 2", "el7", "not (a or b)", "x in [3, 1, 2]", "(a or b)"]),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_it_is_written_says_nothing(parts: list[str], random: Random) -> None:
    properties: list[tuple[str, object]] = [("Memory", 1), ("Site", random.sample(["x", "y", "z"], 3)), ("CPUTime", 5)]
    random.shuffle(properties)
    turned = [part.replace("a or b", "b or a") if random.random() < 0.5 else part for part in parts]
    shuffled = parse_requirement({"where": " and ".join(turned), **dict(properties)}, KINDS)
    usual: dict[str, object] = {"CPUTime": 5, "Site": ["x", "y", "z"], "Memory": 1}
    usual["where"] = "(a or b) and cores >= 2 and el7 and x in [1, 2, 3] and not (a or b)"
    assert shuffled.canonical() == parse_requirement(usual, KINDS).canonical()
