"""A cluster of one directory: writes batches with a real shell, and starts jobs as a batch system would."""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.shell.results import RawShellResult, ShellResult
from cigri.shell.words import ShellWord
from cigri.wrapper import BatchSpec, JobSpec, TaskRecord, TaskSpec, parse_end, write_batch
from tests.waiting import PATIENCE, looks

BASE = '"$HOME"/.cigri/grid-1'
PRELUDE = "CIGRI_INDEX=$TEST_INDEX CIGRI_REMOTE_ID=77_$TEST_INDEX CIGRI_NODE=node7"


class Cluster:
    """The shell `argv` interprets everything here."""

    def __init__(self, path: Path, argv: list[str]) -> None:
        self.argv = argv
        self.started: list[subprocess.Popen[bytes]] = []
        self.home, self.tmp = path / "home", path / "tmp"
        self.base = self.home / ".cigri" / "grid-1"
        self.batch = self.base / "c12" / "b34"
        self.outbox = self.base / "outbox"
        self.home.mkdir()
        self.tmp.mkdir()
        self.environment = {**os.environ, "HOME": str(self.home), "CIGRI_SCRATCH_BASE": str(self.tmp)}
        self.prelude = PRELUDE
        self.plan = BatchSpec(
            grid_key="grid-1",
            campaign_id=12,
            campaign_name="it's a campaign",
            batch_id=34,
            cluster="dahu",
            user="ann",
            directory=ShellWord("", at_home=True),
            environment={},
            resources="cpu=1",
            walltime=3661,
            jobs=[],
        )

    def ask(self, script: str) -> ShellResult:
        """Run sh text in the home, as a transport does."""
        return self.fetch(script).as_text

    def fetch(self, script: str, sent: bytes = b"") -> RawShellResult:
        command = [*self.argv, "-c", '. "$0"', self._script(script)]
        done = subprocess.run(command, cwd=self.home, env=self.environment, input=sent, capture_output=True, timeout=60)
        return RawShellResult(done.returncode, done.stdout, done.stderr)

    def script(self, plan: BatchSpec) -> str:
        return write_batch(plan, BASE, self.prelude)

    def write(self, *commands: str, plan: BatchSpec | None = None) -> None:
        """Write the batch: job i runs the i-th sh command, unless a plan with jobs is given."""
        calls = [call(index, "sh", "-c", command) for index, command in enumerate(commands, 1)]
        answer = self.ask(self.script(plan or replace(self.plan, jobs=calls)))
        assert answer == ShellResult(0, "", "")

    def start(
        self, index: int = 1, environment: Mapping[str, str] = {}, program: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a job in a session of its own; `program` is another copy of it than the batch's."""
        job = subprocess.Popen(
            [*self.argv, str(program or self.batch / "job"), str(self.batch)],
            cwd="/",
            env={**self.environment, "TEST_INDEX": str(index), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_hear_all,
        )
        self.started.append(job)
        return job

    def clear(self) -> None:
        """A test that fails leaves no job behind."""
        for job in self.started:
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)

    def run(self, index: int = 1, environment: Mapping[str, str] = {}, program: Path | None = None) -> ShellResult:
        """Run a job to its end."""
        job = self.start(index, environment, program)
        out, err = job.communicate(timeout=60)
        return ShellResult(job.returncode, out.decode(), err.decode())

    def journal(self, index: int = 1) -> list[str]:
        return (self.batch / f"journal.{index}").read_text().splitlines()

    def records(self, index: int = 1) -> list[TaskRecord]:
        """The ends in the journal, which must be the same as in the outbox."""
        records = [record for line in self.journal(index) if (record := parse_end(line))]
        posted = (self.outbox / f"{self.plan.batch_id}-{index}").read_text().splitlines() if records else []
        assert sorted(record for record in map(parse_end, posted) if record) == sorted(records)
        return records

    def ends(self, index: int = 1) -> list[tuple[int, str]]:
        """Exit code and cause of each task."""
        return [(record.exit_code, record.cause.value) for record in self.records(index)]

    def out(self, index: int = 1, position: int = 1) -> str:
        return (self.batch / f"{index}.{position}.out").read_text()

    def err(self, index: int = 1, position: int = 1) -> str:
        return (self.batch / f"{index}.{position}.err").read_text()

    def program(self, name: str, text: str) -> dict[str, str]:
        """An environment in which `name` is this sh text."""
        directory = self.home / "bin"
        directory.mkdir(exist_ok=True)
        (directory / name).write_text(f"#!/bin/sh\n{text}\n")
        (directory / name).chmod(0o755)
        return {"PATH": f"{directory}:{os.environ['PATH']}"}

    def _script(self, text: str) -> str:
        path = self.home / "script.sh"
        path.write_text(text)
        return str(path)


def task(number: int, *argv: str) -> TaskSpec:
    return TaskSpec(1000 + number, number, 1, tuple(ShellWord(text) for text in argv))


def call(index: int, *argv: str) -> JobSpec:
    return JobSpec(index, 900 + index, (task(index, *argv),))


def until(fact: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for a fact."""
    for _ in looks(seconds, 0.05):
        if fact():
            return


@contextmanager
def small_disk(place: Path, kilobytes: int = 64) -> Iterator[Path]:
    """A filesystem of this size."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def _hear_all() -> None:
    """What is ignored at the start of a shell cannot be trapped, and these tests may run in the background."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def quoted(text: object) -> str:
    return shlex.quote(str(text))
