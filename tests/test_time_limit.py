"""What goes on for ever is stopped, and timers that were set around it go on."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cigri.runtime.time_limit import time_limit
from tests.waiting import looks


def wait_for_ever() -> None:
    threading.Event().wait()


def test_what_is_in_time_is_let_be() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(60):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_limit_within_a_limit_leaves_that_to_go_on() -> None:
    def wait_twice() -> None:
        with pytest.raises(TimeoutError, match=r"more than 0\.1 s"), time_limit(0.1):
            wait_for_ever()
        wait_for_ever()

    with pytest.raises(TimeoutError, match=r"more than 0\.3 s"), time_limit(0.3):
        wait_twice()


def test_an_error_within_is_itself() -> None:
    with pytest.raises(KeyError), time_limit(60):
        raise KeyError


def test_what_loops_in_another_thread_is_stopped_there() -> None:
    """Signals come to the main thread only."""

    def loop() -> None:
        with time_limit(0.1):
            while True:
                pass

    with ThreadPoolExecutor() as pool:
        assert isinstance(pool.submit(loop).exception(), TimeoutError)


def test_what_is_in_time_in_another_thread_is_let_be() -> None:
    def run() -> str:
        with time_limit(60):
            return "done"

    before = threading.active_count()
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run).result() == "done"
    assert any(threading.active_count() == before for _ in looks())
