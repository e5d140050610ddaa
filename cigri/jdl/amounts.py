"""Amounts of a resource, perhaps computed for each task: numbers, units, parameters, + - * / ( ) max and min.

They are parsed, never evaluated as code. Units are powers of 1024; what comes out is rounded up to a whole number.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

from cigri.jdl.parameters import Parameter
from cigri.jdl.problems import complaint, did_you_mean, shown, wrong
from cigri.jdl.quoting import split
from cigri.text import units

LARGEST = 2**53
LONGEST = 200
"""Characters, and so the depth of parentheses, of a formula."""
SIZES = frozenset(["mem", "tmp"])
"""Resources that are counted in MB; all others have no unit of their own."""
SMALLEST = Decimal("1e-9")
"""What a quotient is known to: three thirds of 3 GB are 3 GB, and not 1 MB more."""
PARTS = {"max": max, "min": min}

Number = int | Decimal
Values = Callable[[str], Number]
"""The value of a parameter by its name."""
Node = Callable[[Values], Number]

_WORD = re.compile(r"\s*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)|\{([^{}]*)\}|([A-Za-z]+)|([-+*/(),]))")
_COMPUTED = re.compile(r"[{}()*/+,]")
_SLOT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[1-9][0-9]{0,3}|")


class Formula:
    """An amount in whole units, MB if it `is_size`; raise ValueError when the text is none."""

    def __init__(self, text: str, *, is_size: bool) -> None:
        if len(text) > LONGEST:
            raise complaint(f"is longer than {LONGEST} characters", "compute it in the parameters")
        self.text, self.is_size = text.strip(), is_size
        self.slots: list[str] = []
        self._words = [*_words(self.text)]
        self._node = self._sum()
        if self._words:
            raise complaint(f"{self._words[0]!r} is not expected there, in {shown(text)}", _SPELLING)

    @property
    def is_fixed(self) -> bool:
        """Is it the same for every task?"""
        return not self.slots

    def amount(self, values: Values) -> int:
        """Raise ValueError when it cannot be computed, is negative or too large."""
        try:
            result = self._node(values)
        except ArithmeticError:
            raise ValueError(f"{self.text} divides by zero, or what comes out is no amount") from None
        if not 0 <= result <= LARGEST:
            raise ValueError(f"{self.text} is {'negative' if result < 0 else f'more than {LARGEST}'}")
        return result if isinstance(result, int) else math.ceil(result.quantize(SMALLEST))

    def is_whole(self) -> bool:
        """Is a fixed amount one without rounding?"""
        return self._node(_nothing) % 1 == 0

    def _sum(self) -> Node:
        node = self._product()
        while self._next() in ("+", "-"):
            node = _combined(self._words.pop(0), node, self._product())
        return node

    def _product(self) -> Node:
        node = self._factor()
        while self._next() in ("*", "/"):
            node = _combined(self._words.pop(0), node, self._factor())
        return node

    def _factor(self) -> Node:
        if self._next() == "-":
            self._words.pop(0)
            inner = self._factor()
            return lambda values: -inner(values)
        node = self._primary()
        if (unit := self._next()) and unit.isalpha():
            factor = _factor_of(self._words.pop(0), is_size=self.is_size)
            return _combined("*", node, lambda values: factor)
        return node

    def _primary(self) -> Node:
        word = self._words.pop(0) if self._words else ""
        if word[:1].isdigit() or word[:1] == ".":
            number = _exact(Decimal(word))
            return lambda values: number
        if word[:1] == "{":
            slot = _slot(word[1:-1].strip())
            self.slots.append(slot)
            return lambda values: values(slot)
        if word in PARTS:
            return self._part(word)
        if word == "(":
            node = self._sum()
            self._expect(")")
            return node
        raise complaint(f"an amount is expected {_before(word)}, in {shown(self.text)}", _SPELLING)

    def _part(self, name: str) -> Node:
        self._expect("(")
        nodes = [self._sum()]
        while self._next() == ",":
            self._words.pop(0)
            nodes.append(self._sum())
        self._expect(")")
        return lambda values: PARTS[name](node(values) for node in nodes)

    def _next(self) -> str:
        return self._words[0] if self._words else ""

    def _expect(self, word: str) -> None:
        found = self._words.pop(0) if self._words else ""
        if found != word:
            raise complaint(f"{word!r} is expected {_before(found)}, in {shown(self.text)}", _SPELLING)


@lru_cache(maxsize=256)
def formula(text: str, *, is_size: bool) -> Formula:
    """It is read once."""
    return Formula(text, is_size=is_size)


def read_amount(value: object, *, is_size: bool) -> int | str:
    """A number as it stands in a description, or the text of a formula that each task fills in; raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong(_KINDS[is_size], value, _EXAMPLES[is_size])
    if _is_no_amount(str(value)):
        raise wrong(_KINDS[is_size], value, _EXAMPLES[is_size])
    read = formula(str(value), is_size=is_size)
    if not read.is_fixed:
        return read.text
    try:
        amount = read.amount(_nothing)
    except ValueError:
        raise wrong(_KINDS[is_size], value, _EXAMPLES[is_size]) from None
    if not is_size and not read.is_whole():
        raise wrong(_KINDS[is_size], value, "no part of one can be given away")
    return amount


