"""What the doctor has looked at: told line by line to a person, or all at once to a program."""

from collections.abc import Sequence
from typing import Any

from cigri.api_models.health import CheckStatus, HealthCheck
from cigri.formats.untrusted_text import escape_text
from cigri.presentation.health_checks import check

MARKS = {CheckStatus.GOOD: "\N{CHECK MARK}", CheckStatus.BROKEN: "\N{BALLOT X}", CheckStatus.ODD: "!"}


class HealthCheckList:
    """In the order in which they were made."""

    def __init__(self, *, prints: bool) -> None:
        self._prints = prints
        self._made: list[HealthCheck] = []

    @property
    def is_broken(self) -> bool:
        """Whether a promise is broken; what is only odd does not count."""
        return any(check.verdict is CheckStatus.BROKEN for check in self._made)

    def tell(self, rule: str, wrong: Sequence[str], verdict: CheckStatus, problem: str = "") -> None:
        """Add a check; `verdict` holds if anything is wrong, which is what `problem` says."""
        self.add(check(rule, wrong, verdict), problem)

    def add(self, made: HealthCheck, problem: str = "") -> None:
        """Keep a check and print it: its rule where that holds, else `problem`, or that the check failed."""
        self._made.append(made)
        if self._prints:
            said = (problem or f"check failed: {made.rule}") if made.details else made.rule
            print(f"{MARKS[made.verdict]} {said}")
            for line in made.details:
                print(f"  {escape_text(line)}")

    def plain(self) -> dict[str, Any]:
        """What `cigri doctor --json` prints: `ok`, and of each check its rule, verdict and details."""
        return {"ok": not self.is_broken, "checks": [check._asdict() for check in self._made]}
