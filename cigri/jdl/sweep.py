"""Every combination of some named values, made one at a time."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable

from cigri.errors import DescriptionProblem
from cigri.jdl.problems import ProblemCounter, did_you_mean, place_of, shown

MOST_TASKS = 10_000_000
RANGE_FIELDS = ("from", "to", "step")

SweepScalar = str | int | float | bool
T_co = TypeVar("T_co", covariant=True)


class SizedIterable(Protocol[T_co]):
    """Values whose number is known, and which can be gone through again and again."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[T_co]: ...


@runtime_checkable
class KnownLast(Protocol[T_co]):
    """Values of which the last one is found without going through those before."""

    def last(self) -> T_co: ...


def last_of(values: SizedIterable[T_co]) -> T_co:
    """The last value; there must be one."""
    if isinstance(values, KnownLast):
        last: T_co = values.last()
        return last
    return values[-1] if isinstance(values, Sequence) else deque(values, maxlen=1)[0]


@dataclass(frozen=True)
class SweepSteps:
    """Exact steps, so that 0.1 three times is 0.3."""

    start: Fraction
    step: Fraction
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[float]:
        return (float(self.start + self.step * number) for number in range(self.count))

    def last(self) -> float:
        """The value at the end."""
        return float(self.start + self.step * (self.count - 1))


@dataclass(frozen=True)
class ParameterSweep:
    """The cartesian product of its axes; the last one varies fastest."""

    axes: Mapping[str, SizedIterable[SweepScalar]]

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values())

    def __iter__(self) -> Iterator[dict[str, SweepScalar]]:
        return _combinations(list(self.axes.items()))

    def last(self) -> dict[str, SweepScalar]:
        """The last value of each axis."""
        return {name: last_of(values) for name, values in self.axes.items()}


def _combinations(axes: Sequence[tuple[str, SizedIterable[SweepScalar]]]) -> Iterator[dict[str, SweepScalar]]:
    """There may be a thousand axes, or one of ten million values: neither is kept, nor gone into."""
    chosen: dict[str, SweepScalar] = {}
    remaining = [iter(axes[0][1])]
    while remaining:
        name = axes[len(remaining) - 1][0]
        for value in remaining[-1]:
            chosen[name] = value
            break
        else:
            remaining.pop()
            continue
        if len(remaining) == len(axes):
            yield chosen.copy()
        else:
            remaining.append(iter(axes[len(remaining)][1]))


def is_number(value: object) -> TypeGuard[int | float]:
    """A number that PostgreSQL and every program can hold."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def parse_range(
    value: Mapping[str, object], place: str, problems: list[DescriptionProblem]
) -> SizedIterable[SweepScalar] | None:
    """Numbers from {from, to, step}, both ends included; None: something is wrong, and added to `problems`."""
    unknown = ProblemCounter(problems, "fields are unknown")
    for key in (key for key in value if key not in RANGE_FIELDS):
        unknown.add(place_of(place, key), "unknown field", "" if unknown.is_full else did_you_mean(key, RANGE_FIELDS))
    unknown.close(place)
    numbers: list[int | float] = []
    for key in RANGE_FIELDS:
        number = value.get(key, 1 if key == "step" else None)
        if not is_number(number):
            message = "is missing" if number is None else f"expected a number, not {shown(number)}"
            problems.append(DescriptionProblem(place_of(place, key), message, "a range is {from: 1, to: 10, step: 2}"))
        else:
            numbers.append(number)
    return _range(numbers, place, problems) if len(numbers) == len(RANGE_FIELDS) else None


def _range(
    numbers: list[int | float], place: str, problems: list[DescriptionProblem]
) -> SizedIterable[SweepScalar] | None:
    start, end, step = (Fraction(str(number)) for number in numbers)
    if step == 0 or (end - start) / step < 0:
        problems.append(
            DescriptionProblem(place, "this range holds no value", "step leads from 'from' to 'to', both included")
        )
        return None
    count = (end - start) // step + 1
    if count > MOST_TASKS:
        problems.append(DescriptionProblem(place, f"holds {count} values; a campaign has {MOST_TASKS} tasks at most"))
        return None
    if all(isinstance(number, int) for number in numbers):
        return range(int(start), int(start) + int(step) * count, int(step))
    return SweepSteps(start, step, count)
