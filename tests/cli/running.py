"""Runs a command in this process, as its users would from a pipe, on the database of the test."""

import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Terminal(io.StringIO):
    """A screen, as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


class Printed(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)


Run = Callable[..., Printed]
"""Arguments in; a status, and what was printed."""


@contextmanager
def running(
    main: Callable[[Sequence[str]], int],
    database_url: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """No file of the person who tests is read, and times are UTC."""
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.delenv("CIGRI_CONFIG", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def run(*argv: object) -> Printed:
        capsys.readouterr()
        status = main([str(word) for word in argv])
        printed = capsys.readouterr()
        return Printed(status, printed.out, printed.err)

    yield run
    monkeypatch.undo()
    time.tzset()
