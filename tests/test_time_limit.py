"""What goes on for ever is stopped, and timers that were set around it go on."""

import signal
import threading

import pytest

from cigri.program.time_limit import time_limit


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


def test_other_threads_are_not_limited() -> None:
    """Signals come to the main thread; a cluster's thread has the pass's patience."""
    ended = []

    def run() -> None:
        with time_limit(1e-6):
            ended.append(threading.current_thread())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended == [thread]
