"""`gridsub --check` of what nobody honest writes: read or refused in words, with little memory and in little time."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cigri.database import Database, embedded
from cigri.flow.clusters import put_cluster
from cigri.settings.cluster_config import parse_config
from tests.forker import Forker
from tests.fuzz.descriptions import EVERY, Written
from tests.fuzz.limited import little_memory

SECONDS = 15
"""Of each kind; together with test_fuzz a minute for two side by side."""
AT_ONCE = 10
ALWAYS = 10
"""Descriptions of each kind, the same ones in each run of the tests."""
LONGEST_ANSWER = 100_000
MEGABYTES = 500
"""More than the test has at its begin; the descriptions take a third of it."""


class Checker:
    """Asks gridsub, as a process with limits (tests.fuzz.limited), on a grid of one cluster."""

    def __init__(self, forker: Forker, place: Path, url: str) -> None:
        self._forker, self._place = forker, place
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(place), "CIGRI_SET_DATABASE__URL": url}

    def check(self, description: Written) -> None:
        """Neither a death nor a traceback, and no more words than somebody could read."""
        path = self._place / f"campaign{description.suffix}"
        path.write_bytes(description.text.encode(errors="surrogatepass"))
        argv = ["cigri.cli.gridsub:main", "--check", str(path)]
        said = self._forker.run("tests.fuzz.limited:main", argv, self._environment, self._place)
        assert said.status in (0, 1), f"{said.status}: {said.err[-2000:]}"
        assert "Traceback" not in said.err, said.err[-2000:]
        assert len(said.out) + len(said.err) < LONGEST_ANSWER

    def check_some(self, what: str, examples: int, *, anew: bool) -> None:
        of_kind = settings(
            max_examples=examples,
            derandomize=not anew,
            database=None,
            phases=[Phase.generate],  # what kills takes its time, and would again and again
            suppress_health_check=list(HealthCheck),
        )
        with little_memory(MEGABYTES):
            of_kind(given(EVERY[what])(self.check))()


@pytest.fixture(scope="module")
def checker(forker: Forker, server: Path) -> Iterator[Checker]:
    """One database for all, for nothing is submitted."""
    name = f"fuzz_{os.getpid()}"
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn, TemporaryDirectory() as place:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE template_cigri STRATEGY FILE_COPY")
        database = Database(embedded.url(server, name))
        with database.begin() as transaction:
            config = parse_config("dahu", {"driver": "local"})
            put_cluster(transaction, "dahu", config.model_dump(mode="json"))
        database.close()
        yield Checker(forker, Path(place), embedded.url(server, name))
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("what", EVERY)
def test_what_nobody_honest_writes_is_read_or_refused(checker: Checker, what: str) -> None:
    checker.check_some(what, ALWAYS, anew=False)


def test_the_place_of_what_is_wrong_is_told_in_short(checker: Checker) -> None:
    described = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": ["$HOME" * 100_000]}
    checker.check(Written(json.dumps(described), ".json"))


@pytest.mark.fuzz
@pytest.mark.timeout(8 * SECONDS)
@pytest.mark.parametrize("what", EVERY)
def test_nothing_that_can_be_written_kills_or_occupies_gridsub(checker: Checker, what: str) -> None:
    rounds, end = 0, monotonic() + SECONDS
    while monotonic() < end:
        checker.check_some(what, AT_ONCE, anew=True)
        rounds += 1
    assert rounds > 0


def test_a_test_that_wants_all_memory_is_told_so() -> None:
    size = 400 * 2**20  # more than earlier tests may have left free in this process

    @given(st.just(size).map(bytearray))
    def wants_all(content: bytearray) -> None:
        assert len(content) == size

    with pytest.raises(AssertionError, match="wants more than 50 MB"), little_memory(50):
        wants_all()
    wants_all()
