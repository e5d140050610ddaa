"""Hands requests to the daemon: `client.py SPOOL [--pool=NAME=AMOUNT]... [-- COMMAND...] <REQUESTS`.

A request is one line of JSON as `requests` wants it; the words of COMMAND, if any, become the "argv" of the only one.
It prints the daemon's answers, whose last lines are {"end":n}, and exits with 0; after the first that is none with 10
when the daemon refuses, 2 when it is called in a wrong way, 3 when the daemon cannot be spoken to.

Each visit of a local cluster runs this, so it stands alone on what Python loads anyway: without site, not even os.
"""

import posix
import sys
import time

try:
    from _socket import AF_UNIX, SOCK_STREAM, socket
except ImportError:  # it is not promised; what wraps it takes as much time to load as all the rest of this command
    from socket import AF_UNIX, SOCK_STREAM, socket  # type: ignore[assignment]

TYPE_CHECKING = False  # as typing has it, which takes as long to load
if TYPE_CHECKING:
    from subprocess import Popen

REFUSED, NO_DAEMON = 10, 3  # 1 is what Python itself ends with after an error
START_SECONDS = 15.0
ANSWER_SECONDS = 60.0
CLIENT_USAGE = "usage: client.py SPOOL [--pool=NAME=AMOUNT]... [-- COMMAND...], and on standard input lines of JSON\n"


class ClientFailed(Exception):
    """What ends the command, with its exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def main() -> int:
    """Hand over the requests of standard input; gives the exit status that the file's docstring tells."""
    spool, *words = sys.argv[1:] or [""]
    cut = words.index("--") if "--" in words else len(words)
    pools, command = words[:cut], words[cut + 1 :]
    requests = sys.stdin.buffer.read().strip().split(b"\n")
    is_odd = bool(command) and len(requests) > 1
    if not spool.startswith("/") or not all(pool.startswith("--pool=") for pool in pools) or is_odd:
        sys.stderr.write(CLIENT_USAGE)
        return 2
    status = 0
    for request in requests:
        status = status or tell(with_command(request, command) if command else request, spool, pools)
    return status


def with_command(request: bytes, command: list[str]) -> bytes:
    """The request, an object with something in it, with these words."""
    argv = ", ".join(map(quoted, command))
    return b'%s, "argv": [%s]}' % (request.rstrip().removesuffix(b"}"), argv.encode())


def quoted(word: str) -> str:
    """The word as a string of JSON; what json.dumps gives, without loading it for plain words."""
    if word.isascii() and word.isprintable() and '"' not in word and "\\" not in word:
        return f'"{word}"'
    import json  # only for an odd word and for a refusal: it doubles the time that this command takes

    return json.dumps(word)


def tell(request: bytes, spool: str, pools: list[str] | None) -> int:
    """Print the daemon's answer, or what is wrong, and give the exit status."""
    try:
        text = exchange(request, spool, pools)
    except ClientFailed as failure:
        sys.stderr.write(f"local batch system: {failure}\n")
        return failure.status
    sys.stdout.buffer.write(text)
    return 0


def exchange(request: bytes, spool: str, pools: list[str] | None) -> bytes:
    """The daemon's whole answer; one with these pools is started if none is there, unless pools is None."""
    daemon = connect(spool, pools)
    pieces = []
    try:
        daemon.sendall(request + b"\n")
        while piece := daemon.recv(2**20):
            pieces.append(piece)
    except OSError as error:
        raise ClientFailed(NO_DAEMON, f"the daemon does not answer: {error}") from None
    finally:
        daemon.close()
    text = b"".join(pieces)
    check(text)
    return text


def check(text: bytes) -> None:
    """Raise ClientFailed when the answer is a refusal or is cut off."""
    last = text[:-1].rpartition(b"\n")[2] if text.endswith(b"\n") else b""
    if last.startswith(b'{"end":') and last.endswith(b"}") and last[7:-1].isdigit():
        return
    import json

    try:
        end = json.loads(last)
    except ValueError:
        end = None
    if isinstance(end, dict) and "error" in end:
        raise ClientFailed(REFUSED, str(end["error"]))
    raise ClientFailed(NO_DAEMON, "the answer was cut off")


def connect(spool: str, pools: list[str] | None) -> socket:
    """The daemon, started if it is not there."""
    try:
        return try_to_connect(spool)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        if pools is None:
            raise ClientFailed(NO_DAEMON, f"no daemon at {spool}: {error}") from None
    except OSError as error:
        raise ClientFailed(NO_DAEMON, f"{spool}: {error}") from None
    return start(spool, pools)


def try_to_connect(spool: str) -> socket:
    """The name of a socket is short, a path may be long: it goes by way of the open directory."""
    directory = posix.open(spool, posix.O_PATH | posix.O_DIRECTORY)
    daemon = socket(AF_UNIX, SOCK_STREAM)
    daemon.settimeout(ANSWER_SECONDS)
    try:
        daemon.connect(f"/proc/self/fd/{directory}/socket")
    except OSError:
        daemon.close()
        raise
    finally:
        posix.close(directory)
    return daemon


def start(spool: str, pools: list[str]) -> socket:
    """The socket of a daemon that one of all those who wait for it starts."""
    import os

    try:
        os.umask(0o066 if os.geteuid() == 0 else 0o077)  # of root's daemon all accounts come to the socket
        os.makedirs(spool, exist_ok=True)
        starting = os.open(os.path.join(spool, "starting"), os.O_CREAT | os.O_WRONLY, 0o600)
    except OSError as error:
        raise ClientFailed(NO_DAEMON, f"the daemon cannot be started: {error}") from None
    deadline, daemon = time.monotonic() + START_SECONDS, None
    try:
        while True:
            is_ours = daemon is None and take(starting)
            try:
                return try_to_connect(spool)
            except OSError as error:
                if (daemon is not None and daemon.poll()) or time.monotonic() > deadline:
                    log = os.path.join(spool, "log")
                    raise ClientFailed(NO_DAEMON, f"the daemon does not start ({error}); see {log}") from None
            if is_ours:
                daemon = spawn(spool, pools)
            time.sleep(0.01)
    finally:
        os.close(starting)


def take(file: int) -> bool:
    """Whether the file is ours alone, until it is closed or we end."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def spawn(spool: str, pools: list[str]) -> "Popen[bytes]":
    """Start a daemon that is detached from us in every way."""
    import os
    import subprocess

    command = [sys.executable, "-P", "-m", "cigri.localbatch.daemon", "--spool", spool, *pools]
    environment = {name: value for name, value in os.environ.items() if name != "CIGRI_LOCAL_JOB"}
    null = subprocess.DEVNULL
    try:
        with open(os.path.join(spool, "log"), "ab") as file:
            return subprocess.Popen(
                command, env=environment, cwd="/", stdin=null, stdout=file, stderr=file, start_new_session=True
            )
    except OSError as error:
        raise ClientFailed(NO_DAEMON, f"the daemon cannot be started: {error}") from None


def run() -> None:
    """What Python tidies up at its end would take longer than all that was asked."""
    ended = main()
    sys.stdout.flush()
    posix._exit(ended)


if __name__ == "__main__":
    run()
