"""The grammar of expressions; they are read as a tree, and no text is ever evaluated as code.

either  = both {"or" both}
both    = part {"and" part}
part    = "not" part | "(" either ")" | literal ["not"] "in" name | name [comparison]
comparison = ("==" | "!=" | "<" | "<=" | ">" | ">=") literal | ["not"] "in" "[" literal {"," literal} "]"
literal = number [unit] | hours ":" minutes [":" seconds] | string | true | false
"""

from collections.abc import Iterator

from cigri.requirements.conditions import ORDERS, Condition, Flag, Operator, all_of, any_of, compared, negated
from cigri.requirements.kinds import Kind, Kinds, Scalar, property_name
from cigri.requirements.tokens import Token, fail, tokens
from cigri.requirements.values import read_value

DEEPEST = 40
HOW = "compare a property with a value, as in memory >= 16 GB"


def parse_expression(text: str, kinds: Kinds) -> Condition:
    """What has to hold; raise RequirementError, with the column, at the first thing that is wrong."""
    reader = _Reader(tokens(text), kinds)
    condition = reader.either(0)
    if reader.next.kind != "end":
        fail(reader.next.column, f"expected 'and', 'or' or the end, not {reader.next.shown}")
    return condition


class _Reader:
    """Looks one token ahead."""

    def __init__(self, source: Iterator[Token], kinds: Kinds) -> None:
        self._source = source
        self._kinds = kinds
        self.next = next(source)

    def either(self, depth: int) -> Condition:
        parts = [self._both(depth)]
        while self._takes("word", "or"):
            parts.append(self._both(depth))
        return any_of(parts)

    def _both(self, depth: int) -> Condition:
        parts = [self._part(depth)]
        while self._takes("word", "and"):
            parts.append(self._part(depth))
        return all_of(parts)

    def _part(self, depth: int) -> Condition:
        if depth > DEEPEST:
            fail(self.next.column, f"more than {DEEPEST} brackets and 'not' stand in one another")
        if self._takes("word", "not"):
            return negated(self._part(depth + 1))
        if self._takes("mark", "("):
            condition = self.either(depth + 1)
            self._expect(")")
            return condition
        if self.next.kind == "name":
            return self._of_property(self._take())
        if self._is_literal():
            return self._membership()
        fail(self.next.column, f"expected a condition, not {self.next.shown}", HOW)

    def _of_property(self, name: Token) -> Condition:
        known = property_name(name.text)
        if self.next.kind == "mark" and self.next.text in set(Operator):
            operator = self._take()
            return self._compared(known, Operator(operator.text), [self._literal()], operator)
        operator = self.next
        if self._takes("word", "not"):
            self._expect("in", "word")
            return self._compared(known, Operator.NOT_IN, self._list(), operator)
        if self._takes("word", "in"):
            return self._compared(known, Operator.IN, self._list(), operator)
        if self._kinds.get(known, Kind.BOOLEAN) is not Kind.BOOLEAN:
            message = f"{name.text} is a {self._kinds[known]}, it has to be compared"
            fail(name.column, message, f"write {name.text} == ..., or {name.text} >= ...")
        return Flag(known)

    def _membership(self) -> Condition:
        """`'avx' in features`."""
        literal = self._literal()
        operator = self.next
        is_not = self._takes("word", "not")
        if not self._takes("word", "in"):
            fail(literal.column, "a condition begins with the name of a property", HOW)
        if self.next.kind != "name":
            fail(self.next.column, f"expected the name of a property, not {self.next.shown}")
        name = property_name(self._take().text)
        return self._compared(name, Operator.NE if is_not else Operator.EQ, [literal], operator)

    def _compared(self, name: str, operator: Operator, literals: list[Token], place: Token) -> Condition:
        kind = self._kinds.get(name)
        values: list[Scalar] = []
        for literal in literals:
            value, kind = _value(literal, kind)
            values.append(value)
        if operator in ORDERS and kind is Kind.STRING and name not in self._kinds:
            kind = Kind.VERSION
        if operator in ORDERS and kind in (Kind.STRING, Kind.BOOLEAN):
            fail(place.column, f"{name} is a {kind}, of which none is more than another", "write ==, != or in [...]")
        assert kind is not None
        return compared(name, operator, values, kind)

    def _list(self) -> list[Token]:
        self._expect("[")
        literals = [self._literal()]
        while self._takes("mark", ","):
            literals.append(self._literal())
        self._expect("]")
        return literals

    def _is_literal(self) -> bool:
        return self.next.kind in ("string", "amount") or self.next.text in ("true", "false")

    def _literal(self) -> Token:
        """A number takes the unit behind it."""
        if not self._is_literal():
            fail(self.next.column, f"expected a value, not {self.next.shown}", "put text in quotes")
        literal = self._take()
        if literal.kind == "amount" and self.next.kind == "name":
            return Token("amount", f"{literal.text} {self._take().text}", literal.column)
        return literal

    def _take(self) -> Token:
        taken, self.next = self.next, next(self._source, self.next)
        return taken

    def _takes(self, kind: str, text: str) -> bool:
        """Is it this one? Then it is behind us."""
        is_it = self.next.kind == kind and self.next.text == text
        if is_it:
            self._take()
        return is_it

    def _expect(self, text: str, kind: str = "mark") -> None:
        if not self._takes(kind, text):
            fail(self.next.column, f"expected {text!r}, not {self.next.shown}")


def _value(literal: Token, kind: Kind | None) -> tuple[Scalar, Kind]:
    """What the literal means; a number without a unit may be a text or a version too, as it is written."""
    raw: object = literal.text == "true" if literal.kind == "word" else literal.text
    if literal.kind == "amount" and " " in literal.text and kind in (Kind.STRING, Kind.VERSION):
        fail(literal.column, f"expected text, not {literal.shown}", "put text in quotes")
    if literal.kind == "amount" and " " not in literal.text and kind is None:
        kind = Kind.DURATION if ":" in literal.text else Kind.NUMBER
    try:
        value, found = read_value(raw, kind)
    except ValueError as error:
        fail(literal.column, str(error))
    assert not isinstance(value, list)
    if literal.kind == "amount" and kind is None and found is Kind.STRING:
        fail(literal.column, f"{literal.shown} has a unit that is not known", "write as in 16 GB, 2 h, 90 min")
    return value, found
