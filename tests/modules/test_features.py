"""Machine/Job Features from campaign and declaration to the program, and the page that explains them."""

import grp
import os
import re
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.flow.clusters import put_cluster
from cigri.settings.cluster_config import MachineJobFeatures
from tests.grid import Grid
from tests.wrapper.test_features import DAEMON

ROOT = Path(__file__).parents[2]
SHOW = 'for place in "$MACHINEFEATURES" "$JOBFEATURES"; do cd "$place" && grep -H . * >>"$1"; done'


def test_a_program_sees_what_was_asked_for_and_declared(local: Grid) -> None:
    features = {"hs06": 12.5, "grace_secs_job": 90, "scratch_limit_bytes": 5_000_000_000, "jobslots": 3}
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, {**local.site.config, "features": features})
    local.submit([f"{local.place}/seen"], command=SHOW, resources={"cpu": 2, "mem": 1500})
    local.run_to_end()
    seen = dict(line.split(":", 1) for line in Path(local.place, "seen").read_text().splitlines())
    expected = {
        "allocated_cpu": "2",
        "disk_limit_GB": "5.000",
        "grace_secs_job": "90",
        "hs06": "12.5",
        "jobslots": "3",
        "max_rss_bytes": str(1500 * 2**20),
        "mem_limit_MB": "1572",
        "wall_limit_secs": "600",
    }
    assert {key: seen.get(key) for key in expected} == expected
    with local.database.begin() as conn:
        assert seen["job_id"] == conn.scalar(text("SELECT remote_id FROM jobs"))
        assert conn.scalar(text("SELECT promised_notice FROM batches")) == 90


def test_the_group_that_the_operator_names_may_read_what_a_program_sees(local: Grid) -> None:
    group = grp.getgrgid(DAEMON if os.getuid() == 0 else os.getgid()).gr_name
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, {**local.site.config, "features": {"readers": group}})
    local.submit(["x"], command=f'stat -c "%A %G" "$MACHINEFEATURES" "$JOBFEATURES/job_id" >{local.place}/modes')
    local.run_to_end()
    assert Path(local.place, "modes").read_text() == f"drwxr-x--- {group}\n-rw-r----- {group}\n"


@pytest.mark.parametrize("wrong", ["a b", "-R", "$(id)", "x" * 33])
def test_a_group_that_cannot_be_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="readers"):
        MachineJobFeatures(readers=wrong)


def test_a_size_is_the_same_number_of_bytes_everywhere(local: Grid) -> None:
    """Of powers of 1024 where it is asked for, as every batch system counts; of 1000 in the keys that say so."""
    options = {**local.site.config["options"]}
    options["pools"] = {**options["pools"], "tmp": 4000}
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, {**local.site.config, "options": options})
    local.submit([f"{local.place}/seen"], command=SHOW, resources={"mem": "500 MB", "tmp": "2 GB"})
    local.run_to_end()
    seen = dict(line.split(":", 1) for line in Path(local.place, "seen").read_text().splitlines())
    expected = {
        "max_rss_bytes": "524288000",
        "mem_limit_MB": "524",
        "scratch_limit_bytes": "2147483648",
        "disk_limit_GB": "2.147",
    }
    assert {key: seen.get(key) for key in expected} == expected


def test_the_names_of_the_draft_are_there_unless_they_are_switched_off(local: Grid) -> None:
    def names() -> set[str]:
        local.submit([f"{local.place}/seen"], command=SHOW)
        local.run_to_end()
        seen = Path(local.place, "seen")
        found = {line.partition(":")[0] for line in seen.read_text().splitlines()}
        seen.unlink()
        return found

    shown = names()
    assert shown >= {"allocated_cpu", "allocated_CPU", "wall_limit_secs_lrms", "log_cores"}
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, {**local.site.config, "features": {"draft": False}})
    revised = names()
    assert "allocated_cpu" in revised
    drafted = {"allocated_CPU", "disk_limit_GB", "log_cores", "mem_limit_MB", "phys_cores"}
    drafted |= {name for name in shown if name.endswith("_lrms")}
    assert shown - revised == drafted & shown


def test_every_use_case_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "reference" / "machine-job-features.md").read_text()
    cases = re.findall(r"^\| (\d+) \|.*\|(.*)\|$", page, re.M)
    written = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert [int(number) for number, _ in cases] == list(range(1, 13))
    for _, named in cases:
        tests = re.findall(r"`(test_\w+)`", named)
        assert tests
        assert all(f"def {test}(" in written for test in tests), named
