"""A message by a command of its user, which runs as this user on the grid's host."""

import os
import pwd
import select
import subprocess
import time
from contextlib import suppress

from cigri.formats.subscriptions import words_of
from cigri.formats.untrusted_text import escape_line
from cigri.localbatch.job_owner import USUAL_UMASK, JobOwner, owner_of
from cigri.localbatch.processes import MARK, sweep
from cigri.settings.sections import NotifySettings
from modules.notifier.delivery_errors import DeliveryRefused
from modules.notifier.message_text import MessageText

KEPT_OUTPUT = 500  # bytes, the last ones
READ_AT_ONCE = 1 << 16
MORE_FOR_SUDO = 5.0  # seconds, in which `timeout` ends what we may not


def run_command(settings: NotifySettings, user: str, line: str, letter: MessageText) -> None:
    """Its words, ~ being the user's home, then id, name, tag and comment, as OAR does it.

    Raise DeliveryRefused, once and for all, if it fails.
    """
    owner = _owner(user)
    program, *words = words_of(line)
    if program.startswith("~/"):
        program = owner.environment["HOME"] + program.removeprefix("~")
    words = [program, *words, letter.id, letter.name, letter.tag, letter.comment]
    is_own = owner.uid == os.geteuid() or os.geteuid() == 0
    if settings.commands == "none" or (settings.commands == "own" and not is_own):
        raise DeliveryRefused(
            f"this grid runs no commands of {user}: notify.commands is {settings.commands}", is_final=True
        )
    limit = settings.timeout
    if not is_own:
        words = ["timeout", "-k", "1", f"{limit:g}", "env", f"CIGRI_MESSAGE={letter.key}", *words]
        words, limit = ["sudo", "-n", "-H", "-u", user, "--", *words], limit + MORE_FOR_SUDO
    try:
        process = _start(words, owner, letter.key, is_own=is_own)
    except OSError as error:
        raise DeliveryRefused(f"{words[0]}: {error.strerror}", is_final=True) from None
    code, said = _wait(process, letter.key, limit)
    if code != 0:
        how = f"exit code {code}" if code is not None else f"it took longer than {settings.timeout:g} s and was ended"
        last = escape_line(said.decode(errors="replace").strip())
        raise DeliveryRefused(f"{how}{f': {last}' if last else ''}", is_final=True)


def _owner(user: str) -> JobOwner:
    try:
        return owner_of(pwd.getpwnam(user).pw_uid)
    except KeyError:
        raise DeliveryRefused(f"there is no account {user} on the grid's host", is_final=True) from None


def _start(words: list[str], owner: JobOwner, key: str, *, is_own: bool) -> "subprocess.Popen[bytes]":
    changes = is_own and owner.groups is not None
    return subprocess.Popen(
        words,
        env={**owner.environment, "CIGRI_MESSAGE": key, MARK: key},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        cwd=owner.home if is_own else "/",
        user=owner.uid if changes else None,
        group=owner.gid if changes else None,
        extra_groups=owner.groups if changes else None,
        start_new_session=True,
        umask=USUAL_UMASK if changes else -1,
    )


def _wait(process: "subprocess.Popen[bytes]", key: str, limit: float) -> tuple[int | None, bytes]:
    """Its exit code, None if it is not over in time, and what it said last; nothing that it began lives on."""
    deadline, said = time.monotonic() + limit, b""
    ended = os.pidfd_open(process.pid)
    assert process.stdout
    out = process.stdout.fileno()
    os.set_blocking(out, False)
    try:
        news = select.poll()
        news.register(ended, select.POLLIN)
        news.register(out, select.POLLIN)
        while process.poll() is None and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in news.poll(left * 1000):
                if descriptor == out and not (more := _read(out)):
                    news.unregister(out)
                elif descriptor == out:
                    said = (said + more)[-KEPT_OUTPUT:]
        code = process.poll()
        return code, (said + _read(out))[-KEPT_OUTPUT:]
    finally:
        os.close(ended)
        sweep(key, process.pid)
        with suppress(subprocess.TimeoutExpired):
            process.wait(MORE_FOR_SUDO)
        process.stdout.close()


def _read(descriptor: int) -> bytes:
    """What is there; b"" at the end, or when there is nothing."""
    try:
        return os.read(descriptor, READ_AT_ONCE)
    except BlockingIOError:
        return b""
