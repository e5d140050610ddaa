"""Programs of CiGri as real processes that begin with everything imported: a third of a second of CPU less each.

`python -P -m tests.forker` reads requests, a JSON object a line, forks for each, and answers with the exit status.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

IMPORTED = (
    "alembic.autogenerate",
    "alembic.command",
    "cigri.database",
    "cigri.gateway.transport_gateway",
    "cigri.jdl",
    "cigri.database.schema",
    "email.contentmanager",
    "email.policy",
    "encodings.idna",
    "modules.operator.cluster.test",
    "modules.operator.config",
    "modules.operator.doctor",
    "modules.operator.down",
    "modules.operator.run",
    "modules.operator.status",
    "modules.operator.up",
    "modules.campaign_schedulers.workqueue",
    "modules.janitor",
    "modules.killer",
    "modules.metascheduler",
    "modules.predictor.algorithms.simple",
    "modules.runner",
    "modules.updator",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "tests.faults.dying",
)


class Said(NamedTuple):
    """What a program answered; the status is -n after a death by signal n."""

    status: int
    out: str
    err: str


class Forker:
    """Warnings are errors in what it runs, too."""

    def __init__(self) -> None:
        self._process = _start()

    def run(self, program: str, argv: Sequence[str], environment: Mapping[str, str], directory: Path) -> Said:
        """Call `program`, "module:function", with the arguments in a new process, and wait for its end.

        Who is interrupted meanwhile, by a time-out say, leaves nothing of it to the next call.
        """
        with TemporaryDirectory() as name:
            out, err = Path(name) / "out", Path(name) / "err"
            asked = {"program": program, "argv": argv, "environment": dict(environment), "directory": str(directory)}
            try:
                status = self._ask({**asked, "out": str(out), "err": str(err)})
            except BaseException:
                self._kill()
                self._process = _start()
                raise
            return Said(status, out.read_text(), err.read_text())

    def close(self) -> None:
        self._process.communicate()

    def _ask(self, asked: Mapping[str, Any]) -> int:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def _kill(self) -> None:
        """With what it has forked."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def _start() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "error", "-m", __name__],
        cwd=Path(__file__).parents[1],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def serve() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def become(asked: dict[str, Any]) -> None:
    """This process is the program from here on."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["directory"])
        sys.argv[1:] = asked["argv"]
        module, _, function = asked["program"].partition(":")
        status = getattr(importlib.import_module(module), function)(asked["argv"])
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
