"""How Grid Engine's commands are found, as open-lmake's bin, root, cell and cluster say it."""

import subprocess
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, load

SETTINGS = """
SGE_ROOT=/opt/sge; export SGE_ROOT
SGE_CELL=east; export SGE_CELL
SGE_CLUSTER_NAME=p6444; export SGE_CLUSTER_NAME
PATH={bin}:$PATH; export PATH
"""
TELL = """#!/bin/sh
echo "$SGE_ROOT,$SGE_CELL,$SGE_CLUSTER_NAME" >>{told}
"""


def told(place: Path, script: str, environment: dict[str, str]) -> str:
    """What the first command of Grid Engine in a script sees of its environment."""
    bin_ = place / "bin"
    bin_.mkdir()
    (place / "settings.sh").write_text(SETTINGS.format(bin=bin_))
    for command in ("qsub", "qstat", "qdel", "qhost"):
        (bin_ / command).write_text(TELL.format(told=place / "told"))
        (bin_ / command).chmod(0o755)
    script = script.replace("/usr/lib/gridengine", "/nowhere")
    subprocess.run(["sh"], input=script, text=True, env={"PATH": "/usr/bin:/bin"} | environment, check=False)
    return (place / "told").read_text().splitlines()[0]


@pytest.mark.process
@pytest.mark.parametrize("verb", ["submit", "status", "cancel", "capacity"])
def test_root_cell_and_cluster_become_variables_for_commands_that_are_found_in_bin(verb: str, tmp_path: Path) -> None:
    driver = load("gridengine", {"settings": str(tmp_path / "settings.sh")})
    scripts = {
        "submit": driver.submit(BatchRequest("cigri-1", 1, 60)),
        "status": driver.status("cigri"),
        "cancel": driver.cancel(["1.1"]),
        "capacity": driver.capacity(""),
    }
    assert told(tmp_path, scripts[verb], {}) == "/opt/sge,east,p6444"


@pytest.mark.process
def test_nothing_needs_to_be_said_of_root_cell_and_cluster(tmp_path: Path) -> None:
    """Without settings the commands see what the login has set, or nothing, and know it themselves."""
    script = load("gridengine", {}).submit(BatchRequest("cigri-1", 1, 60))
    path = f"{tmp_path}/bin:/usr/bin:/bin"
    assert told(tmp_path, script, {"PATH": path, "SGE_CELL": "west"}) == ",west,"
