"""Jobs that are over and stand in their batch system's queue again, as after it came back with older state: they die.

What stands there under any other name lives.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest
from sqlalchemy import event

from cigri.drivers import BatchRequest
from cigri.drivers.local import LocalDriver
from cigri.flow.clusters import ClusterRow, find_cluster, put_cluster
from modules import updator
from tests.grid import Grid, until

EVENT = "SELECT message, closed_at FROM events WHERE code = 'JOBS_LISTED_AGAIN'"
OPEN_KILLS = "SELECT count(*) FROM kills WHERE is_open AND reason = 'listed_again'"


def cluster_of(grid: Grid) -> ClusterRow:
    with grid.database.begin() as conn:
        cluster = find_cluster(conn, grid.site.name)
    assert cluster is not None
    return cluster


def lag(grid: Grid, seconds: float) -> None:
    """How long the batch system's word may lag behind."""
    with grid.database.begin() as conn:
        put_cluster(conn, grid.site.name, grid.site.config | {"lost_after": seconds})


def tag_of(grid: Grid, campaign: int) -> str:
    return str(grid.one("SELECT tag FROM batches WHERE campaign_id = :id", id=campaign))


def put_in_queue(grid: Grid, tags: Iterable[str]) -> None:
    """Jobs of these names, of which nobody here has heard."""
    cluster = cluster_of(grid)
    driver = grid.gateway.driver(cluster)
    job = f"cd {grid.place} && printf '#!/bin/sh\\nsleep 300\\n' >job && chmod +x job"
    for tag in tags:
        request = BatchRequest(tag, 1, 600)
        answer = grid.gateway.run(cluster, grid.site.user, f"{job}\n{driver.submit(request)}")
        assert list(driver.parse_submit(answer, request)) == [1]


def queue(grid: Grid) -> list[str]:
    """The names of the jobs in the batch system's queue, of ours and like ours."""
    cluster = cluster_of(grid)
    driver = grid.gateway.driver(cluster)
    answer = grid.gateway.run(cluster, grid.site.user, driver.status("cigri."))
    return sorted(job.tag for job in driver.parse_status(answer, "cigri."))


@pytest.mark.cluster
def test_a_job_that_is_over_and_listed_again_is_killed_and_no_other_one(each_kind: Grid) -> None:
    lag(each_kind, 1.0)
    over = each_kind.submit(["over"])
    each_kind.run_until(lambda: each_kind.counts() == {"done": 1})
    living = each_kind.submit(["living"], command=f"until [ -e {each_kind.place}/go ]; do sleep 0.2; done")
    each_kind.run_until(lambda: sum(each_kind.executions().values()) == 2)
    strangers = [f"cigri.{each_kind.one('SELECT key FROM grid')}.7", "cigri.0ther.7"]
    put_in_queue(each_kind, [tag_of(each_kind, over), *strangers])
    assert tag_of(each_kind, over) in queue(each_kind)
    each_kind.run_until(lambda: queue(each_kind) == sorted([tag_of(each_kind, living), *strangers]))
    each_kind.run_until(lambda: each_kind.one(OPEN_KILLS) == 0)
    (event,) = each_kind.rows(EVENT)
    assert event["message"].startswith("1 jobs that are over (e.g. ")
    assert event["closed_at"] is not None
    each_kind.site.sh(f"touch {each_kind.place}/go")
    each_kind.run_to_end()
    until(lambda: queue(each_kind) == sorted(strangers))
    assert each_kind.counts() == {"done": 2}
    assert each_kind.rows("SELECT DISTINCT outcome::text FROM jobs") == [{"outcome": "success"}]
    each_kind.assert_sane()


@pytest.fixture
def lingering(local: Grid) -> Grid:
    """One job is over by its record and lives on, beside one that is not over."""
    local.submit(["over", "living"], command=f"until [ -e {local.place}/go ]; do sleep 0.1; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 2)
    end(local, local.one("SELECT min(id) FROM jobs"))
    until(lambda: updator.run_once(local.tools) and local.counts() == {"assigned": 1, "done": 1})
    return local


def end(grid: Grid, job_id: int) -> None:
    """Write the record of its task, as its wrapper would at the end."""
    place = "SELECT batch_id || '-' || array_index FROM jobs WHERE id = :id"
    outbox = Path(grid.site.config["directory"]) / grid.one("SELECT key FROM grid") / "outbox"
    task = grid.one("SELECT task_id FROM attempts WHERE job_id = :id", id=job_id)
    record = f"end 1 {job_id} {task} 1 1 0 exit 1700000000000 5 n r .\n"
    (outbox / grid.one(place, id=job_id)).write_text(record)


def age(grid: Grid, seconds: float) -> None:
    """As if those that are over had ended earlier."""
    with grid.database.begin() as conn:
        conn.exec_driver_sql(f"UPDATE jobs SET ended_at = ended_at - interval '{seconds} s'")


def test_others_in_the_queue_cost_a_visit_no_write(lingering: Grid) -> None:
    lag(lingering, 100.0)
    updator.run_once(lingering.tools)
    said = list[str]()
    event.listen(lingering.database.engine, "before_cursor_execute", lambda *words: said.append(words[2]))
    updator.run_once(lingering.tools)
    assert said
    assert not [statement for statement in said if "UPDATE kills" in statement or "UPDATE jobs" in statement]


def test_a_job_that_ended_just_now_may_be_listed_for_a_while(lingering: Grid) -> None:
    lag(lingering, 1000.0)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 0
    age(lingering, 900)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 0
    age(lingering, 200)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 1
    assert updator.run_once(lingering.tools)["jobs listed again"] == 0
    lingering.assert_sane()


def test_where_ends_are_noticed_late_a_job_that_has_its_records_is_left_alone_for_longer(
    lingering: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OAR, which was away when the job ended, would give its node up."""
    monkeypatch.setattr(LocalDriver, "end_delay", 3600.0)
    age(lingering, 3500)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 0
    with lingering.database.begin() as conn:
        conn.exec_driver_sql("UPDATE attempts SET outcome = 'lost' WHERE outcome IS NOT NULL")
    assert updator.run_once(lingering.tools)["jobs listed again"] == 1
    with lingering.database.begin() as conn:
        conn.exec_driver_sql("DELETE FROM kills")
        conn.exec_driver_sql("UPDATE attempts SET outcome = 'failure' WHERE outcome IS NOT NULL")
    assert updator.run_once(lingering.tools)["jobs listed again"] == 0
    age(lingering, 200)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 1


def test_the_account_is_asked_until_they_are_gone_though_it_has_no_other_job(lingering: Grid) -> None:
    age(lingering, 1000)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 1
    (living,) = lingering.rows("SELECT id FROM jobs WHERE state <> 'ended'")
    end(lingering, living["id"])
    until(lambda: updator.run_once(lingering.tools) and lingering.counts() == {"done": 2})
    age(lingering, 1000)
    assert updator.run_once(lingering.tools)["jobs listed again"] == 1
    lingering.run_until(lambda: lingering.one(OPEN_KILLS) == 0)
    assert queue(lingering) == []
    assert [row["closed_at"] is not None for row in lingering.rows(EVENT)] == [True]
    assert lingering.rows("SELECT DISTINCT reason::text FROM kills") == [{"reason": "listed_again"}]
