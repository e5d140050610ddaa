"""The real modules in virtual time: campaigns end as they would, each task is done once, and each run is the same."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.views.invariants import examine
from modules.laboratory.evaluation.run_recorder import RunRecorder
from modules.laboratory.scenario import Scenario
from modules.laboratory.simulated_grid import WORLD_START, SimulatedGrid

SMALL: dict[str, Any] = {
    "name": "small",
    "length": 7200,
    "cycle": 60,
    "clusters": [{"name": "ann", "nodes": 2, "cores_per_node": 4}],
    "campaigns": [{"tasks": 20, "seconds": {"mean": 100, "cv": 0.2}}],
}
BUSY = {"kind": "bursty", "share": 0.9, "lasts": 200, "every": 1200, "utilisation": 0.1, "widths": [1, 4]}


def world(database: VirtualTimeDatabase, **changes: object) -> SimulatedGrid:
    return SimulatedGrid(Scenario.model_validate(SMALL | changes), database, Path("/"))


def counts(database: VirtualTimeDatabase) -> dict[str, int]:
    with database.begin() as conn:
        assert examine(conn) == []
        statement = "SELECT state::text, sum(n)::int FROM task_counts GROUP BY state HAVING sum(n) <> 0"
        return {row[0]: row[1] for row in conn.execute(text(statement))}


def history(database: VirtualTimeDatabase) -> list[Any]:
    """Every attempt: of which task, where, when and how it ended."""
    statement = (
        "SELECT c.name, t.number, a.number, a.outcome::text, a.started_at, a.seconds FROM attempts a"
        " JOIN tasks t ON t.id = a.task_id JOIN jobs j ON j.id = a.job_id JOIN clusters c ON c.id = j.cluster_id"
        " ORDER BY t.id, a.number"
    )
    with database.begin() as conn:
        return [tuple(row) for row in conn.execute(text(statement))]


def test_a_campaign_ends_when_its_tasks_are_done(database: VirtualTimeDatabase) -> None:
    run = world(database)
    run.run()
    assert counts(database) == {"done": 20}
    assert {row[3] for row in history(database)} == {"success"}
    with database.begin() as conn:
        ended = conn.execute(text("SELECT ended_at FROM campaigns")).scalar_one()
    shortest = 20 * 100 / 8  # all eight cores, always
    assert shortest < (ended - WORLD_START).total_seconds() < 3 * shortest
    homes = run.sites["ann"]._homes.values()
    assert sum(len(home.journals) for home in homes) < 20  # what is stored is forgotten
    assert sum(len(jobs) for home in homes for jobs in home.batches.values()) < 20
    assert run.sites["ann"].system.meters.useful == pytest.approx(sum(row[5] for row in history(database)), rel=0.001)


def test_what_only_real_batch_systems_have_words_for_is_no_obstacle(database: VirtualTimeDatabase) -> None:
    settings = {"cluster_job_type": "deploy", "backend": ["--mail-type=END"]}
    world(database, campaigns=[{"tasks": 20, "seconds": {"mean": 100}, "settings": settings}]).run()
    assert counts(database) == {"done": 20}


def test_who_submits_wakes_the_almighty(database: VirtualTimeDatabase) -> None:
    """Nothing else changes its hours."""
    campaigns = [{"tasks": 3, "seconds": {"mean": 500}}, {"tasks": 1, "seconds": {"mean": 200}, "at": 130}]
    cycles: list[int] = []
    run = world(database, campaigns=campaigns)
    run.run(lambda world: cycles.append(round(world.now / 10) * 10))
    assert cycles[:5] == [0, 60, 120, 130, 180]
    with database.begin() as conn:
        first = "SELECT min(submitted_at) FROM jobs WHERE campaign_id = (SELECT max(id) FROM campaigns)"
        assert 130 <= (conn.execute(text(first)).scalar_one() - WORLD_START).total_seconds() < 140


def test_cores_of_ours_never_seem_to_be_of_others(database: VirtualTimeDatabase) -> None:
    """Jobs that a visit finds begun, or ended, are reckoned with at once."""
    users = [{"tasks": 40, "seconds": {"mean": 100, "cv": 0.5}, "user": name} for name in ("alice", "bob")]
    world(database, campaigns=users).run()
    with database.begin() as conn:
        usage = conn.execute(text("SELECT used, used_by_us FROM cluster_usage")).all()
        assert {used - ours for used, ours in usage} == {0}
        assert max(used for used, _ in usage) == 8
        assert tuple(conn.execute(text("SELECT used, used_by_us FROM cluster_states")).one()) == (0, 0)


def test_cores_of_jobs_that_are_gone_are_not_ours_from_the_first_visit_on(database: VirtualTimeDatabase) -> None:
    """Nobody knows yet how they ended; at many of these visits nothing else has begun or ended."""
    load = {"kind": "constant", "utilisation": 0.5, "durations": [300], "widths": [1]}
    clusters = [{"name": "ann", "nodes": 2, "cores_per_node": 4, "load": load, "faults": {"vanishing": 0.5}}]
    run = world(database, clusters=clusters, campaigns=[{"tasks": 6, "seconds": {"mean": 900}}])
    statement = (
        "SELECT used_by_us, used, coalesce(sum(width) FILTER (WHERE missing_since IS NULL), 0),"
        " coalesce(sum(width), 0) FROM cluster_states LEFT JOIN jobs ON jobs.state = 'running' GROUP BY 1, 2"
    )
    seen: list[tuple[int, int, int, int]] = []

    def look(world: SimulatedGrid) -> None:
        with database.begin() as conn:
            seen.extend((row[0], row[1], row[2], row[3]) for row in conn.execute(text(statement)))

    run.run(look)
    assert [ours for ours, *_ in seen] == [min(used, listed) for _, used, listed, _ in seen]
    others_came = [min(used, listed) < min(used, known) for _, used, listed, known in seen]
    assert any(others_came[number : number + 2] == [True, True] for number in range(len(seen)))


def test_what_local_jobs_cost_is_done_again(database: VirtualTimeDatabase) -> None:
    clusters = [{"name": "ann", "nodes": 2, "cores_per_node": 4, "load": BUSY}]
    campaigns = [
        {"tasks": 40, "seconds": {"mean": 120}, "failing": 0.1},
        {"tasks": 3, "seconds": {"mean": 50}, "at": 900},
    ]
    run = world(database, clusters=clusters, campaigns=campaigns)
    run.run()
    assert run.cycles < 60  # nobody mends what failed: there is no use in going on
    found = counts(database)
    assert sum(found.values()) == 43
    assert found.keys() == {"done", "failed"}
    outcomes = [row[3] for row in history(database)]
    assert "preempted" in outcomes
    assert outcomes.count("success") == found["done"]


@pytest.mark.parametrize(
    "faults",
    [
        {"vanishing": 0.2},
        {"said_unknown": 0.3},
        {"said_waiting": 0.3},
        {"unanswered": 0.5},
        {"outages": [{"since": 100, "until": 400}, {"since": 700, "until": 1000}]},
        {"mean_time_between_crashes": 500.0, "repair_time": 200.0},
    ],
    ids=lambda faults: next(iter(faults)),
)
def test_clusters_that_fail_lose_and_lie_cost_no_task(database: VirtualTimeDatabase, faults: dict[str, Any]) -> None:
    clusters = [{"name": "ann", "nodes": 2, "cores_per_node": 4, "faults": faults}]
    world(database, clusters=clusters, length=20_000).run()
    assert counts(database) == {"done": 20}
    outcomes = [row[3] for row in history(database)]
    assert outcomes.count("success") == 20


def test_the_same_seed_is_the_same_history(server: Path, database: VirtualTimeDatabase, empty_url: str) -> None:
    from cigri.database import schema

    faults = {"vanishing": 0.1, "mean_time_between_crashes": 2000.0}
    clusters = [{"name": "ann", "nodes": 2, "cores_per_node": 4, "count": 2, "load": BUSY, "faults": faults}]
    other = VirtualTimeDatabase(empty_url)
    other.make_clock()
    schema.upgrade(other)
    for place in (database, other):
        world(place, clusters=clusters).run()
    assert history(database) == history(other)
    other.close()


def test_a_campaign_that_ran_before_is_known_and_no_figure_counts_the_first_time(database: VirtualTimeDatabase) -> None:
    """Each task's duration, whichever cluster it ran on then; the longest on the fast cluster."""
    clusters = [
        {"name": "ann", "nodes": 1, "cores_per_node": 4},
        {"name": "bob", "nodes": 1, "cores_per_node": 4, "speed": 4},
    ]
    run = world(
        database, clusters=clusters, campaigns=[{"tasks": 60, "seconds": {"mean": 100, "cv": 1}, "known": True}]
    )
    notebook = RunRecorder(database)
    run.run(notebook.note)
    assert counts(database) == {"done": 120}
    [campaign] = run.campaigns
    with database.begin() as conn:
        statement = "SELECT expected FROM tasks WHERE campaign_id = :id ORDER BY number"
        expected = conn.scalars(text(statement), {"id": campaign}).all()
        ran = "SELECT t.number, j.cluster_id, a.seconds FROM attempts a JOIN jobs j ON j.id = a.job_id"
        found = conn.execute(text(f"{ran} JOIN tasks t ON t.id = a.task_id WHERE t.campaign_id = {campaign}")).all()
        speeds = "SELECT speed FROM campaign_clusters WHERE campaign_id = :id ORDER BY cluster_id"
        slow, fast = conn.scalars(text(speeds), {"id": campaign}).all()
    assert 2 < fast / slow < 8
    shares = [known / task.seconds for known, task in zip(expected, run.tasks(campaign), strict=True)]
    assert max(shares) < 2 * min(shares)  # the means of 10 to 50 tasks tell of a speed that is 4 times as high
    longest = max(range(60), key=lambda number: run.tasks(campaign)[number].seconds)
    assert {cluster for number, cluster, _ in found if number == longest} == {2}
    results = notebook.results(run, "")
    [alone] = results.campaigns
    assert results.users[0].tasks == 60
    assert results.makespan == alone.makespan
    assert (alone.stretch or 9) < 2


