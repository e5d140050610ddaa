"""What jobs on real clusters read of their limits in the files of Machine/Job Features."""

import time

import pytest

from tests.grid import Grid

pytestmark = pytest.mark.cluster


def test_a_job_reads_its_cores_and_its_limits(each_kind: Grid) -> None:
    grid = each_kind
    reads = [f'cd "${kind}FEATURES" && grep -H "" * >{grid.place}/{kind}' for kind in ("JOB", "MACHINE")]
    grid.submit(["1"], command="; ".join(reads), resources={"cpu": 2}, walltime=600)
    grid.run_to_end()
    grid.assert_each_ran_once(1)
    job, machine = (
        dict(line.split(":", 1) for line in grid.site.sh(f"cat {grid.place}/{name}").splitlines())
        for name in ("JOB", "MACHINE")
    )
    assert job["allocated_cpu"] == "2"
    assert job["wall_limit_secs"] == "600"
    assert job["cpu_limit_secs"] == "1200"
    assert job["job_id"] == grid.one("SELECT remote_id FROM jobs")
    assert 0 <= time.time() - int(job["jobstart_secs"]) < 120
    assert int(job["scratch_limit_bytes"]) > 0
    assert int(machine["total_cpu"]) > 0
    assert not {key for key, value in (job | machine).items() if value == "0"}
