"""What is installed from a wheel is whole, and owns the general name `modules`."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(place),
        str(ROOT),
    ]
    subprocess.run(command, check=True, timeout=110)
    return next(place.glob("*.whl"))


def test_the_wheel_carries_all_that_the_programs_read(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "cigri/wrapper/checkpoint.sh",
        "cigri/wrapper/job.sh",
        "cigri/wrapper/features.sh",
        "cigri/wrapper/outputs.sh",
        "cigri/wrapper/start.sh",
        "cigri/migrations/env.py",
        "cigri/migrations/schema/grid.sql",
        "cigri/migrations/versions/0075_create_the_schema.py",
        "cigri/etc/admission.d/10-normal-jobs.py",
        "cigri/etc/campaigns/hello.yaml",
        "cigri/etc/scenarios/sample.swf",
        "modules/laboratory/report/style.css",
        "modules/portal/templates/base.html",
        "modules/portal/static/style.css",
        "modules/portal/static/charts.js",
        "modules/portal/static/vendored/htmx.min.js",
        "modules/portal/static/vendored/uPlot.iife.min.js",
        "modules/portal/static/vendored/uPlot.min.css",
        "modules/runner/batch_spec.py",
        "modules/campaign_schedulers/workqueue.py",
    ):
        assert needed in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"cigri", "modules"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, timeout=110)
    return target


def test_an_installed_wheel_owns_the_name_modules(installed: Path, tmp_path: Path) -> None:
    said = (
        "import sys; sys.path.insert(0, sys.argv[1]); from importlib.metadata import packages_distributions as owners; "
        "from cigri.package_files import directory\n"
        "print(sorted(set(owners()['modules'])), directory('migrations'))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", said, str(installed)], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["['cigri']", str(installed / "cigri" / "migrations")]


def test_a_grid_of_an_installed_wheel_comes_up(installed: Path, tmp_path: Path) -> None:
    """From the wheel alone, its database made by `cigri up` and in use until `cigri down`."""
    settings = {"HOME": str(tmp_path), "CIGRI_SET_DATA_DIRECTORY": str(tmp_path / "data")}
    world = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), **settings}

    def cigri(*argv: str) -> str:
        command = [sys.executable, "-P", "-m", "modules.operator", *argv]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=world, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        cigri("up", "--no-almighty")
        assert "complete and nothing else" in cigri("db", "check")
    finally:
        cigri("down")
