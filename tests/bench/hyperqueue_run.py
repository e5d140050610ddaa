"""A process that runs N times `true` by HyperQueue and prints the seconds: hyperqueue_run.py N CORES"""

import os
import sys
import tempfile
import time
from pathlib import Path

from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.job import Job


def main(tasks: int, cores: int) -> float:
    with tempfile.TemporaryDirectory(prefix="cigri-bench-hq-") as directory:
        os.chdir(directory)
        cluster = LocalCluster()
        cluster.start_worker(WorkerConfig(cores=cores))
        client = cluster.client()
        started = time.perf_counter()
        job = Job()
        for _ in range(tasks):
            job.program(["/bin/true"], stdout=None, stderr=None)
        submitted = client.submit(job)
        client.wait_for_jobs([submitted])
        taken = time.perf_counter() - started
        os.chdir(Path(directory).parent)
    return taken


if __name__ == "__main__":
    print(main(int(sys.argv[1]), int(sys.argv[2])), flush=True)
    os._exit(0)  # its server's threads would go on