def values_of(parameter: Parameter, number: int, *, is_size: bool) -> Values:
    """What a formula's names mean for a task: named values, {} and {1}, {2}... of a line or list, and {index}."""

    def value(slot: str) -> Number:
        if slot == "index":
            return number
        if isinstance(parameter, dict):
            if slot not in parameter:
                raise ValueError(f"no parameter is called {slot!r}{_hint(slot, parameter)}")
            return _number(slot, parameter[slot], is_size=is_size)
        words = parameter if isinstance(parameter, list) else split(parameter)
        if slot and not slot.isdigit():
            raise ValueError(f"no parameter is called {slot!r}: words have numbers, {{1}}, {{2}}...")
        if not slot and len(words) != 1:
            raise ValueError(f"{{}} is the only word of a parameter, and this has {len(words)}; write {{1}}, {{2}}...")
        if int(slot or 1) > len(words):
            raise ValueError(f"there is no word {{{slot}}}, the parameter has {len(words)}")
        return _number(f"word {slot or 1}", words[int(slot or 1) - 1], is_size=is_size)

    return value


def _is_no_amount(text: str) -> bool:
    """Nothing is computed there, and it is no number with a unit either."""
    read = units.amount_and_unit(text)
    return not _COMPUTED.search(text) and (read is None or not _is_unit(read[1]))


_KINDS = {True: "an amount of memory or disk", False: "a whole number, 0 or more"}
_EXAMPLES = {True: "write '2 GB', '512 MB', or a number of MB", False: "write a number, as 2 or '4 K'"}
_SPELLING = "write for example '{size} * 2 GB': numbers, units (K, M, G, T), {parameters}, + - * / ( ), max and min"


def _words(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None:
            raise complaint(f"{text[place:].strip()[:1]!r} has no place in an amount, in {shown(text)}", _SPELLING)
        yield found[0].strip()
        place = found.end()


def _combined(operator: str, left: Node, right: Node) -> Node:
    match operator:
        case "+":
            return lambda values: left(values) + right(values)
        case "-":
            return lambda values: left(values) - right(values)
        case "*":
            return lambda values: left(values) * right(values)
        case _:
            return lambda values: Decimal(left(values)) / right(values)


def _factor_of(unit: str, *, is_size: bool) -> Number:
    """What a unit stands for, in MB for a size."""
    if unit == "m":
        raise complaint("'m' is a thousandth, of which there is no such amount", "write M or MB for 1024 * 1024 bytes")
    if not _is_unit(unit):
        raise complaint(f"{unit!r} is no unit", "write K, M, G or T, with B or without: powers of 1024")
    return _exact(Decimal(units.SIZES[units.unit_of(unit)]) / (units.MEGABYTE if is_size else 1))


def _is_unit(word: str) -> bool:
    """Of a size, or the same of anything: 4 K are 4096."""
    return not word or units.unit_of(word) in units.SIZES


def _slot(name: str) -> str:
    if name == "CAMPAIGN_ID":
        raise complaint("the campaign has no number yet when its amounts are computed", "use {index} or a parameter")
    if not _SLOT.fullmatch(name):
        raise complaint(f"{{{name}}} is no name of a parameter", _SPELLING)
    return name


def _number(name: str, value: object, *, is_size: bool) -> Number:
    """A value of a parameter as a number; text may have a unit."""
    if type(value) is int:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(repr(value))
    read = units.amount_and_unit(value) if isinstance(value, str) else None
    if read is None:
        raise ValueError(f"{name} is no number: {shown(value)}")
    number, unit = _exact(read[0]), read[1]
    return number * _factor_of(unit, is_size=is_size) if unit else number


def _exact(number: Decimal) -> Number:
    """Whole numbers are counted with as such: that is faster."""
    return int(number) if abs(number) <= LARGEST and number % 1 == 0 else number


def _hint(name: str, parameter: Mapping[str, object]) -> str:
    hint = did_you_mean(name, parameter)
    return f"; {hint}" if hint else ""


def _before(word: str) -> str:
    return f"before {word!r}" if word else "at the end"


def _nothing(slot: str) -> Number:
    raise LookupError(slot)
