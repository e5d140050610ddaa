"""Cycles the modules for ever, every few seconds and at once when work comes in; the janitor by the calendar."""

import logging
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger
from sqlalchemy.exc import SQLAlchemyError

from cigri.database import WAKE_CHANNEL, Database, session_name
from cigri.errors import DatabaseUnavailable
from cigri.flow.module_passes import HOLD_LIFE, ModulePass, put_pass
from cigri.flow.processes import ALMIGHTY, WorkerSign
from cigri.flow.quarantines import put_campaign_failures
from cigri.flow.remote_command_counts import NOTHING, RemoteCommandCosts
from cigri.lifecycle import CYCLE, longest_pass
from cigri.runtime.heartbeat import ProcessHeartbeat
from cigri.runtime.pass_context import is_noteworthy, process_identity
from cigri.settings.sections import Settings
from modules.almighty.worker import ModuleWorker, PassResult

logger = logging.getLogger(__name__)

ALWAYS: dict[str, Any] = {"coalesce": True, "misfire_grace_time": None}  # better late than never
NOTE_PERIOD = 10.0  # seconds; passes that did nothing are noted together
RECONNECT_PAUSE = 1.0
LISTEN_PAUSE = 0.5  # seconds until a signal is noticed


class Almighty:
    """A worker process per module, driven one after the other; none of them can stop the others."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._workers = {name: ModuleWorker(name) for name in (*CYCLE, "janitor")}
        self._stop = threading.Event()
        self._cycle = threading.Lock()
        self._unnoted: dict[str, int] = {}
        self._spent: dict[str, dict[str, RemoteCommandCosts]] = {}
        self._noted: dict[str, float] = {}
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._heartbeat = ProcessHeartbeat(database, ALMIGHTY, settings.almighty.silence, self._signs)

    def run(self) -> None:
        """Until SIGTERM or SIGINT; the pass under way is finished first."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stop.set())
        logging.getLogger("apscheduler").setLevel(logging.ERROR)  # a wake-up during a cycle is no news
        every = IntervalTrigger(seconds=self._settings.almighty.period)
        # two instances: a wake-up that comes during a cycle waits for its end, and the next ones are one with it
        self._scheduler.add_job(self._run_cycle, every, id="cycle", max_instances=2, **ALWAYS)
        if self._settings.almighty.janitor:
            trigger = CronTrigger.from_crontab(self._settings.almighty.janitor, timezone="UTC")
            self._scheduler.add_job(self._run_module, trigger, args=["janitor"], id="janitor", **ALWAYS)
        with self._heartbeat.beating():
            self._wait()
            self._scheduler.start()
            logger.info("The almighty cycles every %s s", self._settings.almighty.period)
            try:
                self._listen()
            finally:
                self._scheduler.shutdown(wait=True)
                for worker in self._workers.values():
                    worker.close()
                logger.info("The almighty has ended")

    def _listen(self) -> None:
        """Wake the cycle at each notification; without a database wait until it is back."""
        while not self._stop.is_set():
            url = self._database.url.replace("postgresql+psycopg://", "postgresql://", 1)
            with (
                suppress(psycopg.OperationalError),
                psycopg.connect(
                    url, autocommit=True, connect_timeout=10, application_name=session_name(*process_identity())
                ) as conn,
            ):
                conn.execute(f"LISTEN {WAKE_CHANNEL}")
                conn.execute(HOLD_LIFE)
                self._wake()
                while not self._stop.is_set():
                    if any(True for _ in conn.notifies(timeout=LISTEN_PAUSE, stop_after=1)):
                        self._wake()
            self._stop.wait(RECONNECT_PAUSE)

    def _wake(self) -> None:
        self._scheduler.add_job(self._run_cycle, id="woken", replace_existing=True, max_instances=2, **ALWAYS)

    def _run_cycle(self) -> None:
        with self._cycle:
            try:
                for name in CYCLE:
                    if self._stop.is_set() or not self._run_module(name):
                        break
            finally:
                self._wait()

    def _wait(self) -> None:
        """The next cycle comes after a period, or sooner."""
        self._heartbeat.begin("", self._settings.almighty.period)

    def _signs(self) -> list[WorkerSign]:
        return [sign for worker in self._workers.values() if (sign := worker.sign())]

    def _run_module(self, name: str) -> bool:
        """One pass, noted; False when there is no database for it or the next ones."""
        started = time.monotonic()
        deadline = longest_pass(name, self._settings.almighty.deadline)
        if name in CYCLE:  # the janitor works beside the cycle
            self._heartbeat.begin(f"the pass of {name}", deadline)
        outcome = self._workers[name].run(deadline)
        if outcome.is_database_away:
            logger.warning("%s: %s", name, outcome.error)
            return False
        seconds = time.monotonic() - started
        done = ModulePass(
            name,
            process_identity()[0],
            outcome.pid,
            seconds,
            outcome.counts,
            outcome.error,
            by_almighty=True,
            sessions=outcome.sessions,
        )
        if done.error:
            logger.error("%s failed: %s", name, done.error)
        elif is_noteworthy(done.counts):
            logger.info("%s: %s", name, ", ".join(f"{count} {what}" for what, count in done.counts.items()))
        if late := done.counts.get("late clusters"):
            logger.warning("%s: %d clusters did not answer in time", name, late)
        self._note(done, outcome.spent)
        if outcome.campaign_id:
            self._blame(name, outcome)
        return True

    def _blame(self, name: str, outcome: PassResult) -> None:
        """The campaign that the pass did not get over is left out of the next ones."""
        try:
            with self._database.begin() as conn:
                put_campaign_failures(conn, name, {outcome.campaign_id: outcome.error})
        except (DatabaseUnavailable, SQLAlchemyError) as error:
            logger.warning("Campaign %s, at which %s ended, could not be noted: %s", outcome.campaign_id, name, error)

    def _note(self, done: ModulePass, spent: Mapping[str, RemoteCommandCosts]) -> None:
        self._unnoted[done.name] = self._unnoted.get(done.name, 0) + 1
        unnoted = self._spent.setdefault(done.name, {})
        for cluster, costs in spent.items():
            unnoted[cluster] = unnoted.get(cluster, NOTHING) + costs
        if (
            not (done.error or is_noteworthy(done.counts))
            and time.monotonic() - self._noted.get(done.name, 0.0) < NOTE_PERIOD
        ):
            return
        try:
            with self._database.begin() as conn:
                put_pass(conn, done._replace(spent=unnoted), self._unnoted[done.name])
        except (DatabaseUnavailable, SQLAlchemyError) as error:
            logger.warning("The pass of %s could not be noted: %s", done.name, error)
            return
        self._unnoted[done.name] = 0
        self._spent.pop(done.name)
        self._noted[done.name] = time.monotonic()
