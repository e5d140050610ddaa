"""The loop of the daemon: it sleeps until a client speaks, a job ends or a deadline comes."""

import math
import os
import selectors
import signal
import time

from cigri.localbatch import processes, requests
from cigri.localbatch.engine import JobEngine
from cigri.localbatch.job_process import JobProcess
from cigri.localbatch.server import SocketServer
from cigri.localbatch.store import JobStore

STARTS_LIMIT = 2**20
"""Bytes after which the file of starts is emptied."""


class BatchDaemon:
    """One turn: hear, reap, decide, commit, answer, start."""

    def __init__(self, engine: JobEngine, store: JobStore, starts: int) -> None:
        self._engine = engine
        self._store = store
        self._starts = starts
        self._selector = selectors.DefaultSelector()
        self._server = SocketServer(self._selector, os.geteuid() or None)
        self._wake = wake_up_by_signals()
        self._selector.register(self._wake, selectors.EVENT_READ, lambda: os.read(self._wake, 4096))
        self._stopping = False

    def run(self, adopted: list[JobProcess]) -> None:
        """Serve until SIGTERM; `adopted` are the jobs of an earlier daemon."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        for running in adopted:
            self._watch(running)
        busy = True
        while not self._stopping:
            busy = self._turn(0.0 if busy else self._pause())
        self._server.close()
        self._engine.close()
        self._store.commit()
        self._store.close()

    def _turn(self, timeout: float | None) -> bool:
        """Whether more could be started at once."""
        for key, _ in self._selector.select(timeout):
            key.data()
        self._reap()
        now = time.monotonic()
        self._engine.enforce(now)
        self._engine.look_at_memory(now)
        for request in self._server.requests:
            text = requests.answer(self._engine, request.uid, request.line, now)
            self._server.answer(request.connection, text)
        self._server.requests.clear()
        planned = self._engine.plan(now)
        self._store.commit()
        self._server.send_answers()
        self._server.drop_silent(now)
        self._engine.launch(planned)
        self._store.commit()
        if planned and os.fstat(self._starts).st_size > STARTS_LIMIT:
            os.ftruncate(self._starts, 0)
        return bool(planned)

    def _pause(self) -> float | None:
        due = min(self._engine.next_due(), self._server.next_due())
        return None if due == math.inf else max(0.0, due - time.monotonic())

    def _reap(self) -> None:
        """Record each child that ended while it is still a zombie, for until then its pid is its own."""
        while ended := processes.next_zombie():
            running = self._engine.child(ended.pid)
            if running and running.process.popen:
                self._engine.end(running, ended.exit_code)
                running.process.popen.returncode = ended.exit_code
            os.waitpid(ended.pid, 0)

    def _watch(self, running: JobProcess) -> None:
        process = running.process

        def ended() -> None:
            self._selector.unregister(process.pidfd)
            self._engine.end(running, processes.exit_code(process))
            os.close(process.pidfd)

        self._selector.register(process.pidfd, selectors.EVENT_READ, ended)

    def _stop(self, *_: object) -> None:
        self._stopping = True


def wake_up_by_signals() -> int:
    """A file that becomes readable with each signal, SIGCHLD among them."""
    readable, writable = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return readable
