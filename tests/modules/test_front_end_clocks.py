"""How far the clock of a front-end is off, and who is told."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.clusters import put_clock_skew, put_cluster
from cigri.flow.views.clusters import list_cluster_standings, list_cluster_views
from cigri.flow.views.metrics import find_figures
from cigri.gateway.shell_rendering import parse_clock
from cigri.presentation.cluster_status import told_skew
from cigri.presentation.health_checks import check_clocks
from cigri.shell.results import ShellResult
from modules.updator.cluster_condition import clock_skew
from tests.factories import NOON, a_cluster

NOW = int(NOON.timestamp())


@pytest.mark.parametrize(
    ("clock", "took", "skew"),
    [
        (NOW, 0.0, 0),
        (NOW, 90.0, 0),  # it was read at any time meanwhile
        (NOW + 90, 90.0, 0),
        (NOW + 95, 90.0, 5),
        (NOW - 1, 0.0, 0),  # of which a part of a second may be missing
        (NOW - 2, 0.0, -1),
        (NOW - 3600, 90.0, -3599),
        (NOW + 3600, 0.5, 3599),
    ],
)
def test_a_clock_is_off_by_what_its_reading_cannot_explain(clock: int, took: float, skew: int) -> None:
    assert clock_skew(clock, NOON, NOON + timedelta(seconds=took)) == skew


@pytest.mark.parametrize(
    ("said", "clock"), [("1790000000\n", 1790000000), ("", None), ("no date\n", None), ("9" * 13, None)]
)
def test_a_clock_tells_seconds_or_nothing(said: str, clock: int | None) -> None:
    assert parse_clock(ShellResult(0, said, "")) == clock


@pytest.mark.noon
def test_a_clock_that_is_off_is_told(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "asked", used=1)
        late, early = a_cluster(conn, "late"), a_cluster(conn, "early")
        a_cluster(conn, "local")
        put_clock_skew(conn, 1, 0)
        put_clock_skew(conn, late, -3600)
        put_clock_skew(conn, early, 5)
        assert [one.clock_skew for one in list_cluster_views(conn)] == [0, -3600, 5, None]
        assert {one.cluster: one.clock_skew for one in find_figures(conn).clusters}["late"] == -3600
        found = check_clocks(list_cluster_standings(conn))
    assert found.details == [
        "the clock of the front-end of late is 1 h behind the grid's, at the least: let NTP set it"
    ]
    assert [told_skew(0), told_skew(90)] == ["as the grid's", "1 min 30 s ahead of the grid's, at the least"]


def test_a_cluster_that_is_declared_anew_may_have_another_front_end(database: Database) -> None:
    with database.begin() as conn:
        put_clock_skew(conn, a_cluster(conn), -3600)
        put_cluster(conn, "dahu", {"driver": "local"})
        assert [one.clock_skew for one in list_cluster_views(conn)] == [None]


def test_what_is_known_of_a_clock_is_not_written_again(database: Database) -> None:
    def version() -> str:
        with database.begin() as conn:
            put_clock_skew(conn, cluster, 7)
        with database.begin() as conn:
            return str(conn.scalar(text("SELECT xmin FROM clusters")))

    with database.begin() as conn:
        cluster = a_cluster(conn)
    assert version() == version()
