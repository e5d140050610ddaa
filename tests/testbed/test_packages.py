"""Packages are installed at once, after whoever else installs on a fresh machine, or it is said what is missing."""

import subprocess
from pathlib import Path

import pytest

PARTS = Path(__file__).parent
APT = """#!/bin/sh
echo "$*" >>{place}/calls
[ "$(wc -l <{place}/calls)" -gt {locked} ] || {{ echo "E: Could not get lock /var/lib/apt/lists/lock" >&2; exit 100; }}
case "$*" in *nonesuch*) echo "E: Unable to locate package nonesuch" >&2; exit 100 ;; esac
[ -x {place}/no-services ] || exit 1
"""

pytestmark = pytest.mark.process


def install(place: Path, package: str, *, locked: int = 0, patience: int = 60) -> subprocess.CompletedProcess[str]:
    """Install a package where apt-get is held up by somebody else so many times; only Debian's own words are played."""
    programs = {
        "apt-get": APT.format(place=place, locked=locked),
        "dpkg-query": "#!/bin/sh\n[ $3 = here ] && echo installed\n",
    }
    for name, text in programs.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    script = f"""
        . {PARTS}/lib.sh; . {PARTS}/packages.sh
        PATH={place}:$PATH NO_SERVICES={place}/no-services
        install_packages {package}"""
    environment = {"CIGRI_TESTBED": str(place), "CIGRI_APT_PATIENCE": str(patience)}
    return subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)


def calls(place: Path) -> list[str]:
    path = place / "calls"
    return [line.partition("Use-Pty=0 ")[2] for line in path.read_text().splitlines()] if path.exists() else []


def test_what_is_there_is_not_installed(tmp_path: Path) -> None:
    assert install(tmp_path, "here").returncode == 0
    assert calls(tmp_path) == []


def test_no_service_is_started(tmp_path: Path) -> None:
    done = install(tmp_path, "busybox")
    assert done.returncode == 0, done.stderr
    assert calls(tmp_path) == ["install -y --no-install-recommends busybox"]
    assert not (tmp_path / "no-services").exists()


def test_it_waits_for_whoever_installs(tmp_path: Path) -> None:
    done = install(tmp_path, "busybox", locked=2)
    assert done.returncode == 0, done.stderr
    assert len(calls(tmp_path)) == 3


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    done = install(tmp_path, "busybox", locked=99, patience=0)
    assert done.returncode == 77
    assert "Could not get lock" in done.stderr
    assert "packages cannot be installed (busybox)" in done.stderr


def test_a_package_that_is_not_known_is_named(tmp_path: Path) -> None:
    done = install(tmp_path, "nonesuch")
    assert done.returncode == 77
    assert "Unable to locate package nonesuch" in done.stderr
    assert [call.split()[0] for call in calls(tmp_path)] == ["install", "update", "install"]
