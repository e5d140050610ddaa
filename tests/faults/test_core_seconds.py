"""Core-seconds beside those of the batch systems' own accounting, however late the grid comes to see the ends."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from cigri.flow.accounting import list_accounted
from cigri.flow.grid_identity import grid_key
from tests.grid import Grid, Site, until

pytestmark = pytest.mark.cluster

JOBS, SECONDS = 6, 60
LATE = 20  # seconds after the last end
CLOSE = 0.02
STARTING = {"beta": 2.0, "gamma": 2.0}
"""Seconds that are booked before a job has started on its node and after it has ended there, of the job that waited
least: on a busy machine others wait longer. OAR books what its server takes, too: four seconds, or fifteen."""


class Booked(NamedTuple):
    """A job in the accounting of its cluster; `end` in epoch seconds."""

    cores: int
    seconds: float
    end: float


def _slurm(site: Site, tag: str) -> list[Booked]:
    told = site.sh("SLURM_TIME_FORMAT=%s sacct -X -n -P -S now-1hours -o JobName,AllocCPUS,ElapsedRaw,End")
    rows = [line.split("|") for line in told.splitlines()]
    return [
        Booked(int(cores), int(seconds), float(end))
        for name, cores, seconds, end in rows
        if name.startswith(tag) and end.isdigit()
    ]


def _gridengine(site: Site, tag: str) -> list[Booked]:
    booked = []
    for record in site.sh("qacct -o alice -j 2>/dev/null; true").split("=" * 62)[1:]:
        words = dict(re.findall(r"^(\w+) +(.*?) *$", record, re.MULTILINE))
        if words.get("jobname", "").startswith(tag):
            end = site.sh(f"date -d '{words['end_time']}' +%s")
            booked.append(Booked(int(words["slots"]), float(words["ru_wallclock"].rstrip("s")), float(end)))
    return booked


def _oar(site: Site, tag: str) -> list[Booked]:
    told = json.loads(site.sh(f"oarstat -J -f --sql \"job_name like '{tag}%'\"") or "{}").values()
    return [
        Booked(1, job["stopTime"] - job["startTime"], job["stopTime"]) for job in told if job["state"] == "Terminated"
    ]


BOOKS: Mapping[str, Callable[[Site, str], list[Booked]]] = {"beta": _slurm, "gamma": _gridengine, "delta": _oar}


@pytest.mark.parametrize("name", BOOKS)
def test_what_is_accounted_is_what_the_batch_system_accounts(request: pytest.FixtureRequest, name: str) -> None:
    grid: Grid = request.getfixturevalue(name)
    with grid.database.begin() as conn:
        tag = f"cigri.{grid_key(conn)}."
    grid.submit([str(number) for number in range(JOBS)], command=f"sleep {SECONDS}", temporal_grouping=False)
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == JOBS)

    def has_ended_for_a_while() -> bool:
        booked = BOOKS[name](grid.site, tag)
        return len(booked) == JOBS and float(grid.site.sh("date +%s")) > max(one.end for one in booked) + LATE

    until(has_ended_for_a_while)
    theirs = [one.cores * one.seconds for one in BOOKS[name](grid.site, tag)]
    grid.run_to_end()
    with grid.database.begin() as conn:
        (ours,) = list_accounted(conn, 2)
    assert JOBS * SECONDS <= ours.well <= sum(theirs) * (1 + CLOSE)
    if name in STARTING:
        assert JOBS * (min(theirs) * (1 - CLOSE) - STARTING[name]) <= ours.well
    assert ours.lost == 0
