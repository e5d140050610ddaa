"""The laboratory (`modules/laboratory`), a program of its own, is asked what would become of campaigns."""

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cigri.api_models.simulations import SimulationView
from cigri.errors import SimulationFailed
from cigri.formats.json_values import from_json_value

if TYPE_CHECKING:
    from cigri.flow.dependencies import NewDependency
    from cigri.flow.grid_snapshot import GridSnapshot
    from cigri.flow.submissions import NewCampaign
    from cigri.flow.task_durations import PastDurations
    from cigri.settings.sections import Settings

LABORATORY = (sys.executable, "-P", "-m", "modules.laboratory")
HANDED_ON = ("COLUMNS", "HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME")
"""Of our environment. Where the database is, and what opens it, stays here."""
LONGEST_FORETELLING = 90.0  # seconds; it limits itself to far less
LONGEST_ENDING = 5.0  # seconds in which it ends of its own accord, with its server


class SimulatedSubmission(NamedTuple):
    """A campaign as it would be submitted, its number of tasks, and what is known of those that ran before.

    It waits for those of `after`: campaigns of the grid, or, by -1, -2..., the orders before it.
    """

    campaign: "NewCampaign"
    tasks: int
    known: "PastDurations"
    after: "Sequence[NewDependency]" = ()


class SimulationRequest(NamedTuple):
    """All that it has to know: it opens no database but its own."""

    settings: "Settings"
    picture: "GridSnapshot"
    orders: Sequence[SimulatedSubmission]


class LaboratoryProcess:
    """It is started for one question, and shows its progress on our standard error where that is a terminal.

    `notes` of each campaign become part of the answer.
    """

    def __init__(self, question: SimulationRequest, notes: Sequence[list[str]]) -> None:
        self._question, self._notes = question, notes
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_over = False

    def answer(self) -> SimulationView:
        """Raise SimulationFailed when a campaign could run nowhere, or when it takes too long, or is ended."""
        with self._start() as process:
            try:
                out, _ = process.communicate(pickle.dumps(self._question), LONGEST_FORETELLING)
            except subprocess.TimeoutExpired:
                raise SimulationFailed(
                    f"the simulation took too long (over {LONGEST_FORETELLING:.0f} s); nothing was submitted"
                ) from None
            finally:
                self._end(process)
        if process.returncode != 0:
            raise SimulationFailed(f"the simulation failed (exit status {process.returncode}); nothing was submitted")
        told = json.loads(out)
        if "error" in told:
            raise SimulationFailed(f"{told['error']}; nothing was submitted")
        for campaign, notes in zip(told["campaigns"], self._notes, strict=True):
            campaign["notes"] = notes
        return from_json_value(SimulationView, told)

    def end(self) -> None:
        """From another thread: `answer` raises soon, and the program is gone."""
        with self._lock:
            self._is_over = True
            if self._process is not None:
                _signal(self._process, signal.SIGTERM)

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
        with self._lock:
            if self._is_over:
                raise SimulationFailed("the simulation was ended; nothing was submitted")
            self._process = subprocess.Popen(
                LABORATORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, process_group=0
            )
            return self._process

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """Where it still runs it is interrupted, and has a server to stop first."""
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(LONGEST_ENDING)
        _signal(process, signal.SIGKILL)


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """With the processes that it has started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
