"""Other programs that run many commands on this host, measured in the same way: from the hand-over to the last end."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SLOTS = os.cpu_count() or 1
HYPERQUEUE = Path(__file__).with_name("hyperqueue_run.py")


def time_hyperqueue(tasks: int) -> float:
    """Seconds for so many `true`, its server and worker being up."""
    command = [sys.executable, str(HYPERQUEUE), str(tasks), str(SLOTS)]
    with tempfile.TemporaryDirectory(prefix="cigri-bench-hq-") as place:  # it leaves its files
        environment = {**os.environ, "TMPDIR": place}
        done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"hyperqueue: {done.stderr}")
    return float(done.stdout.split()[-1])


def has_parallel() -> bool:
    return shutil.which("parallel") is not None


def time_parallel(tasks: int) -> float:
    """Seconds for so many `true`, with the log by which it can be resumed."""
    numbers = "".join(f"{number}\n" for number in range(tasks))
    command = ["parallel", "--will-cite", f"-j{SLOTS}", "--joblog", "/dev/null", "/bin/true"]
    started = time.perf_counter()
    subprocess.run(command, input=numbers, text=True, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
