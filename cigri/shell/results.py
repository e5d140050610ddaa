"""What is said to a cluster and what comes back: sh text out, a ShellResult in; questions travel as one script."""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt


class ShellResult(NamedTuple):
    """What a script did: exit status, standard output and standard error (UTF-8, undecodable bytes replaced)."""

    status: int
    out: str
    err: str


class RawShellResult(NamedTuple):
    """The same, as it came: where the bytes of files are in it."""

    status: int
    out: bytes
    err: bytes

    @property
    def as_text(self) -> ShellResult:
        return ShellResult(self.status, self.out.decode(errors="replace"), self.err.decode(errors="replace"))


class ScriptBundle:
    """Several scripts in one remote command, each in a subshell of its own, and their answers told apart.

    The marks are random, so no output of a part can imitate them.
    """

    def __init__(self, parts: Mapping[str, str]) -> None:
        self._names = list(parts)
        self._mark = f"cigri-{secrets.token_hex(8)}"
        lines = []
        for name, text in parts.items():
            lines.append(f"( :\n{text}\n)")
            lines.append(f"s=$?; printf '\\n%s %s %s\\n' {self._mark} {name} $s; printf '\\n%s\\n' {self._mark} >&2")
        lines.append("true")
        self.script = "\n".join(lines)

    def unpack(self, answer: ShellResult) -> dict[str, ShellResult]:
        """The answer of each part; raise UnreadableOutput where one is missing."""
        first, *others = answer.out.split(f"\n{self._mark} ")
        ends = [other.partition("\n") for other in others]
        statuses = [end.partition(" ") for end, newline, _ in ends if newline]
        errors = answer.err.split(f"\n{self._mark}\n")
        is_whole = [name for name, *_ in statuses] == self._names and all(status.isdecimal() for *_, status in statuses)
        if not is_whole or len(errors) != len(statuses) + 1:
            tail = excerpt(answer.err or answer.out)
            raise UnreadableOutput(f"the cluster's answer was cut off (exit status {answer.status}): {tail!r}")
        outs = [first, *(out for *_, out in ends)]
        parts = zip(statuses, outs, errors, strict=False)
        return {name: ShellResult(int(status), out, err) for (name, _, status), out, err in parts}
