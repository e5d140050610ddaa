"""Clusters are asked on behalf of people, and nobody is kept waiting: who asks again later finds the answer."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from cigri.endpoints import Errand
from cigri.errors import Busy
from cigri.gateway import Gateway

MOST_ERRANDS = 100  # at the same time, of all people
KEPT_ANSWER = 60.0  # seconds that an answer waits for whoever has asked


class NotYet(Exception):
    """The cluster is being asked."""


class _Sent(NamedTuple):
    answer: Future[Any]
    at: float


class Errands:
    """A cluster is asked one thing after the other, as a person would; clusters, side by side."""

    def __init__(self) -> None:
        self._gateway = Gateway()
        self._lock = threading.Lock()
        self._sent: dict[Hashable, _Sent] = {}
        self._runners: dict[str, ThreadPoolExecutor] = {}

    def answer(self, key: Hashable, begin: Callable[[], Any]) -> Any:
        """What `begin` gives, or, of an errand that it gives, the answer once it is there; raise NotYet before."""
        with self._lock:
            self._forget()
            sent = self._sent.get(key)
        if sent is None:
            begun = begin()
            if not isinstance(begun, Errand):
                return begun
            self._send(key, begun)
            raise NotYet
        if not sent.answer.done():
            raise NotYet
        with self._lock:
            self._sent.pop(key, None)
        return sent.answer.result()

    def _send(self, key: Hashable, errand: "Errand[Any]") -> None:
        with self._lock:
            if len(self._sent) >= MOST_ERRANDS:
                raise Busy(f"{MOST_ERRANDS} questions to clusters are under way already; ask again in a minute")
            name = errand.cluster
            if name not in self._runners:
                self._runners[name] = ThreadPoolExecutor(1, thread_name_prefix=f"errand {name}")
            self._sent[key] = _Sent(self._runners[name].submit(errand.run, self._gateway), time.monotonic())

    def _forget(self) -> None:
        """What nobody came back for."""
        oldest = time.monotonic() - KEPT_ANSWER
        for key in [key for key, sent in self._sent.items() if sent.at < oldest and sent.answer.done()]:
            del self._sent[key]

    def close(self) -> None:
        """What is under way ends with its connections."""
        for runner in self._runners.values():
            runner.shutdown(wait=False, cancel_futures=True)
        self._gateway.close()
