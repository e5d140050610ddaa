"""The log: what goes wrong in the same way is written now and then, what is quiet writes nothing."""

import io
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.errors import ConfigError
from cigri.runtime.logging_setup import MOST_KNOWN, RepeatFilter
from cigri.runtime.pass_context import is_noteworthy
from cigri.settings.loading import load
from tests.grid import Grid, until

ROOT = Path(__file__).parents[1]


class Log:
    """What gets through, by a clock of the test's."""

    def __init__(self, period: float = 60.0) -> None:
        self.now, self._written = 1000.0, io.StringIO()
        self.only = RepeatFilter(period, lambda: self.now)
        handler = logging.StreamHandler(self._written)
        handler.addFilter(self.only)
        self.logger = logging.Logger("test")
        self.logger.addHandler(handler)

    @property
    def lines(self) -> list[str]:
        return self._written.getvalue().splitlines()


def test_the_same_failure_is_written_once_a_minute_with_their_number() -> None:
    log = Log()
    for second in range(0, 120, 2):
        log.now = 1000.0 + second
        log.logger.error("%s failed: process %d died", "predictor", second)
    assert log.lines == [
        "predictor failed: process 0 died",
        "predictor failed: process 60 died",
        "(29 times more in the last 60 s)",
    ]


def test_what_differs_is_written_and_so_is_what_is_no_failure() -> None:
    log = Log()
    for _ in range(2):
        log.logger.warning("ann is away")
        log.logger.warning("bob is away")
        log.logger.error("ann is away")
        log.logger.info("3 ended jobs")
    assert log.lines == ["ann is away", "bob is away", "ann is away", "3 ended jobs", "3 ended jobs"]


def test_with_a_period_of_nothing_all_is_written() -> None:
    log = Log(0.0)
    log.logger.error("no")
    log.logger.error("no")
    assert log.lines == ["no", "no"]


def test_no_more_is_remembered_than_need_be() -> None:
    log = Log()
    for number in range(3 * MOST_KNOWN):
        log.now += 1.0
        log.logger.error("%s", "x" * number)
    assert len(log.only._written) <= MOST_KNOWN
    assert len(log.lines) == 3 * MOST_KNOWN


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"log\.level"):
        load({"CIGRI_SET_LOG__LEVEL": "loud"})


def test_news_is_what_does_not_happen_in_each_pass() -> None:
    assert not is_noteworthy({"clusters": 3, "forecasts": 7, "offers": 2})
    assert is_noteworthy({"clusters": 3, "ended jobs": 1})
    assert not is_noteworthy({"ended jobs": 0})


@contextmanager
def almighty(grid: Grid, place: Path, **settings: object) -> Iterator[Callable[[], list[str]]]:
    """One that cycles fast; gives what it has written."""
    values = {"DATABASE__URL": grid.database.url.replace("+psycopg", ""), "ALMIGHTY__PERIOD": "0.1", **settings}
    environment = os.environ | {f"CIGRI_SET_{name}": str(value) for name, value in values.items()}
    with (place / "log").open("wb") as log:
        command = [sys.executable, "-P", "-m", "tests.faults.almighty"]
        process = subprocess.Popen(
            command, env=environment | {"PYTHONPATH": str(ROOT)}, stderr=log, start_new_session=True, cwd=ROOT
        )
        try:
            yield lambda: (place / "log").read_text().splitlines()
        finally:
            process.terminate()
            process.wait(60)


def passes(grid: Grid, name: str) -> int:
    return int(grid.one("SELECT coalesce(max(passes + failures), 0) FROM modules WHERE name = :name", name=name))


def test_passes_without_news_write_nothing(local: Grid, tmp_path: Path) -> None:
    local.submit(["1"], command="sleep 1000")
    local.run_until(lambda: local.executions())
    with almighty(local, tmp_path) as written:
        until(lambda: passes(local, "killer") >= 1)
        before = written()
        began = passes(local, "predictor")
        until(lambda: passes(local, "predictor") >= began + 20)
        assert written() == before
        assert "The almighty cycles every 0.1 s" in before[0]
        assert not [line for line in before if "forecasts" in line]
    local.kill_all_jobs()
    local.run_to_end()


def test_a_module_that_fails_in_each_pass_writes_once(local: Grid, tmp_path: Path) -> None:
    with local.database.begin() as conn:
        conn.execute(text("ALTER TABLE campaigns RENAME TO hidden"))
    with almighty(local, tmp_path) as written:
        until(lambda: passes(local, "predictor") >= 10)
        assert len([line for line in written() if "predictor failed" in line]) == 1


def test_less_is_written_at_a_higher_level(local: Grid, tmp_path: Path) -> None:
    with almighty(local, tmp_path, LOG__LEVEL="warning") as written:
        local.submit(["1"])
        until(lambda: local.counts() == {"done": 1})
        assert written() == []
