"""Signs of life of a program that makes passes, and a look at those of the others."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow.processes import ProcessSign, WorkerSign, put_sign, put_stalled, remove_process
from cigri.runtime.failure_isolation import described
from cigri.runtime.pass_context import process_identity

logger = logging.getLogger(__name__)

SIGNS_IN_SILENCE = 6  # so many are given in the time for which there may be none
LONGEST_BEAT = 5.0  # seconds
ACTIVITY_GRACE = 60.0  # seconds over its limit: a worker is ended, its pass is noted, a lock is waited for
LOST_SIGHT = 3.0  # beats; who has not looked for longer lets the others tell first that they live
RETRY_PAUSE = 1.0


def _no_workers() -> Sequence[WorkerSign]:
    return ()


class StallWatch:
    """Tells, by events, which programs have stalled."""

    def __init__(self, database: Database, beat: float) -> None:
        self._database, self._patience = database, LOST_SIGHT * beat
        self._looked: float | None = None

    def look(self) -> None:
        """After a time without a look (this host slept, the database was away) the others get one more beat."""
        now = time.monotonic()
        is_steady = self._looked is not None and now - self._looked < self._patience
        with self._database.begin() as conn:
            for process in put_stalled(conn) if is_steady else ():
                logger.warning("%s", process.message)
        self._looked = now


class ProcessHeartbeat:
    """A thread that says what this program is at, and since when: what hangs is seen though the thread lives."""

    def __init__(
        self,
        database: Database,
        name: str,
        silence: float,
        workers: Callable[[], Sequence[WorkerSign]] = _no_workers,
    ) -> None:
        self._database, self._name, self._silence, self._workers = database, name, silence, workers
        self._watch = StallWatch(database, beat_of(silence))
        self.begin("", 0.0)

    def begin(self, activity: str, limit: float) -> None:
        """The program is at something else from now on, empty: it waits, for at most `limit` seconds."""
        self._activity = activity, time.monotonic(), limit + ACTIVITY_GRACE

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Give signs of life as long as this lasts."""
        host, pid = process_identity()
        try:
            with repeating(self._beat, beat_of(self._silence)):
                yield
        finally:
            try:
                with self._database.begin() as conn:
                    remove_process(conn, host, pid)
            except (CigriError, SQLAlchemyError) as error:
                logger.warning("The end of this process could not be noted: %s", error)

    def _beat(self) -> None:
        activity, since, limit = self._activity
        age = time.monotonic() - since
        sign = ProcessSign(*process_identity(), self._name, activity, age, limit, self._silence, self._workers())
        with self._database.begin() as conn:
            put_sign(conn, sign)
        self._watch.look()


def beat_of(silence: float) -> float:
    """Seconds between two signs of life, where there may be none for `silence` seconds."""
    return min(LONGEST_BEAT, silence / SIGNS_IN_SILENCE)


@contextmanager
def repeating(act: Callable[[], None], period: float) -> Iterator[None]:
    """Call `act` in a thread, at once and every `period` seconds; where it fails, sooner again."""
    over = threading.Event()

    def run() -> None:
        pause = 0.0
        while not over.wait(pause):
            try:
                act()
                pause = period
            except Exception as error:  # whatever it is: without signs a process that lives would count as stalled
                logger.warning("No sign of life could be given or read: %s", described(error))
                pause = min(RETRY_PAUSE, period)

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
