"""A host: a real daemon on a spool of its own, spoken to with the real command."""

import io
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from cigri.drivers.local import START_CLIENT
from cigri.localbatch import client, command
from tests.waiting import PATIENCE, looks


class Host:
    """The daemon is started by the first command, as in life."""

    def __init__(self, directory: Path) -> None:
        self.spool = directory / "spool"
        self.directory = directory
        self.pools = ["cpu=2", "mem=1000"]
        self._names = 0

    def run(self, verb: str, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """The command by hand."""
        pools = [f"--pool={pool}" for pool in self.pools]
        words = (sys.executable, "-P", "-m", command.__name__, verb, "--spool", str(self.spool), *pools, *words)
        return subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=60)

    def call(self, verb: str, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """As run(), in this process, which is much cheaper; starts no daemon."""
        argv = ["command", verb, "--spool", str(self.spool), "--no-start", *words]
        out, err = io.TextIOWrapper(io.BytesIO(), newline=""), io.StringIO()
        with mock.patch.multiple(sys, argv=argv, stdin=io.StringIO(stdin)), redirect_stdout(out), redirect_stderr(err):
            status = command.main()
        out.seek(0)
        return subprocess.CompletedProcess(argv, status, out.read(), err.getvalue())

    def client(self, request: bytes) -> "subprocess.CompletedProcess[bytes]":
        """What CiGri's driver does."""
        return subprocess.run(self.client_words, input=request, capture_output=True, timeout=60)

    @property
    def client_words(self) -> list[str]:
        pools = [f"--pool={pool}" for pool in self.pools]
        return [
            sys.executable,
            "-I",
            "-S",
            "-c",
            START_CLIENT,
            os.path.dirname(client.__file__),
            str(self.spool),
            *pools,
        ]

    def ask(self, verb: str, *words: str, stdin: str = "") -> list[dict[str, Any]]:
        done = self.call(verb, *words, stdin=stdin)
        if done.returncode == client.NO_DAEMON:
            self.client(b'{"verb":"probe"}')
            done = self.call(verb, *words, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()][:-1]

    def say(self, verb: str, **fields: object) -> list[dict[str, Any]]:
        """As ask(), in JSON, which is cheaper still."""
        answer = self.say_to_daemon(verb, **fields)
        if answer is None:
            self.client(b'{"verb":"probe"}')
            answer = self.say_to_daemon(verb, **fields)
        assert answer is not None, "the daemon does not start"
        return answer

    def say_to_daemon(self, verb: str, **fields: object) -> list[dict[str, Any]] | None:
        """None: there is none."""
        try:
            answer = client.exchange(json.dumps({"verb": verb, **fields}).encode(), str(self.spool), None)
        except client.ClientFailed as failure:
            if failure.status == client.NO_DAEMON:
                return None
            raise
        return [json.loads(line) for line in answer.splitlines()][:-1]

    def submit(self, script: str, *words: str, size: int = 1, walltime: int = 60, name: str = "") -> str:
        """Queue an array of `sh -c script` and give its name; the scripts find the test's directory in $D."""
        self._names += 1
        name = name or f"array.{self._names}"
        script = f"D='{self.directory}'; {script}"
        options = [f"--name={name}", f"--size={size}", f"--walltime={walltime}", *words]
        self.ask("submit", *options, "--", "/bin/sh", "-c", script)
        return name

    def history(self, name: str, size: int = 1) -> list[dict[str, Any]]:
        return self.say("history", keys=[f"{name} {index} -" for index in range(1, size + 1)])

    def states(self, name: str, size: int = 1) -> list[str]:
        return [job["state"] for job in self.history(name, size)]

    def end_of(self, name: str, size: int = 1) -> list[dict[str, Any]]:
        """What is known of the jobs once all have ended."""
        self.wait_for(lambda: all(job["ended"] for job in self.history(name, size)))
        return self.history(name, size)

    def wait_for(self, fact: Callable[[], object]) -> None:
        for _ in looks(longest=0.1):
            if fact():
                return

    def lines(self, name: str) -> list[str]:
        """The whole lines of a file that jobs write to."""
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []

    def wait_for_lines(self, name: str, count: int = 1) -> list[str]:
        self.wait_for(lambda: len(self.lines(name)) >= count)
        return self.lines(name)

    @property
    def pid(self) -> int:
        return int(self.ask("probe")[0]["pid"])

    def daemons(self) -> list[int]:
        """The pid of each process that serves this spool, or is about to see that another one does."""
        words = f"\0--spool\0{self.spool}\0".encode()
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if words in _read(path)]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the daemon, if there is one, and wait until it is gone."""
        for line in self.say_to_daemon("probe") or []:
            end(line["pid"], number)

    def clear(self) -> None:
        """End every job and then the daemon."""
        if self.say_to_daemon("probe") is None:
            return
        if live := self.live():
            self.say("cancel", ids=live)
            self.wait_for(lambda: not self.live())
        self.stop()

    def live(self) -> list[str]:
        """The id of each job that has not ended."""
        ids = []
        for array in self.say("list", prefix="", everybody=False):
            indexes = [index for index, _ in array["running"]]
            queued = array["waiting"] + array["held"]
            indexes += [index for first, last in queued for index in range(first, last + 1)]
            ids += [f"{array['array']}_{index}" for index in indexes]
        return ids


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has just ended
        return b""


def end(pid: int, number: signal.Signals) -> None:
    pidfd = os.pidfd_open(pid)
    signal.pidfd_send_signal(pidfd, number)
    ended, _, _ = select.select([pidfd], [], [], PATIENCE)
    os.close(pidfd)
    assert ended, "the daemon did not end"
