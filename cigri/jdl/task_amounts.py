"""What each task asks for where a description computes it, exactly; and to which bucket it belongs.

Rounding groups tasks, and nothing else: what a job asks a batch system for, and is charged, is exact. There are four
sizes to each doubling, so that a campaign has few buckets however many sizes its tasks have.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from cigri.errors import CigriError, DescriptionProblem
from cigri.formats.units import COUNTED_IN_MB
from cigri.jdl.amounts import formula, values_of
from cigri.jdl.parameters import Parameter
from cigri.jdl.problems import ProblemCounter
from cigri.resources.bucket_amounts import Formulas

BITS = 3  # that are kept
AmountsKey = tuple[int, ...]


class PeakAmount(NamedTuple):
    """The most that any task asks for, and the number of the first that does."""

    amount: int
    task: int


Peaks = Mapping[tuple[str, str], PeakAmount]
"""By the name of the resource and the formula."""


def rounded(amount: int, sizes: Sequence[int] = ()) -> int:
    """Up to three significant bits, but to one of `sizes` (ascending) where that is nearer.

    These are what nodes or pools have: so no task shares a bucket with one that fits less of them.
    """
    spare = max(0, amount.bit_length() - BITS)
    whole = -(-amount >> spare) << spare
    place = bisect_left(sizes, amount)
    return min(whole, sizes[place]) if place < len(sizes) else whole


def exact(formulas: Formulas, parameter: object, number: int) -> dict[str, int]:
    """The amounts of one task; raise ValueError with the resource when one cannot be computed."""
    return {name: _amount(name, text, parameter, number) for name, text in formulas.items()}


def exact_together(formulas: Formulas, tasks: Iterable[tuple[object, int]]) -> dict[str, int]:
    """The amounts of a job that carries these tasks (parameter and number): enough for each of them."""
    amounts: dict[str, int] = {}
    for parameter, number in tasks if formulas else ():
        for name, amount in exact(formulas, parameter, number).items():
            amounts[name] = max(amount, amounts.get(name, 0))
    return amounts


def find_peaks(formulas: Collection[Formulas], parameters: Iterable[object]) -> tuple[Peaks, list[DescriptionProblem]]:
    """Every task is looked at, once for all clusters of the same formula; one that cannot be computed is a problem."""
    wanted = _distinct(formulas)
    peaks: dict[tuple[str, str], PeakAmount] = {}
    problems: list[DescriptionProblem] = []
    faults = ProblemCounter(problems, "amounts cannot be computed")
    for number, parameter in enumerate(parameters) if wanted else ():
        for name, text in wanted:
            try:
                amount = _amount(name, text, parameter, number)
            except ValueError as error:
                faults.add(f"task {number}", str(error))
                continue
            highest = peaks.get((name, text))
            if highest is None or amount > highest.amount:
                peaks[name, text] = PeakAmount(amount, number)
    faults.close("params")
    return peaks, problems


class BucketSorter:
    """The bucket of each task of a campaign; `sizes`: of each resource what nodes or pools have, ascending."""

    def __init__(self, formulas: Collection[Formulas], sizes: Mapping[str, Sequence[int]]) -> None:
        self._wanted = [(name, text, sizes.get(name, ())) for name, text in _distinct(formulas)]

    def key(self, parameter: object, number: int) -> AmountsKey:
        """Its rounded amounts; raise CigriError with the task's number when one cannot be computed."""
        try:
            return tuple([rounded(_amount(name, text, parameter, number), sizes) for name, text, sizes in self._wanted])
        except ValueError as error:
            raise CigriError(f"task {number}: {error}") from None

    def amounts(self, key: AmountsKey) -> dict[str, dict[str, int]]:
        """By resource and formula, as a bucket's requirements keep them."""
        amounts: dict[str, dict[str, int]] = {}
        for (name, text, _), amount in zip(self._wanted, key, strict=True):
            amounts.setdefault(name, {})[text] = amount
        return amounts

    def key_of(self, amounts: Mapping[str, Mapping[str, int]]) -> AmountsKey:
        """The key whose `amounts` these are."""
        return tuple([amounts[name][text] for name, text, _ in self._wanted])


def _distinct(formulas: Collection[Formulas]) -> list[tuple[str, str]]:
    return sorted({pair for of_cluster in formulas for pair in of_cluster.items()})


def _amount(name: str, text: str, parameter: object, number: int) -> int:
    is_size = name in COUNTED_IN_MB
    values = values_of(cast(Parameter, parameter), number, is_size=is_size)
    try:
        return formula(text, is_size=is_size).amount(values)
    except ValueError as error:
        raise ValueError(f"resources.{name}: {error}") from None