def test_an_attempt_that_has_lost_is_settled_at_the_next_visit(database: VirtualTimeDatabase) -> None:
    """Tasks of 60 s that take 1200 s on one of the clusters, where the last ones are killed."""
    clusters = [
        {"name": "ann", "nodes": 1, "cores_per_node": 4},
        {"name": "bob", "nodes": 1, "cores_per_node": 4, "speed": 0.05},
    ]
    settings = {"replicate": {"budget": 1.0}}
    world(database, clusters=clusters, campaigns=[{"tasks": 20, "seconds": {"mean": 60}, "settings": settings}]).run()
    assert counts(database) == {"done": 20}
    statement = (
        "SELECT extract(epoch FROM lost.ended_at - won.ended_at)::float"
        " FROM attempts l JOIN jobs lost ON lost.id = l.job_id"
        " JOIN attempts w ON w.task_id = l.task_id AND w.outcome = 'success' JOIN jobs won ON won.id = w.job_id"
        " WHERE l.outcome = 'superseded'"
    )
    with database.begin() as conn:
        waited = conn.scalars(text(statement)).all()
    assert waited
    assert set(waited) == {60.0}


def test_a_node_that_swallows_tasks_is_left_out_and_all_are_done_in_the_end(database: VirtualTimeDatabase) -> None:
    sick = {"black_holes": [{"node": 1, "since": 0, "until": 1e9}]}
    clusters = [{"name": "ann", "nodes": 5, "cores_per_node": 4, "faults": sick}]
    run = world(database, clusters=clusters, campaigns=[{"tasks": 100, "seconds": {"mean": 150, "cv": 0.2}}])
    run.run()
    assert counts(database) == {"done": 100}
    outcomes = [row[3] for row in history(database)]
    assert outcomes.count("success") == 100
    assert outcomes.count("doubtful") >= 10
    done = sum(row[5] for row in history(database) if row[3] == "success")
    assert done > 100 * 110  # none of them was swallowed
    with database.begin() as conn:
        assert conn.scalars(text("SELECT node FROM excluded_nodes")).all() == ["node-2"]


