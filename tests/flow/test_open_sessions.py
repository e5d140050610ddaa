"""SSH sessions that modules keep open, as they stand after each pass, and while an almighty lives."""

from contextlib import closing

from cigri.api_models.clusters import ClusterDayReport
from cigri.api_models.metrics import GridMetrics
from cigri.database import Database
from cigri.endpoints.clusters import cluster_day
from cigri.endpoints.dispatch import run_endpoint
from cigri.endpoints.metrics import figures
from cigri.flow.module_passes import HOLD_LIFE, ModulePass, put_pass
from cigri.flow.remote_command_counts import RemoteCommandCosts, list_commands, put_commands, sessions_on
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.factories import a_cluster

BOB = Caller("bob")


def a_pass(database: Database, module: str, sessions: dict[str, int], error: str = "") -> None:
    with database.begin() as conn:
        spent = {"dahu": RemoteCommandCosts(1, 0.5), "luke": RemoteCommandCosts(1, 0.5)}
        put_pass(conn, ModulePass(module, "host", 1, 0.1, {}, error, spent=spent, sessions=sessions))


def open_on(database: Database, cluster: int) -> dict[str, int]:
    with database.begin() as conn:
        return sessions_on(conn, cluster)


def told(database: Database) -> tuple[dict[str, int], list[int]]:
    """By the cluster's answer, and by the grid's figures."""
    day, all_figures = (
        run_endpoint(cluster_day, database, Settings, BOB, {"cluster": "dahu"}),
        run_endpoint(figures, database, Settings, BOB, {}),
    )
    assert isinstance(day, ClusterDayReport)
    assert isinstance(all_figures, GridMetrics)
    return day.sessions, [one.sessions for one in all_figures.commands]


def test_each_pass_says_anew_what_its_module_keeps_open(database: Database) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn), a_cluster(conn, "luke")
    a_pass(database, "updator", {"dahu": 2, "luke": 1, "gone": 4})
    a_pass(database, "runner", {"dahu": 3})
    assert open_on(database, dahu) == {"runner": 3, "updator": 2}
    assert open_on(database, luke) == {"updator": 1}
    a_pass(database, "updator", {"luke": 1})
    assert open_on(database, dahu) == {"runner": 3}
    a_pass(database, "runner", {}, "the process died")
    assert (open_on(database, dahu), open_on(database, luke)) == ({}, {"updator": 1})


def test_none_is_told_of_an_almighty_that_is_gone(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
    a_pass(database, "updator", {"dahu": 2})
    assert told(database) == ({}, [0])
    with closing(database.engine.raw_connection()) as almighty:
        almighty.cursor().execute(HOLD_LIFE)
        assert told(database) == ({"updator": 2}, [2])
        almighty.invalidate()
    assert told(database) == ({}, [0])


def test_commands_keep_what_is_open(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
    a_pass(database, "updator", {"dahu": 2})
    with database.begin() as conn:
        put_commands(conn, "updator", {"dahu": RemoteCommandCosts(1, 0.5)})
        assert [(one.commands, one.sessions) for one in list_commands(conn)] == [(2, 2)]
