"""Runs a command (`true`) N times by HyperQueue and prints the seconds: hyperqueue_run.py N CORES [COMMAND...]

Its server and worker are a process of their own: a worker forks for each task, which takes the longer the larger the
process is, and that of the client holds all tasks.
"""

import os
import subprocess
import sys
import time

from hyperqueue.client import Client
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.job import Job


def main(tasks: int, cores: int, command: list[str]) -> float:
    server = subprocess.Popen(
        [sys.executable, __file__, "serve", str(cores)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        directory = next(line for line in server.stdout if line.startswith("served in ")).split()[-1]
        client = Client(directory)
        started = time.perf_counter()
        job = Job()
        for _ in range(tasks):
            job.program(command, stdout=None, stderr=None)
        client.wait_for_jobs([client.submit(job)])
        return time.perf_counter() - started
    finally:
        server.kill()
        server.wait()


def serve(cores: int) -> None:
    """Until standard input ends. The last line printed names the directory of the server."""
    cluster = LocalCluster()
    cluster.start_worker(WorkerConfig(cores=cores))
    print(f"served in {cluster.cluster.server_dir}", flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads would go on


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        print(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or ["/bin/true"]), flush=True)
