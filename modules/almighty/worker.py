"""A module in a process of its own, kept from pass to pass; one that hangs or dies is replaced."""

import importlib
import logging
import multiprocessing
import signal
import time
import traceback
from collections.abc import Mapping
from ctypes import c_longlong
from multiprocessing.connection import Connection
from typing import NamedTuple

from cigri.database import Database
from cigri.errors import CigriError, DatabaseFull, DatabaseUnavailable
from cigri.flow.module_passes import NO_SESSIONS, NOWHERE
from cigri.flow.processes import WorkerSign
from cigri.flow.remote_command_counts import RemoteCommandCosts
from cigri.gateway.transport_gateway import TransportGateway
from cigri.installation import database_url
from cigri.runtime.logging_setup import set_up_log
from cigri.runtime.pass_context import PassContext, tune_garbage_collector
from cigri.settings.loading import load

logger = logging.getLogger(__name__)

PRELOADED = (
    "modules.updator",
    "modules.predictor.algorithms.lean",
    "modules.matcher",
    "modules.stager",
    "modules.metascheduler",
    "modules.campaign_schedulers.finalize",
    "modules.runner",
    "modules.killer",
    "modules.notifier",
    "modules.janitor",
    "modules.almighty.worker",
)
# forked from a process that has imported everything and has no threads: 10 ms and little memory each
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([*PRELOADED])
WORKER_PATIENCE = 10.0  # seconds that a worker gets to end by itself


class PassResult(NamedTuple):
    pid: int
    counts: Mapping[str, int]
    error: str
    is_database_away: bool = False
    campaign_id: int = 0  # that the pass was at when the process was killed or died
    spent: Mapping[str, RemoteCommandCosts] = NOWHERE  # of a process that was killed nobody knows
    sessions: Mapping[str, int] = NO_SESSIONS  # which end with the process


class ModuleWorker:
    """The process of one module; it is started at the first pass, and again after it was killed or died."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._campaign = CONTEXT.RawValue("q", 0)
        self._heard = 0.0

    def sign(self) -> WorkerSign | None:
        """Its process, and since when nothing was heard of it; None while there is none."""
        process = self._process
        if process is None or process.pid is None:
            return None
        return WorkerSign(self._name, process.pid, time.monotonic() - self._heard)

    def run(self, deadline: float) -> PassResult:
        """One pass, of at most `deadline` seconds, or the process is killed; what goes wrong is in the outcome."""
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            self._start()
        assert self._process is not None
        assert self._pipe is not None
        pid = self._process.pid or 0
        self._campaign.value = 0
        try:
            self._pipe.send("pass")
            if not self._pipe.poll(deadline):
                self._kill()
                late = f"the pass took longer than {deadline:g} s and was killed"
                return PassResult(pid, {}, late, campaign_id=self._campaign.value)
            counts, error, is_database_away, spent, sessions = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(WORKER_PATIENCE)
            code = self._process.exitcode
            self._kill()
            dead = f"the process died during the pass (exit code {code})"
            return PassResult(pid, {}, dead, campaign_id=self._campaign.value)
        self._heard = time.monotonic()
        return PassResult(pid, counts, error, is_database_away, spent=spent, sessions=sessions)

    def close(self) -> None:
        """Let the process end after what it does now; after WORKER_PATIENCE seconds it is killed."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.join(WORKER_PATIENCE)
            self._kill()

    def _start(self) -> None:
        self._pipe, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(
            target=_serve, args=(self._name, theirs, self._campaign), name=self._name, daemon=False
        )
        self._heard = time.monotonic()
        self._process.start()
        theirs.close()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None


def _serve(name: str, pipe: Connection, campaign: c_longlong) -> None:
    """Passes on demand until the almighty is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the almighty decides when
    settings = load()
    set_up_log(settings.log)
    database = Database(database_url(settings), settings.database.lock_timeout)

    def mark(campaign_id: int) -> None:
        campaign.value = campaign_id  # shared with the almighty, which reads it when we are gone

    tools = PassContext(database, settings, TransportGateway(), mark)
    run_once = importlib.import_module(f"modules.{name}").run_once
    tune_garbage_collector()
    while True:
        try:
            pipe.recv()
        except EOFError:
            break
        try:
            answer = (dict(run_once(tools)), "", False)
        except CigriError as error:
            is_away = isinstance(error, DatabaseUnavailable) and not isinstance(error, DatabaseFull)
            answer = ({}, str(error), is_away)
        except Exception:
            answer = ({}, traceback.format_exc(), False)
        try:
            pipe.send((*answer, tools.gateway.take_command_costs(), dict(tools.gateway.sessions())))
        except OSError:
            break
    tools.gateway.close()
    database.close()
