"""The grammar of expressions; they are read as a tree, and no text is ever evaluated as code.

either  = both {"or" both}
both    = part {"and" part}
part    = "not" part | "(" either ")" | literal ["not"] "in" name | name [comparison]
comparison = ("==" | "!=" | "<" | "<=" | ">" | ">=") literal | ["not"] "in" "[" literal {"," literal} "]"
literal = number [unit] | hours ":" minutes [":" seconds] | string | true | false
"""

import re
from typing import NoReturn

from cigri.errors import DescriptionProblem, RequirementError
from cigri.formats.lexer import END_OF_TEXT, Lexer, LexerToken
from cigri.requirements.conditions import (
    ORDERS,
    ComparisonOperator,
    Condition,
    FlagCondition,
    all_of,
    any_of,
    compared,
    negated,
)
from cigri.requirements.value_kinds import Kinds, Scalar, ValueKind, property_name
from cigri.requirements.values import read_value

DEEPEST_EXPRESSION = 40
HOW_CONDITION = "compare a property with a value, as in memory >= 16 GB"
LONGEST_TEXT = 20_000
OPERATORS_INSTEAD = {"&&": "and", "||": "or", "!": "not", "=": "==", "<>": "!=", "=~": "==", "&": "and", "|": "or"}

_TOKEN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<string>'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*")
    | (?P<amount>(?:(?:[0-9]++-)?[0-9]++(?::[0-9]++)+
        |[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++|(?![eE][-+]?[0-9])))(?![.:]))
    | (?P<word>(?i:and|or|not|in|true|false)(?![A-Za-z0-9_]))
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<mark>==|!=|<=|>=|<(?!>)|>|[][(),])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FOREIGN = re.compile(r"&&|\|\||<>|=~|[!=&|]|[^\s()\[\],<>='\"]{1,40}|.", re.DOTALL)


def parse_expression(text: str, kinds: Kinds) -> Condition:
    """What has to hold; raise RequirementError, with the column, at the first thing that is wrong."""
    if len(text) > LONGEST_TEXT:
        _fail(LONGEST_TEXT, f"an expression has {LONGEST_TEXT} characters at most")
    tokens = Lexer(text, _TOKEN, lambda at: _fail(at, *_fault(text, at)), _meaning)
    condition = _ExpressionReader(tokens, kinds).either(0)
    if tokens.next.kind != END_OF_TEXT:
        _fail(tokens.next.at, f"expected 'and', 'or' or the end, not {tokens.next.shown}")
    return condition


