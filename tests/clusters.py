"""The real clusters: each is brought up for its first test, and tests of different ones run side by side."""

import subprocess

import pytest

from tests.grid import TESTBED

NAMES = ("alpha", "beta", "gamma", "delta")


def bring_up(name: str) -> None:
    """Only this one: a test that runs beside may have stopped a daemon of another."""
    done = subprocess.run([str(TESTBED), "up", name], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def alpha_up() -> None:
    bring_up("alpha")


@pytest.fixture(scope="session")
def beta_up() -> None:
    bring_up("beta")


@pytest.fixture(scope="session")
def gamma_up() -> None:
    bring_up("gamma")


@pytest.fixture(scope="session")
def delta_up() -> None:
    bring_up("delta")


def mark_with_cluster(item: pytest.Item) -> None:
    """By the one that it uses, or as one that uses several: those of one cluster run one after the other."""
    asked = {name.removesuffix("_up") for name in getattr(item, "fixturenames", ())}
    chosen = getattr(item, "callspec", None)
    asked |= {value for value in chosen.params.values() if isinstance(value, str)} if chosen else set()
    used = sorted(asked & set(NAMES))
    item.add_marker(used[0] if len(used) == 1 else "several")
