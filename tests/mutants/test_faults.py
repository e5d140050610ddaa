"""The lists of faults fit the code: each can still be put where it was, and its tests are there."""

import pytest

from tests.mutants import ROOT, SEEDS_LISTS, Fault, list_faults
from tests.seeds.test_sentences import list_seed_tests, names

OF_SEEDS = list_faults(SEEDS_LISTS)


@pytest.mark.parametrize("fault", [*list_faults(), *OF_SEEDS], ids=lambda fault: fault.rule)
def test_each_fault_has_its_place(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.old) == 1
    assert fault.old != fault.new


@pytest.mark.parametrize("fault", [*list_faults(), *OF_SEEDS], ids=lambda fault: fault.rule)
def test_the_tests_that_find_it_are_there(fault: Fault) -> None:
    named = [word.partition("::") for word in fault.tests if word.startswith("tests/")]
    assert named
    for file, _, test in named:
        assert not test or test.partition("[")[0] in names(file.removeprefix("tests/").removesuffix(".py")), test


def test_what_breaks_a_seed_is_found_by_tests_that_its_sentences_name() -> None:
    assert {test for fault in OF_SEEDS for test in fault.tests} - list_seed_tests() == set()