class _ExpressionReader:
    def __init__(self, tokens: Lexer, kinds: Kinds) -> None:
        self._tokens = tokens
        self._kinds = kinds

    @property
    def _next(self) -> LexerToken:
        return self._tokens.next

    def either(self, depth: int) -> Condition:
        parts = [self._both(depth)]
        while self._tokens.takes("word", "or"):
            parts.append(self._both(depth))
        return any_of(parts)

    def _both(self, depth: int) -> Condition:
        parts = [self._part(depth)]
        while self._tokens.takes("word", "and"):
            parts.append(self._part(depth))
        return all_of(parts)

    def _part(self, depth: int) -> Condition:
        if depth > DEEPEST_EXPRESSION:
            _fail(self._next.at, f"more than {DEEPEST_EXPRESSION} brackets and 'not' stand in one another")
        if self._tokens.takes("word", "not"):
            return negated(self._part(depth + 1))
        if self._tokens.takes("mark", "("):
            condition = self.either(depth + 1)
            self._expect(")")
            return condition
        if self._next.kind == "name":
            return self._of_property(self._tokens.take())
        if self._is_literal():
            return self._membership()
        _fail(self._next.at, f"expected a condition, not {self._next.shown}", HOW_CONDITION)

    def _of_property(self, name: LexerToken) -> Condition:
        key = property_name(name.text)
        if self._next.kind == "mark" and self._next.text in set(ComparisonOperator):
            operator = self._tokens.take()
            return self._compared(key, ComparisonOperator(operator.text), [self._literal()], operator)
        operator = self._next
        if self._tokens.takes("word", "not"):
            self._expect("in", "word")
            return self._compared(key, ComparisonOperator.NOT_IN, self._list(), operator)
        if self._tokens.takes("word", "in"):
            return self._compared(key, ComparisonOperator.IN, self._list(), operator)
        if self._kinds.get(key, ValueKind.BOOLEAN) is not ValueKind.BOOLEAN:
            message = f"{name.text} is a {self._kinds[key]}, it has to be compared"
            _fail(name.at, message, f"write {name.text} == ..., or {name.text} >= ...")
        return FlagCondition(key)

    def _membership(self) -> Condition:
        """`'avx' in features`."""
        literal = self._literal()
        operator = self._next
        is_not = self._tokens.takes("word", "not")
        if not self._tokens.takes("word", "in"):
            _fail(literal.at, "a condition begins with the name of a property", HOW_CONDITION)
        if self._next.kind != "name":
            _fail(self._next.at, f"expected the name of a property, not {self._next.shown}")
        name = property_name(self._tokens.take().text)
        return self._compared(name, ComparisonOperator.NE if is_not else ComparisonOperator.EQ, [literal], operator)

    def _compared(
        self, name: str, operator: ComparisonOperator, literals: list[LexerToken], place: LexerToken
    ) -> Condition:
        kind = self._kinds.get(name)
        values: list[Scalar] = []
        for literal in literals:
            value, kind = _value(literal, kind)
            values.append(value)
        if operator in ORDERS and kind is ValueKind.STRING and name not in self._kinds:
            kind = ValueKind.VERSION
        if operator in ORDERS and kind in (ValueKind.STRING, ValueKind.BOOLEAN):
            _fail(place.at, f"{name} is a {kind}, of which none is more than another", "write ==, != or in [...]")
        assert kind is not None
        return compared(name, operator, values, kind)

    def _list(self) -> list[LexerToken]:
        self._expect("[")
        literals = [self._literal()]
        while self._tokens.takes("mark", ","):
            literals.append(self._literal())
        self._expect("]")
        return literals

    def _is_literal(self) -> bool:
        return self._next.kind in ("string", "amount") or self._next.text in ("true", "false")

    def _literal(self) -> LexerToken:
        """A number takes the unit behind it."""
        if not self._is_literal():
            _fail(self._next.at, f"expected a value, not {self._next.shown}", "put text in quotes")
        literal = self._tokens.take()
        if literal.kind == "amount" and self._next.kind == "name":
            return LexerToken("amount", f"{literal.text} {self._tokens.take().text}", literal.at)
        return literal

    def _expect(self, text: str, kind: str = "mark") -> None:
        if not self._tokens.takes(kind, text):
            _fail(self._next.at, f"expected {text!r}, not {self._next.shown}")


def _value(literal: LexerToken, kind: ValueKind | None) -> tuple[Scalar, ValueKind]:
    """What the literal means; a number without a unit may be a text or a version too, as it is written."""
    raw: object = literal.text == "true" if literal.kind == "word" else literal.text
    if literal.kind == "amount" and " " in literal.text and kind in (ValueKind.STRING, ValueKind.VERSION):
        _fail(literal.at, f"expected text, not {literal.shown}", "put text in quotes")
    if literal.kind == "amount" and " " not in literal.text and kind is None:
        kind = ValueKind.DURATION if ":" in literal.text else ValueKind.NUMBER
    try:
        value, value_kind = read_value(raw, kind)
    except ValueError as error:
        _fail(literal.at, str(error))
    assert not isinstance(value, list)
    if literal.kind == "amount" and kind is None and value_kind is ValueKind.STRING:
        _fail(literal.at, f"{literal.shown} has a unit that is not known", "write as in 16 GB, 2 h, 90 min")
    return value, value_kind


def _meaning(kind: str, text: str) -> str:
    if kind == "string":
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text.lower() if kind == "word" else text


def _fault(text: str, at: int) -> tuple[str, str]:
    """Why no token begins here, and what to do about it."""
    if text[at] in "'\"":
        return "a quote is not closed", f"end the text with {text[at]}"
    foreign = _FOREIGN.match(text, at)
    word = foreign[0] if foreign else text[at]
    if word in OPERATORS_INSTEAD:
        return f"{word!r} is not known here", f"write {OPERATORS_INSTEAD[word]!r}"
    return f"cannot read {word!r}", "put text in quotes"


def _fail(at: int, message: str, hint: str = "") -> NoReturn:
    raise RequirementError([DescriptionProblem(f"column {at + 1}", message, hint)])
