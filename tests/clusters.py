"""The real clusters: each is brought up for its first test, and is whole before every one that uses it.

Tests of different clusters run side by side.
"""

import subprocess
from collections.abc import Iterator

import pytest

from tests.grid import TESTBED, USED_CLUSTERS

NAMES = ("alpha", "beta", "gamma", "delta")
LAST_TEST = dict.fromkeys(NAMES, "none")
MENDED: list[str] = []
"""What had to be mended between two tests of this run, beside jobs that were still ending."""


def run_testbed(*words: str) -> str:
    """What it prints; a test is left out where this machine has no testbed."""
    done = subprocess.run([str(TESTBED), *words], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def alpha_up() -> None:
    run_testbed("up", "alpha")


@pytest.fixture(scope="session")
def beta_up() -> None:
    run_testbed("up", "beta")


@pytest.fixture(scope="session")
def gamma_up() -> None:
    run_testbed("up", "gamma")


@pytest.fixture(scope="session")
def delta_up() -> None:
    run_testbed("up", "delta")


@pytest.fixture(autouse=True)
def whole_clusters(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test waits for what another one has left: jobs, a drained node, a daemon that was stopped."""
    names = used_clusters(request.node) if request.node.get_closest_marker("cluster") else []
    USED_CLUSTERS.update(names)
    for name in names:
        request.getfixturevalue(f"{name}_up")
        for line in run_testbed("whole", name).splitlines():
            if not line.startswith("job "):
                MENDED.append(f"{name}: {line}, after {LAST_TEST[name]}")
    yield
    USED_CLUSTERS.clear()
    LAST_TEST.update(dict.fromkeys(names, request.node.nodeid))


def used_clusters(item: pytest.Item) -> list[str]:
    asked = {name.removesuffix("_up") for name in getattr(item, "fixturenames", ())}
    chosen = getattr(item, "callspec", None)
    asked |= {value for value in chosen.params.values() if isinstance(value, str)} if chosen else set()
    return sorted(asked & set(NAMES))


def mark_with_cluster(item: pytest.Item) -> None:
    """By the one that it uses, or as one that uses several: those of one cluster run one after the other."""
    used = used_clusters(item)
    item.add_marker(used[0] if len(used) == 1 else "several")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if MENDED:
        terminalreporter.section("clusters that had to be mended")
        terminalreporter.write_line("\n".join(MENDED))
