"""A line between us and a server on the loopback: each byte takes its time on it, and it may be cut."""

import queue
import socket
import threading
import time
from contextlib import suppress
from typing import Self

CHUNK = 65_536  # bytes
UNDER_WAY = 256  # chunks


class Line:
    """Listens at `port`; `delay`: seconds each way. `cut_after`: bytes to the server after which a connection ends."""

    def __init__(self, to: int, delay: float = 0.0, cut_after: int | None = None) -> None:
        self._to, self._delay, self._cut_after = to, delay, cut_after
        self.cuts = 0
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for end in (self._listener, *self._sockets):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (self._listener, *self._sockets):
            end.close()

    def _start(self, work: object, *given: object) -> None:
        assert callable(work)
        self._threads.append(threading.Thread(target=work, args=given, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while not self._over.is_set():
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [near, far]
                for ends in ((near, far, self._cut_after), (far, near, None)):
                    under_way: queue.Queue[tuple[float, bytes]] = queue.Queue(UNDER_WAY)
                    self._start(self._take, ends[0], under_way)
                    self._start(self._give, *ends, under_way)

    def _take(self, end: socket.socket, under_way: "queue.Queue[tuple[float, bytes]]") -> None:
        data = b"?"
        while data and not self._over.is_set():
            data = b""
            with suppress(OSError):
                data = end.recv(CHUNK)
            while not self._over.is_set():
                with suppress(queue.Full):
                    under_way.put((time.monotonic() + self._delay, data), timeout=0.1)
                    break

    def _give(
        self, near: socket.socket, far: socket.socket, left: int | None, under_way: "queue.Queue[tuple[float, bytes]]"
    ) -> None:
        """Until one end is gone, or so many bytes have gone this way."""
        is_open = True
        while is_open and not self._over.is_set():
            with suppress(queue.Empty):
                due, data = under_way.get(timeout=0.1)
                self._over.wait(max(0.0, due - time.monotonic()))
                is_open = bool(data) and (left is None or left > len(data))
                self.cuts += bool(data) and not is_open
                with suppress(OSError):
                    far.sendall(data if left is None else data[:left])
                left = None if left is None else left - len(data)
        for end in (near, far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
