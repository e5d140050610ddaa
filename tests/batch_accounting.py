"""What the batch systems of the testbed account of jobs, read without the grid: core-seconds to compare ours with."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.grid import Site

CLOSE = 0.02  # how far, of the whole, ours may be off
RUNNING = r"""
oar_port=$(sed -n 's/^DB_PORT="\(.*\)"$/\1/p' /etc/oar/oar.conf)
psql -X -h 127.0.8.4 -p "$oar_port" -U postgres -d oar -qAt -c "
    SELECT job_id || ' ' || sum(date_stop - date_start) FROM job_state_logs JOIN jobs USING (job_id)
    WHERE job_state = 'Running' AND job_name LIKE '$1%' GROUP BY job_id"
"""


class Booked(NamedTuple):
    """A job in the accounting of its cluster; `end` in epoch seconds.

    `running` are the seconds between its start on its node and its end there, where the batch system tells them apart.
    """

    cores: int
    seconds: float
    end: float
    running: float


def booked_core_seconds(jobs: Sequence[Booked]) -> float:
    """As the batch system accounts them."""
    return sum(job.cores * job.seconds for job in jobs)


def running_core_seconds(jobs: Sequence[Booked]) -> float:
    """Without what the batch system itself took to launch them."""
    return sum(job.cores * job.running for job in jobs)


def _slurm(site: Site, tag: str) -> list[Booked]:
    told = site.sh("SLURM_TIME_FORMAT=%s sacct -X -n -P -S now-1hours -o JobName,AllocCPUS,ElapsedRaw,End")
    rows = [line.split("|") for line in told.splitlines()]
    return [
        Booked(int(cores), int(seconds), float(end), int(seconds))
        for name, cores, seconds, end in rows
        if name.startswith(tag) and end.isdigit()
    ]


def _gridengine(site: Site, tag: str) -> list[Booked]:
    booked = []
    for record in site.sh("qacct -o alice -j 2>/dev/null; true").split("=" * 62)[1:]:
        words = dict(re.findall(r"^(\w+) +(.*?) *$", record, re.MULTILINE))
        if words.get("jobname", "").startswith(tag):
            end = site.sh(f"date -d '{words['end_time']}' +%s")
            seconds = float(words["ru_wallclock"].rstrip("s"))
            booked.append(Booked(int(words["slots"]), seconds, float(end), seconds))
    return booked


def _oar(site: Site, tag: str) -> list[Booked]:
    """`oarstat` tells what OAR accounts, from the planned start on; when it ran its log of states alone does."""
    told = json.loads(site.sh(f"oarstat -J -f --sql \"job_name like '{tag}%'\"") or "{}")
    logged = site.sh(f"set -- '{tag}'\n{RUNNING}", user="root").split()
    running = dict(zip(logged[::2], map(float, logged[1::2]), strict=True))
    return [
        Booked(len(job["assigned_resources"]), job["stopTime"] - job["startTime"], job["stopTime"], running[id])
        for id, job in told.items()
        if job["state"] == "Terminated"
    ]


BOOKS: Mapping[str, Callable[[Site, str], list[Booked]]] = {"beta": _slurm, "gamma": _gridengine, "delta": _oar}
"""By cluster: its jobs whose names begin with a tag, and that have ended."""
