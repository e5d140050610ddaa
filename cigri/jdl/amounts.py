"""Amounts of a resource, perhaps computed for each task: numbers, units, parameters, + - * / ( ) max and min.

They are parsed, never evaluated as code. Units are powers of 1024; what comes out is rounded up to a whole number.
"""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import NoReturn

from cigri.formats import units
from cigri.formats.lexer import END_OF_TEXT, Lexer
from cigri.jdl.parameters import Parameter
from cigri.jdl.problems import did_you_mean, invalid_value, shown, unexpected_value
from cigri.jdl.quoting import split

LARGEST_AMOUNT = 2**53
LONGEST_FORMULA = 200
"""Characters, and so the depth of parentheses, of a formula."""
SMALLEST = Decimal("1e-9")
"""What a quotient is known to: three thirds of 3 GB are 3 GB, and not 1 MB more."""
FUNCTIONS = {"max": max, "min": min}

Exact = int | Decimal
Values = Callable[[str], Exact]
"""The value of a parameter by its name."""
Node = Callable[[Values], Exact]

_TOKEN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,3})?)
    | (?P<slot>\{[^{}]*\})
    | (?P<word>[A-Za-z]++)
    | (?P<mark>[-+*/(),])
    """,
    re.VERBOSE,
)
_COMPUTED = re.compile(r"[{}()*/+,]")
_SLOT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[1-9][0-9]{0,3}|")


class AmountFormula:
    """An amount in whole units, MB if it `is_size`; raise ValueError when the text is none."""

    def __init__(self, text: str, *, is_size: bool) -> None:
        if len(text) > LONGEST_FORMULA:
            raise invalid_value(f"is longer than {LONGEST_FORMULA} characters", "compute it in the parameters")
        self.text, self.is_size = text.strip(), is_size
        self.slots: list[str] = []
        self._tokens = Lexer(self.text, _TOKEN, self._fail_where_no_token_is)
        self._node = self._sum()
        if self._tokens.next.kind != END_OF_TEXT:
            self._fail(f"{self._tokens.next.shown} is not expected there")

    @property
    def is_fixed(self) -> bool:
        """Is it the same for every task?"""
        return not self.slots

    def amount(self, values: Values) -> int:
        """Rounded up to a whole number; raise ValueError where it cannot be computed, is negative or too large."""
        try:
            result = self._node(values)
        except ArithmeticError:
            raise ValueError(f"{self.text} divides by zero, or what comes out is no amount") from None
        if not 0 <= result <= LARGEST_AMOUNT:
            raise ValueError(f"{self.text} is {'negative' if result < 0 else f'more than {LARGEST_AMOUNT}'}")
        return result if isinstance(result, int) else math.ceil(result.quantize(SMALLEST))

    def is_whole(self) -> bool:
        """Is a fixed amount one without rounding?"""
        return self._node(_nothing) % 1 == 0

    def _sum(self) -> Node:
        node = self._product()
        while operator := self._operator("+", "-"):
            node = _combined(operator, node, self._product())
        return node

    def _product(self) -> Node:
        node = self._factor()
        while operator := self._operator("*", "/"):
            node = _combined(operator, node, self._factor())
        return node

    def _factor(self) -> Node:
        if self._operator("-"):
            inner = self._factor()
            return lambda values: -inner(values)
        node = self._primary()
        if self._tokens.next.kind == "word":
            factor = _factor_of(self._tokens.take().text, is_size=self.is_size)
            return _combined("*", node, lambda values: factor)
        return node

    def _primary(self) -> Node:
        token = self._tokens.next
        if token.kind == "number":
            number = _exact(Decimal(self._tokens.take().text))
            return lambda values: number
        if token.kind == "slot":
            slot = _slot(self._tokens.take().text[1:-1].strip())
            self.slots.append(slot)
            return lambda values: values(slot)
        if token.kind == "word" and token.text in FUNCTIONS:
            return self._part(self._tokens.take().text)
        if self._tokens.takes("mark", "("):
            node = self._sum()
            self._expect(")")
            return node
        self._fail(f"an amount is expected {self._before()}")

    def _part(self, name: str) -> Node:
        self._expect("(")
        nodes = [self._sum()]
        while self._tokens.takes("mark", ","):
            nodes.append(self._sum())
        self._expect(")")
        return lambda values: FUNCTIONS[name](node(values) for node in nodes)

    def _operator(self, *marks: str) -> str:
        return next((mark for mark in marks if self._tokens.takes("mark", mark)), "")

    def _expect(self, mark: str) -> None:
        if not self._tokens.takes("mark", mark):
            self._fail(f"{mark!r} is expected {self._before()}")

    def _before(self) -> str:
        return "at the end" if self._tokens.next.kind == END_OF_TEXT else f"before {self._tokens.next.shown}"

    def _fail_where_no_token_is(self, at: int) -> NoReturn:
        self._fail(f"{self.text[at]!r} has no place in an amount")

    def _fail(self, message: str) -> NoReturn:
        raise invalid_value(f"{message}, in {shown(self.text)}", _SPELLING)


@lru_cache(maxsize=256)
def formula(text: str, *, is_size: bool) -> AmountFormula:
    """As AmountFormula; one that was read lately is not parsed again."""
    return AmountFormula(text, is_size=is_size)


def read_amount(value: object, *, is_size: bool) -> int | str:
    """A number as it stands in a description, or the text of a formula that each task fills in; raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise unexpected_value(_KINDS[is_size], value, _EXAMPLES[is_size])
    if _is_no_amount(str(value)):
        raise unexpected_value(_KINDS[is_size], value, _EXAMPLES[is_size])
    read = formula(str(value), is_size=is_size)
    if not read.is_fixed:
        return read.text
    try:
        amount = read.amount(_nothing)
    except ValueError:
        raise unexpected_value(_KINDS[is_size], value, _EXAMPLES[is_size]) from None
    if not is_size and not read.is_whole():
        raise unexpected_value(_KINDS[is_size], value, "no part of one can be given away")
    return amount


