"""The grammar of DIRAC's JDL, as the JobRequirements RFC (#7) and ClassAds write it: attributes, lists, sections.

text    = "[" entries "]" | entries
entries = { name "=" value ";" }          the last ";" may be missing
value   = string | number | true | false | "{" [value {"," value}] "}" | "[" entries "]"
"""

from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from cigri.errors import DescriptionError, Problem
from cigri.jdl.dirac.tokens import JdlToken, Position, Scalar, tokens

DEEPEST = 20
TRUTHS = {"true": True, "false": False}


class Attribute(NamedTuple):
    """What stands behind a `=`, and where its name stands."""

    name: str
    value: "Value"
    place: Position


Section = dict[str, Attribute]
"""Attributes by their names in small letters: DIRAC's are read in any case."""

Value = Scalar | list["Value"] | Section


def parse(text: str) -> Section:
    """The attributes of a text; raise DescriptionError at the first thing that is wrong."""
    reader = _Reader(tokens(text))
    is_bracketed = reader.takes("[")
    section = reader.entries("]" if is_bracketed else "", 0)
    if is_bracketed:
        reader.expect("]")
    if reader.next.kind != "end":
        reader.fail("behind the end of the description", "take it away")
    return section


class _Reader:
    """Looks one token ahead."""

    def __init__(self, source: Iterator[JdlToken]) -> None:
        self._source = source
        self.next = next(source)

    def take(self) -> JdlToken:
        taken, self.next = self.next, next(self._source, self.next)
        return taken

    def takes(self, mark: str) -> bool:
        """Is it this mark? Then it is behind us."""
        is_it = self.next.kind == "mark" and self.next.value == mark
        if is_it:
            self.take()
        return is_it

    def expect(self, mark: str) -> None:
        if not self.takes(mark):
            self.fail(f"expected {mark!r}")

    def fail(self, message: str, hint: str = "") -> NoReturn:
        raise DescriptionError([Problem(str(self.next.place), f"{message}: {self.next.shown}", hint)])

    def entries(self, closing: str, depth: int) -> Section:
        """Up to the closing mark or, without one, the end of the text."""
        section: Section = {}
        while not self._at_end(closing):
            attribute = self._attribute(depth)
            if attribute.name.lower() in section:
                first = section[attribute.name.lower()].place
                message = f"{attribute.name} is given twice, first in {first}"
                raise DescriptionError([Problem(str(attribute.place), message, "leave one of them out")])
            section[attribute.name.lower()] = attribute
            if not self.takes(";") and not self._at_end(closing):
                self.fail("expected ';' behind the value", f"end {attribute.name} with ';'")
        return section

    def _at_end(self, closing: str) -> bool:
        if not closing:
            return self.next.kind == "end"
        return self.next.kind == "mark" and self.next.value == closing

    def _attribute(self, depth: int) -> Attribute:
        if self.next.kind != "name":
            self.fail("expected the name of an attribute")
        name = self.take()
        self.expect("=")
        return Attribute(str(name.value), self._read(depth), name.place)

    def _read(self, depth: int) -> Value:
        if depth > DEEPEST:
            self.fail(f"more than {DEEPEST} lists and sections stand in one another")
        if self.takes("["):
            section = self.entries("]", depth + 1)
            self.expect("]")
            return section
        if self.takes("{"):
            return self._list(depth + 1)
        if self.next.kind in ("string", "number"):
            return self.take().value
        if self.next.kind == "name" and str(self.next.value).lower() in TRUTHS:
            return TRUTHS[str(self.take().value).lower()]
        self.fail("expected a value", "put text in double quotes")

    def _list(self, depth: int) -> list[Value]:
        values: list[Value] = []
        if self.takes("}"):
            return values
        while True:
            values.append(self._read(depth))
            if self.takes("}"):
                return values
            if not self.takes(","):
                self.fail("expected ',' or '}' in a list")
