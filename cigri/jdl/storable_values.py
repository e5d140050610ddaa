"""What holds for the values of all fields but the parameters: they can be stored and shown, and are not too many."""

from collections.abc import Iterator, Mapping

from cigri.jdl.problems import ProblemCounter, place_of
from cigri.jdl.value_types import unsendable
from cigri.jdl.yaml_values import DEEPEST_YAML

LARGEST_PLAIN = 10**30
"""No amount of anything is more; such numbers cannot even be shown."""

MOST_VALUES = 20_000
MOST_TEXT = 2**20

PathStep = str | int


def check_plain(fields: Mapping[str, object], faults: ProblemCounter) -> None:
    """Add a fault for each value that cannot be stored or shown, and one where there are too many, or too much text."""
    characters = 0
    for values, (steps, value) in enumerate(_of_object(fields, ()), start=1):
        characters += len(value) if isinstance(value, str) else 0
        if values > MOST_VALUES or characters > MOST_TEXT:
            most = f"{MOST_VALUES} values" if values > MOST_VALUES else f"{MOST_TEXT} characters"
            faults.add("the description", f"has more than {most} besides the parameters of its tasks")
            return
        if fault := _fault(value, len(steps)):
            faults.add(place_of(*steps), fault)


def _of_object(
    content: Mapping[str, object], steps: tuple[PathStep, ...]
) -> Iterator[tuple[tuple[PathStep, ...], object]]:
    """Each name and each value, with its place."""
    for name, value in content.items():
        yield (*steps, name), name
        yield from _of_value(value, (*steps, name))


def _of_value(value: object, steps: tuple[PathStep, ...]) -> Iterator[tuple[tuple[PathStep, ...], object]]:
    yield steps, value
    if len(steps) > DEEPEST_YAML:
        return
    if isinstance(value, dict):
        yield from _of_object(value, steps)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _of_value(item, (*steps, index))


def _fault(value: object, depth: int) -> str:
    if depth > DEEPEST_YAML and isinstance(value, dict | list):
        return f"more than {DEEPEST_YAML} lists and objects stand in one another"
    if isinstance(value, int) and abs(value) > LARGEST_PLAIN:
        return "is a number that is too long to be meant"
    return unsendable(value) if isinstance(value, str) else ""
