"""Clusters are asked, and ends foretold, for people, and nobody is kept waiting: who asks again finds the answer."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from cigri.endpoints import BackgroundCalculation, DeferredResponse
from cigri.errors import TooManyRequests
from cigri.gateway.transport_gateway import TransportGateway
from modules.portal.round_robin import RoundRobin

MOST_ERRANDS = 10  # of one user, under way or answered and not fetched; an answer has some megabytes
MOST_CALCULATIONS = 3  # at the same time, of all people; one of each
KEPT_ANSWER = 60.0  # seconds that an answer waits for whoever has asked


class ResponsePending(Exception):
    """The cluster is being asked, or the calculation under way; `answer` will be what is found."""

    def __init__(self, answer: "Future[Any]") -> None:
        super().__init__("there is no answer yet")
        self.answer = answer


class _PendingResponse(NamedTuple):
    user: str
    answer: Future[Any]
    at: float
    calculation: BackgroundCalculation[Any] | None = None


class _ClusterErrands:
    """What is to be asked of one cluster, one thing after the other, its users in turn."""

    def __init__(self, name: str, gateway: TransportGateway) -> None:
        self._gateway, self._lock = gateway, threading.Lock()
        self._waiting = RoundRobin[tuple[DeferredResponse[Any], Future[Any]]]()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"errand {name}")

    def send(self, user: str, errand: DeferredResponse[Any]) -> Future[Any]:
        answer = Future[Any]()
        with self._lock:
            self._waiting.put(user, (errand, answer))
        self._thread.submit(self._run_next)
        return answer

    def _run_next(self) -> None:
        with self._lock:
            turn = self._waiting.take()
        assert turn is not None, "this is called once for each"
        _, (errand, answer) = turn
        try:
            answer.set_result(errand.run(self._gateway))
        except BaseException as error:  # it is raised where it was asked
            answer.set_exception(error)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class DeferredResponses:
    """A cluster is asked one thing after the other, as a person would; clusters are, side by side."""

    def __init__(self) -> None:
        self._gateway = TransportGateway()
        self._lock = threading.Lock()
        self._sent: dict[Hashable, _PendingResponse] = {}
        """By question, in the order in which they were asked."""
        self._clusters: dict[str, _ClusterErrands] = {}
        self._calculators = ThreadPoolExecutor(MOST_CALCULATIONS, thread_name_prefix="calculation")

    def fetch_or_start(self, user: str, key: Hashable, begin: Callable[[], Any]) -> Any:
        """What `begin` gives, or, of an errand or a calculation that it gives, the answer, once it is there.

        Raise ResponsePending before. `key` holds the user, too.
        """
        with self._lock:
            self._forget()
            sent = self._sent.get(key)
        if sent is None:
            begun = begin()
            if isinstance(begun, BackgroundCalculation):
                raise ResponsePending(self._calculate(key, begun))
            if isinstance(begun, DeferredResponse):
                raise ResponsePending(self._send(user, key, begun))
            return begun
        if not sent.answer.done():
            raise ResponsePending(sent.answer)
        with self._lock:
            self._sent.pop(key, None)
        return sent.answer.result()

    def _send(self, user: str, key: Hashable, errand: "DeferredResponse[Any]") -> Future[Any]:
        with self._lock:
            if key in self._sent:
                return self._sent[key].answer  # another thread was asked the same at the same time
            self._make_room(user)
            name = errand.cluster
            if name not in self._clusters:
                self._clusters[name] = _ClusterErrands(name, self._gateway)
            answer = self._clusters[name].send(user, errand)
            self._sent[key] = _PendingResponse(user, answer, time.monotonic())
            return answer

    def _make_room(self, user: str) -> None:
        """The oldest answer that this user has not fetched is dropped; raise TooManyRequests where there is none."""
        own = [key for key, sent in self._sent.items() if sent.user == user]
        if len(own) < MOST_ERRANDS:
            return
        answered = next((key for key in own if self._sent[key].answer.done()), None)
        if answered is None:
            raise TooManyRequests(
                f"{MOST_ERRANDS} questions of yours to clusters are under way already: ask again when one of them is "
                "answered, as it is to who asks the same again"
            )
        del self._sent[answered]

    def _calculate(self, key: Hashable, calculation: "BackgroundCalculation[Any]") -> Future[Any]:
        """Each takes some of this host's processors: one of a user, and few of all."""
        with self._lock:
            under_way = [sent.calculation for sent in self._sent.values() if not sent.answer.done()]
            calculating = [other.user for other in under_way if other is not None]
            if calculation.user in calculating:
                raise TooManyRequests("a simulation of yours is under way: ask again when it is over, in some seconds")
            if len(calculating) >= MOST_CALCULATIONS:
                raise TooManyRequests(f"{MOST_CALCULATIONS} simulations are under way already; ask again in a minute")
            self._make_room(calculation.user)
            answer = self._calculators.submit(calculation.run)
            self._sent[key] = _PendingResponse(calculation.user, answer, time.monotonic(), calculation)
            return answer

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
        for cluster in self._clusters.values():
            cluster.close()
        self._gateway.close()
