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
from cigri.flow.clusters import ClusterRow
from cigri.gateway import Gateway
from cigri.program.tools import Tools
from cigri.script.answers import Answer
from cigri.settings.sections import InputSettings, Settings
from modules import stager

PIECE_OF_TEST = 1000  # bytes
DURING = 0.03  # seconds after the sending


def die(delay: float = 0.0) -> None:
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGKILL)


class Dying(Gateway):
    def __init__(self, moment: str, number: int) -> None:
        super().__init__()
        self._moment, self._left = moment, number

    def run(self, cluster: ClusterRow, user: str, script: str) -> Answer:
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
    importlib.import_module(f"modules.{module}").run_once(Tools(database, Settings(), gateway))
    return 0


def at_line(argv: list[str]) -> int:
    """URL LINE STORE: a pass of the stager that dies before it does what stands in that line."""
    url, line, place = argv
    file = stager.__file__

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != file:
            return None
        if frame.f_lineno == int(line):
            die()
        return trace

    stager.PIECE = PIECE_OF_TEST
    threading.settrace(trace)
    sys.settrace(trace)
    settings = Settings(inputs=InputSettings(directory=Path(place)))
    database = Database(url)
    gateway = Gateway()
    stager.run_once(Tools(database, settings, gateway))
    gateway.close()
    return 0
