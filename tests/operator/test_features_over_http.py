"""A job that reads what it may use, and until when, from the portal: all of it started by `cigri up`."""

import json
import sys
from collections.abc import Callable

import pytest

from tests.operator.conftest import Installation, until
from tests.portal.proxies import free_port

READ = """\
import json, os, sys, time, urllib.error, urllib.request

def read(url):
    try:
        return urllib.request.urlopen(url).read().decode()
    except urllib.error.HTTPError as error:
        return error.code

places = {name: os.environ[name] for name in ("MACHINEFEATURES", "JOBFEATURES")}
seen = {key: read(f"{place}/{key}") for place in places.values() for key in read(place).split()}
directory = os.path.isdir(os.environ["JOBSTATUS"])
while read(f"{places['JOBFEATURES']}/shutdowntime_job") == 404:
    time.sleep(0.05)
told = read(f"{places['JOBFEATURES']}/shutdowntime_job")
with open(sys.argv[1] + ".new", "w") as file:
    json.dump({"places": places, "seen": seen, "directory": directory, "told": told}, file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""


def tune(grid: Installation, features: str) -> None:
    said = grid.run("cluster", "change", "localhost", "--set", f"features={features}")
    assert said.status == 0, said


@pytest.mark.process
def test_a_job_reads_its_features_and_its_shutdown_from_the_portal(
    install: Callable[..., Installation],
) -> None:
    grid, port = install(), free_port()
    grid.environment["CIGRI_SET_PORTAL__ADDRESS"] = f"127.0.0.1:{port}"
    said = grid.run("up")
    assert said.status == 0, said
    tune(grid, f'{{address = "http://127.0.0.1:{port}", hs06 = 12.5, jobslots = 3, grace_secs_job = 0}}')
    (grid.home / "read.py").write_text(READ)
    grid.submit(1, f"{sys.executable} {grid.home}/read.py {grid.home}/read")
    until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1, what="the job runs")
    assert grid.run("cluster", "drain", "localhost", "--by", "+30s").status == 0
    until((grid.home / "read").exists, what="the job has read of its end")
    read = json.loads((grid.home / "read").read_text())
    [(batch, digest)] = grid.query("SELECT id, served_features ->> 'sha256' FROM batches")
    below = f"http://127.0.0.1:{port}/features/{batch}_"
    assert read["places"]["JOBFEATURES"].startswith(below)
    assert read["places"]["JOBFEATURES"].endswith("/1/jobfeatures")
    assert str(digest) not in read["places"]["JOBFEATURES"], "of the secret the database has the hash only"
    expected = {"allocated_cpu": "1\n", "wall_limit_secs": "3600\n", "hs06": "12.5\n", "jobslots": "3\n"}
    assert {key: read["seen"].get(key) for key in expected} == expected
    assert read["seen"]["job_id"] == f"{grid.one('SELECT remote_id FROM jobs')}\n"
    assert read["directory"], "a status is locked while it is written, which no server lets one do"
    assert int(read["told"]) == grid.one("SELECT floor(extract(epoch FROM deadline))::bigint FROM drains")
