"""Whether a figure is older than what it measures: git tells."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALL = ("cigri", "modules")
MEASURED: Mapping[str, tuple[str, ...]] = {
    "submission": (
        "cigri/cli/gridsub.py",
        "cigri/cli/submitting.py",
        "cigri/endpoints/request_bodies.py",
        "cigri/jdl",
        "cigri/submission",
        "modules/portal/uploads.py",
        "cigri/flow/submissions.py",
        "migrations",
    ),
    "stat": ("cigri/cli", "cigri/flow/views/campaigns.py", "migrations"),
    "first_task": ALL,
    "cycle": ALL,
    "share": ("modules/metascheduler",),
    "matching": ("cigri/flow", "cigri/requirements", "cigri/resources", "modules/matcher.py"),
    "idle": ALL,
    "service": ALL,
    "page": ("cigri/endpoints", "cigri/flow/views", "modules/portal"),
    "staging": ALL,
    "commands": (
        "cigri/drivers",
        "cigri/gateway/transport_gateway.py",
        "modules/killer",
        "modules/runner",
        "modules/updator",
    ),
    "simulate": ("cigri/cli", "cigri/flow", "modules"),
    "local": ALL,
    "waves": ALL,
    "slurm": ALL,
    "books": ("cigri/drivers", "cigri/flow", "cigri/wrapper", "modules/updator"),
    "grouping": ALL,
    "reality": ALL,
    "chaos": ALL,
    "scheduling": (
        *("cigri/flow", "etc/scenarios", "modules/campaign_schedulers", "modules/laboratory"),
        *("modules/metascheduler", "modules/predictor"),
    ),
}
"""What the rows of each benchmark measure, by the name of its file."""


def present(root: Path = ROOT) -> str:
    """The commit that is checked out; "" when nobody knows."""
    return _git(root, "rev-parse", "--short", "HEAD").stdout.strip()


def at(time: str, root: Path = ROOT) -> str:
    """The commit that was the latest at that time, for rows that do not say on which they were measured."""
    return _git(root, "rev-list", "-1", "--abbrev-commit", f"--before={time} +0000", "HEAD").stdout.strip()


def is_older(subject: str, commit: str, root: Path = ROOT) -> bool:
    """Has what it measures changed since that commit? Of an unknown commit nobody can say that it has not."""
    paths = MEASURED.get(benchmark(subject), ALL)
    return _git(root, "diff", "--quiet", commit or "none", "HEAD", "--", *paths).returncode != 0


def benchmark(subject: str) -> str:
    """The file that measures rows of this subject."""
    return subject.partition(",")[0].replace(" ", "_")


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
