"""The lists of faults fit the code: each can still be put where it was, and its tests are there."""

from pathlib import Path

import pytest

from tests.mutants import ROOT, SEEDS_LISTS, Fault, list_faults
from tests.mutants.__main__ import find_failed
from tests.seeds.test_sentences import list_seed_tests, names

OF_SEEDS = list_faults(SEEDS_LISTS)
SUITE, SYSTEM = "tests/drivers/conformance.py", "tests.drivers.test_oar_real.TestOar"
OF_A = 'file="tests/test_a.py" classname="tests.test_a"'
REPORT = f"""
<testsuites><testsuite>
<testcase {OF_A} name="test_one[x-1]"><failure message="assert 1 == 2&#10; more"/></testcase>
<testcase {OF_A} name="test_two"/>
<testcase {OF_A} name="test_three"><failure message="NameError: x"/></testcase>
<testcase {OF_A} name="test_four"><error message="no cluster"/></testcase>
<testcase file="{SUITE}" classname="{SYSTEM}" name="test_of_all"><failure message="late"/></testcase>
<testcase file="stateful.py" classname="tests.test_b.TestMachine" name="runTest"><failure message="sum"/></testcase>
</testsuite></testsuites>
"""


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


def test_what_failed_is_named_by_the_file_it_is_written_in_and_told_with_its_reason(tmp_path: Path) -> None:
    """What is no program, and what could not begin, has found nothing."""
    report = tmp_path / "report.xml"
    assert find_failed(report) == {}
    report.write_text(REPORT)
    failed = find_failed(report)
    assert failed["tests/test_a.py::test_one"] == "assert 1 == 2"
    assert failed[f"{SUITE}::test_of_all"] == "late"
    assert failed["tests/test_b.py::TestMachine"] == "sum"
    assert not [name for name in failed if name.endswith(("two", "three", "four"))]
