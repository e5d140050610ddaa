"""People before their browsers, in a process of their own: `python -m tests.bench.readers`, told by JSON what to do."""

import json
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import NamedTuple

HOST = "127.0.0.1"
AT_ONCE = 4
PATIENCE = 60.0  # seconds
GREETING, NEWS = b": listening", b"event: changed"
MOST_READ = 65536  # bytes


class Reading(NamedTuple):
    """`streams`: the path and the cookie of each answer without an end.

    `path` is asked for `rate` times a second, or, where that is 0, by so many people, one time after the other.
    """

    port: int
    streams: list[tuple[str, str]]
    path: str
    cookie: str
    rate: float
    people: int = AT_ONCE


class Seen(NamedTuple):
    """`news`: how often a stream has told that something changed; `waits`: seconds of each answer."""

    news: int
    waits: list[float]
    seconds: float
    size: int

    @property
    def rate(self) -> float:
        return len(self.waits) / self.seconds

    @property
    def p99(self) -> float:
        """Seconds in which 99 of 100 were answered."""
        return sorted(self.waits)[int(len(self.waits) * 0.99)]


@contextmanager
def reading(reading: Reading) -> Iterator[list[Seen]]:
    """All listen, and ask, while the block runs; what they have seen is in the list after it."""
    argv = [sys.executable, "-P", "-m", "tests.bench.readers", json.dumps(reading)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    seen: list[Seen] = []
    try:
        if not process.stdout.readline():
            raise RuntimeError("the readers are not let in")
        yield seen
        told, _ = process.communicate(timeout=PATIENCE)
        seen.append(Seen(*json.loads(told)))
    finally:
        process.kill()
        process.wait()


class _Readers:
    def __init__(self, told: Reading) -> None:
        self._told = told
        self._over = threading.Event()
        self._waits: list[float] = []
        self._size = 0

    def read(self) -> Seen:
        """Until standard input ends."""
        selector, news = selectors.DefaultSelector(), 0
        for path, cookie in self._told.streams:
            selector.register(self._listen(path, cookie), selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        print("all listen", flush=True)
        started = time.perf_counter()
        with ThreadPoolExecutor(self._told.people) as pool:
            askers = [pool.submit(self._ask) for _ in range(1 if self._told.rate else self._told.people)]
            try:
                while not self._over.is_set():
                    for key, _ in selector.select():
                        if isinstance(key.fileobj, socket.socket):
                            news += self._heard(key.fileobj).count(NEWS)
                        else:
                            self._over.set()
            finally:
                self._over.set()
        for asker in askers:
            asker.result()  # raises what went wrong in it
        return Seen(news, self._waits, time.perf_counter() - started, self._size)

    def _listen(self, path: str, cookie: str) -> socket.socket:
        opened = socket.create_connection((HOST, self._told.port), PATIENCE)
        opened.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{self._told.port}\r\nCookie: {cookie}\r\n\r\n".encode())
        answer = b""
        while GREETING not in answer:
            heard = opened.recv(MOST_READ)
            if not heard:
                raise RuntimeError(f"{path}: {answer.decode()}")
            answer += heard
        return opened

    def _heard(self, opened: socket.socket) -> bytes:
        heard = opened.recv(MOST_READ)
        if not heard:
            raise RuntimeError("a stream has ended")
        return heard

    def _ask(self) -> None:
        told = self._told
        connection = HTTPConnection(HOST, told.port, timeout=PATIENCE)
        due = time.perf_counter()
        while not self._over.is_set():
            started = time.perf_counter()
            connection.request("GET", told.path, headers={"Cookie": told.cookie, "Accept": "*/*"})
            response = connection.getresponse()
            size = len(response.read())
            if response.status != 200:
                raise RuntimeError(f"{told.path}: {response.status}")
            self._waits.append(time.perf_counter() - started)
            self._size = size
            if told.rate:
                due += 1 / told.rate
                self._over.wait(max(due - time.perf_counter(), 0))
        connection.close()


if __name__ == "__main__":
    print(json.dumps(_Readers(Reading(*json.loads(sys.argv[1]))).read()))