def values_of(parameter: Parameter, number: int, *, is_size: bool) -> Values:
    """What a formula's names mean for a task: named values, {} and {1}, {2}... of a line or list, and {index}."""

    def value(slot: str) -> Exact:
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


def _factor_of(unit: str, *, is_size: bool) -> Exact:
    """What a unit stands for, in MB for a size."""
    if unit == "m":
        raise invalid_value(
            "'m' is a thousandth, of which there is no such amount", "write M or MB for 1024 * 1024 bytes"
        )
    if not _is_unit(unit):
        raise invalid_value(f"{unit!r} is no unit", "write K, M, G or T, with B or without: powers of 1024")
    return _exact(Decimal(units.SIZES[units.unit_of(unit)]) / (units.MEGABYTE if is_size else 1))


def _is_unit(word: str) -> bool:
    """Of a size, or the same of anything: 4 K are 4096."""
    return not word or units.unit_of(word) in units.SIZES


def _slot(name: str) -> str:
    if name == "CAMPAIGN_ID":
        raise invalid_value(
            "the campaign has no number yet when its amounts are computed", "use {index} or a parameter"
        )
    if not _SLOT.fullmatch(name):
        raise invalid_value(f"{{{name}}} is no name of a parameter", _SPELLING)
    return name


def _number(name: str, value: object, *, is_size: bool) -> Exact:
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


def _exact(number: Decimal) -> Exact:
    """Whole numbers are counted with as such: that is faster."""
    return int(number) if abs(number) <= LARGEST_AMOUNT and number % 1 == 0 else number


def _hint(name: str, parameter: Mapping[str, object]) -> str:
    hint = did_you_mean(name, parameter)
    return f"; {hint}" if hint else ""


def _nothing(slot: str) -> Exact:
    raise LookupError(slot)
