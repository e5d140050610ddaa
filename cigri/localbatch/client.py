"""The command of the local batch system; run it as `python -I -S client.py VERB --spool DIR ...`.

It stands alone on the standard library. It prints the daemon's answer, whose last line is {"end": n}, and exits with
0; with 10 when the daemon refuses, 2 when it is called in a wrong way, 3 when the daemon cannot be spoken to.
"""

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Callable

REFUSED, NO_DAEMON = 10, 3  # 1 is what Python itself ends with after an error
START_SECONDS = 15.0
ANSWER_SECONDS = 60.0


class Failure(Exception):
    """What ends the command, with its exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def main() -> int:
    options = parse(sys.argv[1:])
    request = REQUESTS[options.verb](options)
    try:
        text = exchange(options, json.dumps({"verb": options.verb, **request}).encode() + b"\n")
        check(text)
    except Failure as failure:
        sys.stderr.write(f"local batch system: {failure}\n")
        return failure.status
    sys.stdout.buffer.write(text)
    return 0


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cigri-local", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    known = {verb: verbs.add_parser(verb, allow_abbrev=False) for verb in REQUESTS}
    for each in known.values():
        each.add_argument("--spool", required=True, type=os.path.abspath, help="directory of the daemon")
        each.add_argument("--pool", action="append", default=[], metavar="NAME=AMOUNT", help="for a daemon to start")
        each.add_argument("--no-start", action="store_true", help="do not start the daemon")
    for name in ("size", "cpu", "nodes", "mem", "walltime", "notice"):
        default = {"size": None, "walltime": None, "cpu": 1, "nodes": 1}.get(name, 0)
        known["submit"].add_argument(f"--{name}", type=int, default=default, required=default is None)
    known["submit"].add_argument("--name", required=True)
    known["submit"].add_argument("--other", action="append", default=[], type=other, metavar="NAME=AMOUNT")
    known["submit"].add_argument("--properties", default="")
    known["submit"].add_argument("argv", nargs="+", metavar="COMMAND")
    for verb in ("submit", "capacity"):
        known[verb].add_argument("--queue", default="")
    known["list"].add_argument("--prefix", default="")
    known["list"].add_argument("--everybody", action="store_true")
    return parser.parse_args(argv)


def other(text: str) -> tuple[str, int]:
    name, _, amount = text.partition("=")
    return name, int(amount)


def submit(options: argparse.Namespace) -> dict[str, object]:
    names = ("name", "size", "cpu", "nodes", "mem", "walltime", "notice", "argv", "queue", "properties")
    return {"others": dict(options.other)} | {name: getattr(options, name) for name in names}


def list_live(options: argparse.Namespace) -> dict[str, object]:
    return {"prefix": options.prefix, "everybody": options.everybody}


def history(options: argparse.Namespace) -> dict[str, object]:
    return {"keys": input_lines()}


def jobs(options: argparse.Namespace) -> dict[str, object]:
    return {"ids": input_lines()}


def capacity(options: argparse.Namespace) -> dict[str, object]:
    return {"queue": options.queue, "properties": ""}


def probe(options: argparse.Namespace) -> dict[str, object]:
    return {}


def input_lines() -> list[str]:
    return [line for line in sys.stdin.read().split("\n") if line]


REQUESTS = {
    "submit": submit,
    "list": list_live,
    "history": history,
    "cancel": jobs,
    "hold": jobs,
    "release": jobs,
    "suspend": jobs,
    "resume": jobs,
    "capacity": capacity,
    "probe": probe,
}


def exchange(options: argparse.Namespace, request: bytes) -> bytes:
    """Everything the daemon answers to one request."""
    with connect(options) as daemon:
        pieces = []
        try:
            daemon.sendall(request)
            while piece := daemon.recv(2**20):
                pieces.append(piece)
        except OSError as error:
            raise Failure(NO_DAEMON, f"the daemon does not answer: {error}") from None
    return b"".join(pieces)


def check(text: bytes) -> None:
    """Raise a Failure when the answer is a refusal or is cut off."""
    last = text[:-1].rpartition(b"\n")[2] if text.endswith(b"\n") else b""
    try:
        end = json.loads(last)
    except ValueError:
        end = None
    if isinstance(end, dict) and "error" in end:
        raise Failure(REFUSED, str(end["error"]))
    if not isinstance(end, dict) or "end" not in end:
        raise Failure(NO_DAEMON, "the answer was cut off")


def connect(options: argparse.Namespace) -> socket.socket:
    """The daemon, started if it is not there."""
    try:
        return try_to_connect(options.spool)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        if options.no_start:
            raise Failure(NO_DAEMON, f"no daemon at {options.spool}: {error}") from None
    except OSError as error:
        raise Failure(NO_DAEMON, f"{options.spool}: {error}") from None
    return start(options)


def try_to_connect(spool: str) -> socket.socket:
    """The name of a socket is short, a path may be long: go there."""
    os.chdir(spool)
    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    daemon.settimeout(ANSWER_SECONDS)
    try:
        daemon.connect("socket")
    except OSError:
        daemon.close()
        raise
    return daemon


def start(options: argparse.Namespace) -> socket.socket:
    """Start the daemon and wait for its socket."""
    log = os.path.join(options.spool, "log")
    try:
        os.makedirs(options.spool, mode=0o755 if os.geteuid() == 0 else 0o700, exist_ok=True)
        poll = launch(options, log)
    except OSError as error:
        raise Failure(NO_DAEMON, f"the daemon cannot be started: {error}") from None
    deadline = time.monotonic() + START_SECONDS
    while True:
        ended = poll()
        try:
            return try_to_connect(options.spool)
        except OSError as error:
            if ended or time.monotonic() > deadline:
                raise Failure(NO_DAEMON, f"the daemon does not start ({error}); see {log}") from None
        time.sleep(0.01)


def launch(options: argparse.Namespace, log: str) -> Callable[[], int | None]:
    """A daemon that is detached from us in every way, and how to ask for its exit status."""
    import subprocess  # only here: it would cost every other call 10 ms

    argv = [sys.executable, "-P", "-m", "cigri.localbatch.daemon", "--spool", options.spool]
    environment = {name: value for name, value in os.environ.items() if name != "CIGRI_LOCAL_JOB"}
    with open(log, "ab") as file:
        return subprocess.Popen(
            [*argv, *(f"--pool={pool}" for pool in options.pool)],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        ).poll


if __name__ == "__main__":
    sys.exit(main())
