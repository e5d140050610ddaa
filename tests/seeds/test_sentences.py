"""Every sentence of the texts that this grid realises has a test that is there, or a reason why it has none."""

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.seeds.backends import BUCKETS, CONVERSION, PRINCIPLES
from tests.seeds.grid_engine import GRID_ENGINE
from tests.seeds.local import LOCAL
from tests.seeds.machine_job_features import FORMULAS, JOB_KEYS, MACHINE_KEYS, STATUS_KEYS, USES, VARIABLES
from tests.seeds.oar_mechanisms import JOBS, SCHEDULING, SERVICES
from tests.seeds.rfc7 import RFC7
from tests.seeds.scheduler_design import ALGORITHMS, ITEMS, NOTES, PLAN, SPECIFICATION, STEPS
from tests.seeds.sentence import Sentence, shown
from tests.seeds.slurm import CONFIGURATION, NICE, RESOURCES

TESTS = Path(__file__).parents[1]
SEEDS = {
    "RFC 7": (RFC7, 59),
    "open-lmake, backends": (PRINCIPLES, 30),
    "open-lmake, buckets": (BUCKETS, 10),
    "open-lmake, conversion": (CONVERSION, 4),
    "open-lmake, local": (LOCAL, 22),
    "open-lmake, Grid Engine": (GRID_ENGINE, 41),
    "open-lmake, Slurm's configuration": (CONFIGURATION, 19),
    "open-lmake, nice": (NICE, 29),
    "open-lmake, Slurm's resources": (RESOURCES, 20),
    "CiGri 2009, items": (ITEMS, 22),
    "CiGri 2009, notes": (NOTES, 9),
    "CiGri 2009, specification": (SPECIFICATION, 30),
    "CiGri 2009, steps": (STEPS, 15),
    "CiGri 2009, algorithms": (ALGORITHMS, 7),
    "CiGri 2009, plan": (PLAN, 11),
    "Machine/Job Features, variables": (VARIABLES, 10),
    "Machine/Job Features, use cases": (USES, 12),
    "Machine/Job Features, keys of a job": (JOB_KEYS, 10),
    "Machine/Job Features, keys of a machine": (MACHINE_KEYS, 6),
    "Machine/Job Features, keys of a status": (STATUS_KEYS, 11),
    "Machine/Job Features, formulas": (FORMULAS, 3),
    "OAR, jobs": (JOBS, 16),
    "OAR, scheduling": (SCHEDULING, 17),
    "OAR, services": (SERVICES, 18),
}
every_seed = pytest.mark.parametrize("seed", SEEDS)


@cache
def names(file: str) -> frozenset[str]:
    """The tests of a file, whether functions, classes or what a state machine is made into."""
    path = TESTS / f"{file}.py"
    if not path.is_file():
        return frozenset()
    nodes = list(ast.walk(ast.parse(path.read_text())))
    found = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assigned = [node.targets[0] for node in nodes if isinstance(node, ast.Assign)]
    found |= {target.id for target in assigned if isinstance(target, ast.Name)}
    return frozenset(name for name in found if name.startswith(("test_", "Test")))


def absent(sentences: Sequence[Sentence]) -> list[str]:
    """The tests that sentences name and that are not there."""
    named = (test.partition("::") for sentence in sentences for test in sentence.tests)
    return [f"{file}::{name}" for file, _, name in named if name not in names(file)]


def list_seed_tests() -> set[str]:
    """All tests that sentences name, in the words of pytest."""
    named = {test for sentences, _ in SEEDS.values() for sentence in sentences for test in sentence.tests}
    return {f"tests/{file}.py::{name}" for file, _, name in (test.partition("::") for test in named)}


@every_seed
def test_each_test_that_a_sentence_names_is_there(seed: str) -> None:
    assert absent(SEEDS[seed][0]) == []


@every_seed
def test_no_sentence_is_forgotten(seed: str) -> None:
    sentences, count = SEEDS[seed]
    assert len(sentences) == count
    assert len({sentence.says for sentence in sentences}) == count


@every_seed
def test_each_sentence_has_a_test_or_a_reason(seed: str) -> None:
    assert [sentence for sentence in SEEDS[seed][0] if bool(sentence.tests) == bool(sentence.why_not)] == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    here = "seeds/test_sentences"
    wrong = [f"{here}::test_nothing", f"{here}::names", "seeds/test_nowhere::test_no_sentence_is_forgotten"]
    assert absent([shown("a", f"{here}::test_no_sentence_is_forgotten", *wrong)]) == wrong
    assert absent([shown("a", "localbatch/test_charging::TestCharging")]) == []
