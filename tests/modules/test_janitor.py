"""The janitor on a real grid: files go, history stays."""

from pathlib import Path

from modules import janitor
from tests.grid import Grid


def campaign_directories(grid: Grid) -> set[str]:
    base = Path(grid.site.config["directory"]) / str(grid.one("SELECT key FROM grid"))
    return {path.name for path in base.glob("c*")}


def test_an_old_campaign_leaves_the_cluster_and_the_hot_tables(local: Grid) -> None:
    for tasks in (3, 2):
        local.submit([str(number) for number in range(tasks)])
    local.run_to_end()
    assert campaign_directories(local) == {"c1", "c2"}
    assert janitor.run_once(local.tools) == {}
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE campaigns SET ended_at = ended_at - interval '31 days' WHERE id = 1")
    assert janitor.run_once(local.tools) == {"purged campaigns": 1, "archived tasks": 3}
    assert campaign_directories(local) == {"c2"}
    assert local.rows("SELECT campaign_id, count(*) AS n FROM task_history GROUP BY 1") == [{"campaign_id": 1, "n": 3}]
    assert local.rows("SELECT campaign_id, count(*) AS n FROM tasks GROUP BY 1") == [{"campaign_id": 2, "n": 2}]
    assert local.counts() == {"done": 5}
    local.assert_sane()
    assert janitor.run_once(local.tools) == {}


def test_files_that_cannot_be_removed_now_are_removed_later(local: Grid) -> None:
    local.submit(["1"])
    local.run_to_end()
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE campaigns SET ended_at = ended_at - interval '31 days'")
        away = "UPDATE clusters SET failures = {}, blocked_until = {}"
        conn.exec_driver_sql(away.format(1, "now() + interval '1 h'"))
    assert janitor.run_once(local.tools) == {}
    assert campaign_directories(local) == {"c1"}
    with local.database.begin() as conn:
        conn.exec_driver_sql(away.format(0, "NULL"))
    assert janitor.run_once(local.tools) == {"purged campaigns": 1, "archived tasks": 1}
    assert campaign_directories(local) == set()


def test_tables_that_disagree_are_an_event(local: Grid) -> None:
    local.submit(["1"])
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE task_counts SET n = 7")
    assert janitor.run_once(local.tools) == {"broken invariants": 1}
    (event,) = local.rows("SELECT subject, message FROM events WHERE code = 'INVARIANT'")
    assert event["subject"] == "the counts of tasks are those of the tasks"
    assert event["message"].endswith(": 1 times, e.g. 1")
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE task_counts SET n = 1")
    assert janitor.run_once(local.tools) == {}
    assert local.rows("SELECT closed_by FROM events WHERE code = 'INVARIANT'") == [{"closed_by": "janitor"}]
