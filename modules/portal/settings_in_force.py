"""The settings with which requests are answered: read when the portal starts, and again when SIGHUP says so."""

import logging
import signal
import sys
from types import FrameType

from cigri.errors import CigriError
from cigri.settings.loading import load
from cigri.settings.sections import Settings

logger = logging.getLogger(__name__)


class SettingsInForce:
    """One for all requests; each endpoint gets them as they are when it is called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def current(self) -> Settings:
        """Return those that were read last."""
        return self._settings

    def replace(self, settings: Settings) -> None:
        """Answer with these from now on."""
        self._settings = settings

    def reload(self) -> None:
        """Read the files and variables again; settings with an error in them change nothing."""
        try:
            self.replace(load())
        except CigriError as error:
            logger.error("The settings stay as they were, for the new ones have errors: %s", error)
        else:
            logger.info("The settings were read again")

    def reload_on_hangup(self) -> None:
        """Let SIGHUP read them again, one that came while this process began, too.

        At a terminal it says that the terminal is gone, and ends the process.
        """
        if not _is_at_terminal():
            signal.signal(signal.SIGHUP, self._on_hangup)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # blocked by modules.operator.main

    def _on_hangup(self, _number: int, _frame: FrameType | None) -> None:
        self.reload()


def _is_at_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