def test_a_cluster_that_swallows_tasks_is_set_aside_and_the_other_does_them(database: VirtualTimeDatabase) -> None:
    holes = [{"node": node, "since": 0, "until": 1e9} for node in range(2)]
    clusters = [
        {"name": "ann", "nodes": 2, "cores_per_node": 4, "faults": {"black_holes": holes}},
        {"name": "bob", "nodes": 4, "cores_per_node": 4},
    ]
    run = world(database, clusters=clusters, campaigns=[{"tasks": 100, "seconds": {"mean": 150, "cv": 0.2}}])
    run.run()
    assert counts(database) == {"done": 100}
    good = [row for row in history(database) if row[3] == "success"]
    assert {row[0] for row in good} == {"bob"}


def test_a_front_end_that_slows_down_is_asked_for_less(database: VirtualTimeDatabase) -> None:
    """Each waiting job makes its answers a fifth of a second longer."""
    wished = {"keep_waiting": 200, "max_waiting": 200, "n_max_queued_jobs": 200}
    clusters = [{"name": "ann", "nodes": 2, "cores_per_node": 4, "config": wished, "faults": {"slowness": 0.2}}]
    campaigns = [{"tasks": 600, "seconds": {"mean": 60}}]
    settings = {
        "forecast": {"algorithm": "simple"},  # which keeps as many waiting as it is told to
        "policy": {"scouts": 0},  # with scouts few are sent before it is known
    }
    run = world(database, length=2100, clusters=clusters, campaigns=campaigns, settings=settings)
    answers: list[float] = []
    run.run(lambda world: answers.append(world.sites["ann"].system.answer_seconds()))
    assert max(answers) > 20  # it was not known before
    assert max(answers[-5:]) < 12
    with database.begin() as conn:
        assert conn.execute(text("SELECT pace FROM cluster_paces")).scalar_one() < 0.7
