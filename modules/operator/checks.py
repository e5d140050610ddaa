"""What the doctor has looked at: told line by line to a person, or all at once to a program."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from cigri.text.harmless import safe


class CheckVerdict(StrEnum):
    """`odd`: a person may want to look, and no promise is broken."""

    GOOD = "good"
    BROKEN = "broken"
    ODD = "odd"


MARKS = {CheckVerdict.GOOD: "\N{CHECK MARK}", CheckVerdict.BROKEN: "\N{BALLOT X}", CheckVerdict.ODD: "!"}


class Check(NamedTuple):
    """`details` say what is wrong; none of what is good."""

    rule: str
    verdict: CheckVerdict
    details: Sequence[str]


class Checks:
    """In the order in which they were made."""

    def __init__(self, *, prints: bool) -> None:
        self._prints = prints
        self._made: list[Check] = []

    @property
    def is_broken(self) -> bool:
        """Whether a promise is broken; what is only odd does not count."""
        return any(check.verdict is CheckVerdict.BROKEN for check in self._made)

    def tell(self, rule: str, wrong: Sequence[str], verdict: CheckVerdict) -> None:
        """`verdict` holds if anything is wrong."""
        self._made.append(Check(rule, verdict if wrong else CheckVerdict.GOOD, wrong))
        if self._prints:
            print(f"{MARKS[self._made[-1].verdict]} {rule}{': not so' if wrong else ''}")
            for line in wrong:
                print(f"  {safe(line)}")

    def plain(self) -> dict[str, Any]:
        """What `cigri doctor --json` prints: `ok`, and of each check its rule, verdict and details."""
        return {"ok": not self.is_broken, "checks": [check._asdict() for check in self._made]}
