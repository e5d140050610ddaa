"""The tests that show the sentences of the seeds fail without what they show: each has a fault that it finds."""

from tests.mutants import ROOT, SEEDS_LISTS, list_faults
from tests.seeds.test_sentences import list_seed_tests

UNTRIED = 0
"""How many tests of the seeds have no fault yet. It only falls: who adds a sentence adds a fault for its test."""

FAULTS = list_faults(SEEDS_LISTS)


def test_each_planted_fault_still_applies_to_the_tree() -> None:
    places = {fault.rule: (ROOT / fault.file).read_text().count(fault.old) for fault in FAULTS}
    assert {rule: number for rule, number in places.items() if number != 1} == {}


def test_each_planted_fault_has_a_rule_of_its_own() -> None:
    assert len({fault.rule for fault in FAULTS}) == len(FAULTS)


def test_the_number_of_tests_without_a_planted_fault_only_falls() -> None:
    """Whoever plants one writes the new number here."""
    tried = {test for fault in FAULTS for test in fault.tests}
    assert len(list_seed_tests() - tried) == UNTRIED
