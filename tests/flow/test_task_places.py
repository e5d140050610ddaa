"""Tasks with inputs of their own may start when these are there; it is looked at for all of them at once."""

from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from cigri.database import Database
from cigri.flow.task_places import put_furnished
from tests.factories import a_campaign, a_cluster

MANY = 2_000
INPUTS = "INSERT INTO task_inputs (campaign_id, number, place, sha256) SELECT {}, n, {}, '{}' || n FROM {}"
PLACES = (
    "INSERT INTO task_places (campaign_id, number, cluster_id, is_furnished, at) SELECT {}, n, {}, false, now() FROM {}"
)
CACHED = (
    "INSERT INTO cached_inputs (cluster_id, local_user, sha256, is_packed, bytes, is_there, at) "
    "SELECT {}, grid_user, '{}' || n, false, 8, {}, now() FROM campaigns, {}"
)


def run(conn: Connection, statement: str, *values: object, tasks: int = MANY) -> None:
    conn.execute(text(statement.format(*values, f"generate_series(0, {tasks} - 1) AS n")))


def furnished(conn: Connection) -> list[int]:
    return [*conn.scalars(text("SELECT number FROM task_places WHERE is_furnished ORDER BY number"))]


@pytest.mark.parametrize("is_there", [True, False])
def test_all_of_its_inputs_have_to_be_whole_and_there(database: Database, is_there: bool) -> None:
    with database.begin() as conn:
        cluster, other = a_cluster(conn), a_cluster(conn, "other")
        campaign = a_campaign(conn, 4)
        run(conn, INPUTS, campaign, 0, "a", tasks=3)
        run(conn, INPUTS, campaign, 1, "b", tasks=3)
        run(conn, PLACES, campaign, cluster, tasks=4)
        run(conn, CACHED, cluster, "a", True, tasks=3)
        run(conn, CACHED, cluster, "b", is_there, tasks=2)
        run(conn, CACHED, other, "b", True, tasks=3)
        assert put_furnished(conn) == (3 if is_there else 1)
        assert furnished(conn) == ([0, 1, 3] if is_there else [3]), "the last one has none"
        assert put_furnished(conn) == 0


def test_many_are_looked_at_together(database: Database) -> None:
    """On tables of which the server knows nothing yet, as those of a grid that was set up a minute ago."""
    said: list[tuple[str, Any]] = []
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, MANY)
        run(conn, INPUTS, campaign, 0, "a")
        run(conn, PLACES, campaign, cluster)
        run(conn, CACHED, cluster, "a", True, tasks=MANY // 2)
        event.listen(conn, "before_cursor_execute", lambda *given: said.append((given[2], given[3])))
        look = conn.begin_nested()
        assert put_furnished(conn) == MANY // 2
        look.rollback()
        statement, parameters = next(each for each in said if each[0].startswith("UPDATE"))
        plan = conn.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters).scalar_one()
    assert plan[0]["Plan"]["Shared Hit Blocks"] < 50 * MANY
