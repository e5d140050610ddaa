"""The laboratory as a process: it is told no secret, and it ends in time, or when it is to."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.errors import CigriError
from cigri.flow.grid_snapshot import GridSnapshot
from cigri.settings.sections import Settings
from cigri.submission import simulation_process
from cigri.submission.simulation_process import LaboratoryProcess, SimulationRequest
from tests.factories import NOON
from tests.waiting import looks

pytestmark = pytest.mark.process

LONG = 120.0  # seconds
WAITING = "import pathlib, time; pathlib.Path({path!r}).touch(); time.sleep(60)"
TELLING = """\
import json, os, pickle, sys
question = pickle.load(sys.stdin.buffer)
print(json.dumps({"error": repr([sorted(os.environ), question.settings.database.url])}))
"""
Plays = Callable[[str], None]


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """In the laboratory's place."""
    return lambda program: monkeypatch.setattr(simulation_process, "LABORATORY", (sys.executable, "-P", "-c", program))


def a_question() -> SimulationRequest:
    return SimulationRequest(Settings(), GridSnapshot(NOON, {}, {}, {}, [], {}), [])


def test_it_inherits_no_secret(plays: Plays, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CIGRI_SET_DATABASE__URL", "PGPASSWORD", "CIGRI_TOKEN"):
        monkeypatch.setenv(name, "secret")
    plays(TELLING)
    with pytest.raises(CigriError) as told:
        LaboratoryProcess(a_question(), []).answer()
    assert "PATH" in str(told.value)
    assert not any(word in str(told.value) for word in ("CIGRI", "PGPASSWORD", "secret"))


def test_it_is_waited_for_no_longer_than_it_may_take(plays: Plays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_process, "LONGEST_FORETELLING", 0.1)
    plays("import time; time.sleep(60)")
    with pytest.raises(CigriError, match="took too long"):
        LaboratoryProcess(a_question(), []).answer()


def test_it_is_ended_from_another_thread(plays: Plays, tmp_path: Path) -> None:
    begun, failures = tmp_path / "begun", list[str]()
    plays(WAITING.format(path=str(begun)))
    asked = LaboratoryProcess(a_question(), [])

    def answer() -> None:
        try:
            asked.answer()
        except CigriError as error:
            failures.append(str(error))

    thread = threading.Thread(target=answer)
    thread.start()
    assert any(begun.exists() for _ in looks(LONG))
    asked.end()
    thread.join(LONG)
    assert not thread.is_alive()
    assert failures == ["the simulation failed (exit status -15); nothing was submitted"]


def test_what_was_ended_before_is_not_begun(plays: Plays) -> None:
    plays("raise SystemExit(3)")
    asked = LaboratoryProcess(a_question(), [])
    asked.end()
    with pytest.raises(CigriError, match="was ended"):
        asked.answer()
