"""Clusters are asked, and ends foretold, for people, and nobody is kept waiting: who asks again finds the answer."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from cigri.endpoints import BackgroundCalculation, DeferredResponse
from cigri.errors import TooManyRequests
from cigri.gateway.transport_gateway import TransportGateway

MOST_ERRANDS = 100  # at the same time, of all people
MOST_CALCULATIONS = 3  # at the same time, of all people; one of each
KEPT_ANSWER = 60.0  # seconds that an answer waits for whoever has asked


class ResponsePending(Exception):
    """The cluster is being asked, or the calculation under way."""


class _PendingResponse(NamedTuple):
    answer: Future[Any]
    at: float
    calculation: BackgroundCalculation[Any] | None = None


class DeferredResponses:
    """A cluster is asked one thing after the other, as a person would; clusters are, side by side."""

    def __init__(self) -> None:
        self._gateway = TransportGateway()
        self._lock = threading.Lock()
        self._sent: dict[Hashable, _PendingResponse] = {}
        self._runners: dict[str, ThreadPoolExecutor] = {}
        self._calculators = ThreadPoolExecutor(MOST_CALCULATIONS, thread_name_prefix="calculation")

    def fetch_or_start(self, key: Hashable, begin: Callable[[], Any]) -> Any:
        """What `begin` gives, or, of an errand or a calculation that it gives, the answer, once it is there.

        Raise ResponsePending before.
        """
        with self._lock:
            self._forget()
            sent = self._sent.get(key)
        if sent is None:
            begun = begin()
            if isinstance(begun, BackgroundCalculation):
                self._calculate(key, begun)
            elif isinstance(begun, DeferredResponse):
                self._send(key, begun)
            else:
                return begun
            raise ResponsePending
        if not sent.answer.done():
            raise ResponsePending
        with self._lock:
            self._sent.pop(key, None)
        return sent.answer.result()

    def _send(self, key: Hashable, errand: "DeferredResponse[Any]") -> None:
        with self._lock:
            if len(self._sent) >= MOST_ERRANDS:
                raise TooManyRequests(
                    f"{MOST_ERRANDS} questions to clusters are under way already; ask again in a minute"
                )
            name = errand.cluster
            if name not in self._runners:
                self._runners[name] = ThreadPoolExecutor(1, thread_name_prefix=f"errand {name}")
            self._sent[key] = _PendingResponse(self._runners[name].submit(errand.run, self._gateway), time.monotonic())

    def _calculate(self, key: Hashable, calculation: "BackgroundCalculation[Any]") -> None:
        """Each takes some of this host's processors: one of a user, and few of all."""
        with self._lock:
            under_way = [sent.calculation for sent in self._sent.values() if not sent.answer.done()]
            calculating = [other.user for other in under_way if other is not None]
            if calculation.user in calculating:
                raise TooManyRequests("a simulation of yours is under way: ask again when it is over, in some seconds")
            if len(calculating) >= MOST_CALCULATIONS:
                raise TooManyRequests(f"{MOST_CALCULATIONS} simulations are under way already; ask again in a minute")
            answer = self._calculators.submit(calculation.run)
            self._sent[key] = _PendingResponse(answer, time.monotonic(), calculation)

    def _forget(self) -> None:
        """What nobody came back for."""
        oldest = time.monotonic() - KEPT_ANSWER
        for key in [key for key, sent in self._sent.items() if sent.at < oldest and sent.answer.done()]:
            del self._sent[key]

    def close(self) -> None:
        """What is under way ends with its connections and programs."""
        self._calculators.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            calculations = [sent.calculation for sent in self._sent.values() if sent.calculation is not None]
        for calculation in calculations:
            calculation.end()
        for runner in self._runners.values():
            runner.shutdown(wait=False, cancel_futures=True)
        self._gateway.close()
