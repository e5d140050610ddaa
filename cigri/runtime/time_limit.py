"""A site's own code (schedulers, algorithms, policies, rules) is stopped where it goes on for ever."""

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PURE_LIMIT = 10.0  # seconds of one call, which takes milliseconds
AGAIN = 1.0  # seconds after which code that went on in spite of it is stopped once more
MOST_STOPPED = 2  # times in a pass, after which the same code is not called in it any more


class TimeLimitExceeded(BaseException):
    """Raised where the code is; no Exception, which it may catch itself."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what runs longer.

    What cannot be interrupted (a long call of C, `except:` in a loop) ends with the process at the almighty's deadline.
    """
    if threading.current_thread() is not threading.main_thread():  # signals arrive in that one only
        with _limit_of_thread(seconds):
            yield
        return
    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, _stop)
    around, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeLimitExceeded as stopped:
        raise _timeout(seconds, stopped) from stopped
    finally:
        signal.signal(signal.SIGALRM, handler)
        if around:
            left = around - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3), interval)


@contextmanager
def _limit_of_thread(seconds: float) -> Iterator[None]:
    """As time_limit, once, by another thread that raises in this one."""
    is_over, over = threading.Lock(), False

    def stop(thread: int) -> None:
        with is_over:
            if not over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitExceeded))

    timer = threading.Timer(seconds, stop, [threading.get_ident()])
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            with is_over:
                over = True
            timer.cancel()
            for _ in range(2):  # what was raised at the last moment arrives where Python jumps back
                pass
    except TimeLimitExceeded as stopped:
        raise _timeout(seconds, stopped) from stopped


def _timeout(seconds: float, stopped: TimeLimitExceeded) -> TimeoutError:
    error = TimeoutError(f"it went on for more than {seconds:g} s and was stopped")
    for note in getattr(stopped, "__notes__", ()):
        error.add_note(note)
    return error


def refuse_stopped(name: str, times: int) -> None:
    """Raise TimeoutError for code that was stopped as many times in this pass."""
    if times >= MOST_STOPPED:
        raise TimeoutError(f"{name!r} was stopped {times} times in this pass, and is not called again in it")


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TimeLimitExceeded
