"""One pass of a module in a process that kills itself at a chosen moment: URL MODULE MOMENT [NUMBER]

before: the script for the cluster is ready and not sent; during: it is sent and not answered; after: it is answered
and nothing is noted. NUMBER says which remote command of the pass it happens at, the first by default.
"""

import importlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from cigri.database import Database
from cigri.flow import dependencies
from cigri.flow.clusters import ClusterRow
from cigri.gateway.transport_gateway import TransportGateway
from cigri.outputs import assembling
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import InputSettings, NotifySettings, Settings
from cigri.shell.results import ShellResult
from modules import metascheduler, notifier, stager
from modules.notifier import sending as telling
from modules.stager import cluster_files, collecting, sending

PIECE_OF_TEST = 1000  # bytes
PARCELS_OF_TEST = 2  # at once
DURING = 0.03  # seconds after the sending


def die(delay: float = 0.0) -> None:
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGKILL)


class Dying(TransportGateway):
    def __init__(self, moment: str, number: int) -> None:
        super().__init__()
        self._moment, self._left = moment, number

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        self._left -= 1
        if self._left == 0 and self._moment == "before":
            die()
        if self._left == 0 and self._moment == "during":
            super().run(cluster, user, "true")  # the connection is there, so that the script itself is cut
            threading.Thread(target=die, args=[DURING], daemon=True).start()
        answer = super().run(cluster, user, script)
        if self._left == 0:
            die()
        return answer


def main(argv: list[str]) -> int:
    url, module, moment, *number = argv
    database = Database(url)
    gateway = Dying(moment, int(number[0]) if number else 1)
    importlib.import_module(f"modules.{module}").run_once(PassContext(database, Settings(), gateway))
    return 0


def die_at(file: str | None, line: int) -> None:
    """In whatever thread."""

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != file:
            return None
        if frame.f_lineno == line:
            die()
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


def at_line(argv: list[str]) -> int:
    """URL MODULE LINE STORE: a pass of the stager that dies before it does what stands in that line of that module."""
    url, module, line, place = argv
    sending.PIECE, sending.LARGEST_PIECE, sending.SMALL = PIECE_OF_TEST, PIECE_OF_TEST, 0
    die_at(importlib.import_module(module).__file__, int(line))
    return _pass_of_stager(url, Settings(inputs=InputSettings(directory=Path(place))))


def collecting_at_line(argv: list[str]) -> int:
    """URL LINE FILE: as `at_line`, of a file that takes part in collecting; few outputs come at once."""
    url, line, file = argv
    collecting.PARCELS_AT_ONCE = PARCELS_OF_TEST
    collecting.TURN_OF_CAMPAIGN = PIECE_OF_TEST
    assembling.WRITTEN_AGAIN = PIECE_OF_TEST
    cluster_files.LEAST_ASKED = cluster_files.MOST_ASKED = 2 * PIECE_OF_TEST
    die_at(file, int(line))
    return _pass_of_stager(url, Settings())


def _pass_of_stager(url: str, settings: Settings) -> int:
    database, gateway = Database(url), TransportGateway()
    stager.run_once(PassContext(database, settings, gateway))
    gateway.close()
    return 0


def at_line_of_notifier(argv: list[str]) -> int:
    """URL FILE LINE PORT: a pass of the notifier that dies before it does what stands there."""
    url, file, line, port = argv
    notifier.SHORT_SENDING = sending_time = 20.0
    die_at({"notifier": notifier, "sending": telling}[file].__file__, int(line))
    settings = Settings(notify=NotifySettings(smtp=f"127.0.0.1:{port}", digest=0, timeout=sending_time))
    notifier.run_once(PassContext(Database(url), settings, TransportGateway()))
    return 0


def at_release(argv: list[str]) -> int:
    """URL LINE: a pass of the metascheduler that dies before it does what stands in that line of dependencies.py."""
    url, line = argv
    die_at(dependencies.__file__, int(line))
    gateway = TransportGateway()
    metascheduler.run_once(PassContext(Database(url), Settings(), gateway))
    gateway.close()
    return 0
