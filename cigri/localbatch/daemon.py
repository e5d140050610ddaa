"""The batch system of this host.

Run it as `python -P -m cigri.localbatch.daemon --spool DIR --pool cpu=2 --pool mem=24000`.

SIGTERM ends it and leaves the jobs running; the next daemon on the same spool finds them again.
"""

import argparse
import fcntl
import logging
import logging.handlers
import os
import re
import signal
import socket
import sys
import time

from cigri.localbatch import processes
from cigri.localbatch.engine import JobEngine
from cigri.localbatch.loop import BatchDaemon
from cigri.localbatch.pools import ResourcePools, default_pools
from cigri.localbatch.server import SOCKET
from cigri.localbatch.store import JobStore

STARTS, STATE, LOG = "starts", "state.db", "log"
SPOOL_LOCK_SECONDS = 10.0
RESET = (signal.SIGQUIT, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)

logger = logging.getLogger(__name__)


def main() -> int:
    """Serve a spool until SIGTERM; exit status 1 after an error, 0 also where another daemon serves it already."""
    parser = argparse.ArgumentParser(prog="cigri-local-daemon", allow_abbrev=False)
    parser.add_argument("--spool", required=True, help="directory of the socket, the state and the log")
    parser.add_argument("--pool", action="append", default=[], type=pool, metavar="NAME=AMOUNT")
    options = parser.parse_args()
    os.umask(0o066 if os.geteuid() == 0 else 0o077)  # of root's daemon all accounts come to the socket
    os.makedirs(options.spool, exist_ok=True)
    os.umask(0o077)
    os.chdir(options.spool)
    handler = logging.handlers.RotatingFileHandler(LOG, maxBytes=2**20, backupCount=1)
    logging.basicConfig(handlers=[handler], level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return serve(ResourcePools(default_pools() | dict(options.pool)))
    except Exception:
        logger.exception("the daemon ends because of an error")
        return 1


def pool(text: str) -> tuple[str, int]:
    """NAME=AMOUNT, the amount a whole number above 0; for argparse."""
    match = re.fullmatch(r"([a-z][a-z0-9_.-]*)=([1-9][0-9]{0,15})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form cpu=2")
    return match[1], int(match[2])


def serve(pools: ResourcePools) -> int:
    """Take the spool, which is the current directory, find the jobs of an earlier daemon, and answer until SIGTERM."""
    starts = os.open(STARTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not lock(starts):
        logger.info("another daemon serves this spool")
        return 0
    for number in RESET:  # jobs inherit what is ignored, and sh cannot trap it any more
        signal.signal(number, signal.SIG_DFL)
    processes.become_reaper()
    store = JobStore(STATE)
    given = processes.InheritedFiles(starts, os.open(os.devnull, os.O_RDWR), processes.raise_file_limit())
    engine = JobEngine(store, pools, given)
    adopted = engine.restore(processes.boot_id(), read_starts())
    store.commit()
    os.ftruncate(starts, 0)
    logger.info("serving pools %s, %d running jobs found", pools.totals, len(adopted))
    BatchDaemon(engine, store, starts).run(adopted)
    logger.info("ended on request")
    return 0


def lock(starts: int) -> bool:
    """Whether the spool is ours; starts that a killed daemon left under way are waited for."""
    deadline = time.monotonic() + SPOOL_LOCK_SECONDS
    while True:
        try:
            fcntl.flock(starts, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if answers() or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def answers() -> bool:
    """Whether a daemon takes connections on the socket of this spool."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        return client.connect_ex(SOCKET) == 0


def read_starts() -> dict[str, int]:
    """The mark and pid of each start that got as far as a process."""
    with open(STARTS) as file:
        lines = [line.split() for line in file]
    return {words[0]: int(words[1]) for words in lines if len(words) == 2}


if __name__ == "__main__":
    sys.exit(main())
