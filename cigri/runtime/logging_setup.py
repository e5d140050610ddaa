"""The log of our programs: a line a record on standard error; what goes wrong in the same way, once a minute."""

import logging
import re
import sys
import time
from collections.abc import Callable

from cigri.formats.untrusted_text import EscapingFormatter
from cigri.settings.sections import LogSettings

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
VARYING_FIGURES = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?")
MOST_KNOWN = 1000  # warnings that are remembered


class RepeatFilter(logging.Filter):
    """Lets a warning pass that differs from those of the last `period` seconds in more than numbers.

    The next one that passes tells how many were left out.
    """

    def __init__(self, period: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._period, self._clock = period, clock
        self._written: dict[tuple[str, int, str], tuple[float, int]] = {}  # when last, and how many since

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or not self._period:
            return True
        message, now = record.getMessage(), self._clock()
        key = record.name, record.levelno, VARYING_FIGURES.sub("#", message)
        at, since = self._written.get(key, (now - self._period, 0))
        if now - at < self._period:
            self._written[key] = at, since + 1
            return False
        if since:
            record.msg, record.args = f"{message}\n({since} times more in the last {now - at:.0f} s)", ()
        self._forget(now)
        self._written[key] = now, 0
        return True

    def _forget(self, now: float) -> None:
        if len(self._written) >= MOST_KNOWN:
            self._written = {key: written for key, written in self._written.items() if now - written[0] < self._period}


def set_up_log(chosen: LogSettings, *, quiet: bool = False) -> None:
    """`quiet`: only what somebody should look at."""
    level = max(logging.WARNING, _level(chosen)) if quiet else _level(chosen)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EscapingFormatter(FORMAT))
    handler.addFilter(RepeatFilter(chosen.repeat))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # its threads log what the transport raises anyway
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _level(chosen: LogSettings) -> int:
    return logging.getLevelNamesMapping()[chosen.level.upper()]
