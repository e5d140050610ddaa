"""Requirements of nodes in the words of Slurm: features as a constraint, memory and generic resources as amounts."""

import math
import re
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from cigri.formats.units import MEGABYTE
from cigri.requirements import BUILT_IN, And, Comparison, ComparisonOperator, Condition, Or, ValueKind
from cigri.requirements.conditions import conjuncts
from cigri.requirements.node_selection import ConditionNotSelectable
from cigri.requirements.three_valued_logic import FEATURES

FEATURE = re.compile(r"[A-Za-z0-9_.:=+-]+")
GROUP = re.compile(r"\([^()]*\)")
GPU_MODEL = re.compile(r"[A-Za-z0-9_.-]+")
MOST_CLAUSES = 32
HOW_SLURM = "Slurm is asked for features (and, or), at least so much memory, and at least so many generic resources"

Clause = frozenset[str]
"""Of these features a node has one at least."""


class SlurmConstraint(NamedTuple):
    """`clauses` all hold; `mem` in MB (0: any); `gres` by name, counted; `model` of the GPUs."""

    clauses: tuple[Clause, ...] = ()
    mem: int = 0
    gres: tuple[tuple[str, int], ...] = ()
    model: str = ""


def select(condition: Condition | None) -> SlurmConstraint:
    """ConditionNotSelectable where Slurm has no words for a part."""
    clauses: list[Clause] = []
    mem, gres, models = 0, dict[str, int](), set[str]()
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case Comparison(name="memory"):
                mem = max(mem, math.ceil(_least(part) / MEGABYTE))
            case Comparison(name="gpu_model", operator=ComparisonOperator.EQ, value=str(model)) if GPU_MODEL.fullmatch(
                model
            ):
                models.add(model)
            case Comparison(name=name, kind=ValueKind.NUMBER | ValueKind.SIZE) if (
                name == "gpus" or name not in BUILT_IN
            ):
                own = "gpu" if name == "gpus" else name
                gres[own] = max(gres.get(own, 0), math.ceil(_least(part)))
            case _:
                clauses += _clauses(part)
    if len(models) > 1 and condition is not None:
        raise ConditionNotSelectable(condition, "the GPUs of a job are of one model")
    if models:
        gres.setdefault("gpu", 1)
    ordered = sorted(set(clauses), key=sorted)
    return SlurmConstraint(tuple(ordered), mem, tuple(sorted(gres.items())), "".join(models))


def constraint(wishes: Iterable[str], clauses: Iterable[Clause]) -> str:
    """Everything together. Slurm reads no parentheses within parentheses, so what has some stands without more."""
    wishes = [wish for wish in wishes if wish]
    chosen = ["|".join(sorted(clause)) for clause in clauses]
    if len(wishes) + len(chosen) < 2:
        return "".join(wishes + chosen)
    grouped = [f"({words})" if "|" in words else words for words in chosen]
    return "&".join([*map(_grouped, wishes), *grouped])


def _grouped(wish: str) -> str:
    return wish if "(" in wish and "|" not in GROUP.sub("", wish) else f"({wish})"


def _least(part: Comparison) -> float:
    """A node has whole numbers of all that is asked for as an amount."""
    match part.operator, part.value:
        case ComparisonOperator.GE, int() | float() as value:
            return value
        case ComparisonOperator.GT, int() | float() as value:
            return math.floor(value) + 1
        case _:
            raise ConditionNotSelectable(part, HOW_SLURM)


def _clauses(part: Condition) -> list[Clause]:
    """As a conjunction of disjunctions."""
    match part:
        case Comparison(name=name, operator=ComparisonOperator.EQ | ComparisonOperator.IN, value=value) if (
            name == FEATURES
        ):
            features = frozenset(map(str, value if isinstance(value, tuple) else (value,)))
            if not all(FEATURE.fullmatch(feature) for feature in features):
                raise ConditionNotSelectable(part, "a name has a character that means something else to Slurm")
            return [features]
        case And(parts=parts):
            return [clause for inner in parts for clause in _clauses(inner)]
        case Or(parts=parts):
            ways = [_clauses(inner) for inner in parts]
            if math.prod(map(len, ways)) > MOST_CLAUSES:
                raise ConditionNotSelectable(part, f"it would be more than {MOST_CLAUSES} constraints")
            return [frozenset[str]().union(*chosen) for chosen in product(*ways)]
        case _:
            raise ConditionNotSelectable(part, HOW_SLURM)
