"""Results that came too soon are doubted, sick nodes left out, sinks set aside; and a person decides what is right."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, insert, text

from cigri.database import Database
from cigri.flow.campaigns import close_campaigns
from cigri.flow.clusters import find_cluster
from cigri.flow.ends import EndedAttempt
from cigri.flow.event_fixes import fix_events
from cigri.flow.excluded_nodes import list_excluded, list_excluded_nodes
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.invariants import examine as find_broken
from cigri.gateway.transport_gateway import TransportGateway
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import NodeSettings, Settings
from cigri.states import Outcome, TaskState
from cigri.tables.resources import NodeClass
from modules.updator.doubtful_results import detect_doubtful_results
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon


class Grid:
    """Two clusters and a campaign; what ends there is told to the updator's examination."""

    def __init__(self, database: Database, **nodes: float) -> None:
        self.tools = PassContext(database, Settings(nodes=NodeSettings(**nodes)), TransportGateway())
        with database.begin() as conn:
            self.clusters = {name: a_cluster(conn, name) for name in ("bad", "good")}
            self.campaign = a_campaign(conn, 200, clusters=("bad", "good"))

    def end(
        self,
        cluster: str,
        number: int,
        seconds: float,
        outcome: Outcome = Outcome.SUCCESS,
        node: str = "n1",
        now: datetime = NOON,
    ) -> PassReport:
        with self.tools.database.begin() as conn:
            set_time(conn, now)
            jobs = submitted_jobs(conn, self.campaign, self.clusters[cluster], number)
            run_jobs(conn, jobs, node=node)
            end_jobs(conn, self.clusters[cluster], jobs, outcome, seconds=seconds, node=node)
        return self.look(cluster, jobs, seconds, outcome, now)

    def look(self, cluster: str, jobs: Sequence[int], seconds: float, outcome: Outcome, now: datetime) -> PassReport:
        verdict = TaskVerdict(TaskState.DONE, 10)
        fresh = [EndedAttempt(self.campaign, job, 0, 1, outcome, 0, 0.0, seconds, verdict) for job in jobs]
        with self.tools.database.begin() as conn:
            row = find_cluster(conn, cluster)
        assert row is not None
        set_time(self.tools.database, now)
        return detect_doubtful_results(self.tools, row, fresh)

    def share(self, cluster: str) -> dict[str, object]:
        columns = "done, seconds, doubted, sink_since IS NOT NULL AS is_sink, is_trusted"
        statement = text(f"SELECT {columns} FROM campaign_clusters WHERE cluster_id = :id")
        with self.tools.database.begin() as conn:
            return dict(conn.execute(statement, {"id": self.clusters[cluster]}).mappings().one())

    def doubtful(self) -> int:
        with self.tools.database.begin() as conn:
            return int(conn.scalar(text("SELECT count(*) FROM attempts WHERE outcome = 'doubtful'")) or 0)

    def wanted(self) -> set[int]:
        with self.tools.database.begin() as conn:
            return {want.cluster_id for want in list_cluster_demands(conn, 10, 3600.0)}

    def trials(self) -> set[int]:
        with self.tools.database.begin() as conn:
            return {want.cluster_id for want in list_cluster_demands(conn, 10, 3600.0) if want.is_on_probation}

    def events(self, conn: Connection) -> list[int]:
        return list(conn.scalars(text("SELECT id FROM events WHERE code = 'RESULTS_DOUBTED' AND closed_at IS NULL")))

    def fix(self, *, resubmit: bool) -> None:
        with self.tools.database.begin() as conn:
            assert fix_events(conn, self.events(conn), ALICE, resubmit=resubmit) == 1

    def excluded(self, now: datetime = NOON) -> list[str]:
        with self.tools.database.begin() as conn:
            set_time(conn, now)
            return list_excluded(conn, self.clusters["bad"])


@pytest.fixture
def sink(database: Database) -> Grid:
    """Twelve tasks ended at once on three nodes of a cluster, and twenty lasted on the other."""
    grid = Grid(database)
    for node in ("n1", "n2", "n3"):
        assert grid.end("bad", 4, 0.125, node=node) == {}
    assert grid.end("good", 9, 500.0) == {}
    assert grid.end("good", 11, 500.0) == {"results doubted": 12, "sinks": 1}
    return grid


def test_a_sink_is_set_aside_for_the_campaign_and_its_results_no_longer_count(sink: Grid) -> None:
    assert sink.share("bad") == {"done": 0, "seconds": 0.0, "doubted": 12, "is_sink": True, "is_trusted": False}
    assert sink.share("good") == {"done": 20, "seconds": 10_000.0, "doubted": 0, "is_sink": False, "is_trusted": False}
    assert sink.doubtful() == 12
    assert sink.wanted() == {sink.clusters["good"]}
    with sink.tools.database.begin() as conn:
        found = conn.execute(text("SELECT subject, message, level::text FROM events WHERE closed_at IS NULL")).one()
        assert conn.scalar(text("SELECT coalesce(sum(tasks), 0) FROM completions WHERE cluster_id = 1")) == 0
        assert find_broken(conn) == []
    assert found[0] == "campaign 1 on bad"
    assert found[1].startswith("12 of 12 tasks ended within")
    assert found[1].endswith(
        "12 results are doubted, and the cluster is set aside for this campaign; "
        "`gridevents --fix` believes them; with --resubmit the tasks are done again"
    )
    assert found[2] == "error"
    assert sink.excluded() == []


def test_what_ends_so_soon_later_is_doubted_too_and_what_lasts_is_not(sink: Grid) -> None:
    assert sink.end("bad", 2, 0.125) == {"results doubted": 2}
    assert sink.end("bad", 1, 450.0) == {}
    assert sink.share("bad") == {"done": 1, "seconds": 450.0, "doubted": 14, "is_sink": True, "is_trusted": False}


def test_doubted_tasks_are_done_again_by_one_word(sink: Grid) -> None:
    sink.fix(resubmit=True)
    assert sink.share("bad") == {"done": 0, "seconds": 0.0, "doubted": 0, "is_sink": False, "is_trusted": False}
    with sink.tools.database.begin() as conn:
        waiting = conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'waiting' AND priority = 20"))
        assert waiting == 12
        assert find_broken(conn) == []
    assert sink.wanted() == set(sink.clusters.values())
    assert sink.trials() == {sink.clusters["bad"]}
    assert sink.end("bad", 1, 0.125) == {"results doubted": 1, "sinks": 1}
    assert sink.doubtful() == 13  # the old attempts stay what they were
    sink.fix(resubmit=True)
    with sink.tools.database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'done'")) == 20


def test_doubted_results_are_believed_by_one_word_and_not_doubted_again(sink: Grid) -> None:
    sink.fix(resubmit=False)
    share = sink.share("bad")
    assert (share["done"], share["doubted"], share["is_sink"], share["is_trusted"]) == (12, 0, False, True)
    assert share["seconds"] == pytest.approx(1.5)
    assert sink.doubtful() == 0
    assert sink.end("bad", 30, 0.125) == {}


def test_a_campaign_does_not_end_while_its_results_are_doubted(sink: Grid) -> None:
    with sink.tools.database.begin() as conn:
        conn.execute(text("UPDATE tasks SET state = 'cancelled' WHERE state = 'waiting'"))
        assert close_campaigns(conn) == 0
    sink.fix(resubmit=False)
    with sink.tools.database.begin() as conn:
        assert close_campaigns(conn) == 1


def test_a_cluster_that_has_become_better_is_used_again(sink: Grid) -> None:
    sink.fix(resubmit=True)
    assert sink.end("bad", 1, 450.0) == {}
    assert sink.trials() == set()
    assert sink.wanted() == set(sink.clusters.values())


def test_tasks_that_run_elsewhere_for_a_while_are_enough_to_doubt(database: Database) -> None:
    grid = Grid(database)
    with database.begin() as conn:
        jobs = submitted_jobs(conn, grid.campaign, grid.clusters["good"], 12)
        set_time(conn, NOON - timedelta(seconds=60))
        run_jobs(conn, jobs, node="g1")  # its cluster was visited at noon
    for node in ("n1", "n2"):
        grid.end("bad", 5, 0.125, node=node)
    assert grid.end("bad", 5, 0.125, node="n3") == {"results doubted": 5}
    assert grid.share("bad")["doubted"] == 15


def test_one_node_is_left_out_rather_than_the_cluster(database: Database) -> None:
    grid = Grid(database)
    for node in ("n1", "n2", "n3"):
        grid.end("bad", 7, 300.0, node=node)
    report = grid.end("bad", 30, 0.125, node="hole")
    assert report == {"nodes left out": 1, "results doubted": 30}
    assert grid.excluded() == ["hole"]
    assert grid.excluded(NOON + timedelta(seconds=1801)) == []
    assert grid.share("bad") == {"done": 21, "seconds": 6300.0, "doubted": 30, "is_sink": False, "is_trusted": False}
    assert grid.end("bad", 3, 0.125, node="hole") == {"results doubted": 3}
    assert grid.end("bad", 1, 0.125, node="n2") == {}  # one of the others is beyond doubt
    with database.begin() as conn:
        (event,) = conn.execute(text("SELECT subject, message FROM events WHERE code = 'NODE_EXCLUDED'"))
        assert find_broken(conn) == []
    assert event[0] == "node hole of bad"
    assert event[1].startswith("of 30 tasks 30 ended at once, ")
    assert "`cigri cluster nodes bad --admit hole` gives it jobs at once" in event[1]


def test_a_node_where_tasks_fail_is_left_out_longer_each_time_until_one_ends_well(database: Database) -> None:
    grid = Grid(database)
    for node in ("n1", "n2", "n3"):
        grid.end("bad", 7, 300.0, node=node)
    assert grid.end("bad", 8, 1.0, Outcome.LOST, node="hole") == {"nodes left out": 1}
    again = NOON + timedelta(seconds=1801)
    assert grid.end("bad", 1, 300.0, node="n1", now=again) == {}  # what was before counts no more
    assert grid.excluded(again) == []
    assert grid.end("bad", 1, 1.0, Outcome.LOST, node="hole", now=again) == {"nodes left out": 1}
    with database.begin() as conn:
        set_time(conn, again)
        (found,) = list_excluded_nodes(conn)
    assert (found.strikes, found.until - again) == (2, timedelta(seconds=3600))
    assert grid.end("bad", 1, 300.0, node="hole", now=found.until + timedelta(seconds=1)) == {"nodes healed": 1}
    with database.begin() as conn:
        assert list_excluded_nodes(conn) == []
        assert conn.scalar(text("SELECT count(*) FROM events WHERE closed_at IS NULL AND code = 'NODE_EXCLUDED'")) == 0


def test_a_node_where_tasks_end_at_once_is_left_out_again_after_its_first_results_on_trial(database: Database) -> None:
    """They are doubted before anybody compares them with others."""
    grid = Grid(database)
    for node in ("n1", "n2", "n3"):
        grid.end("bad", 7, 300.0, node=node)
    grid.end("bad", 30, 0.125, node="hole")
    again = NOON + timedelta(seconds=1801)
    assert grid.end("bad", 2, 0.125, node="hole", now=again) == {"results doubted": 2, "nodes left out": 1}
    assert grid.excluded(again + timedelta(seconds=3599)) == ["hole"]
    after = again + timedelta(seconds=3601)
    assert grid.end("bad", 1, 300.0, node="n1", now=after) == {}  # what was before counts no more
    assert grid.end("bad", 1, 300.0, node="hole", now=after) == {"nodes healed": 1}


def test_no_more_than_a_share_of_the_nodes_is_left_out(database: Database) -> None:
    grid = Grid(database, share=0.3)
    for node in ("n1", "n2", "n3", "n4"):
        grid.end("bad", 5, 300.0, node=node)
    assert grid.end("bad", 9, 1.0, Outcome.LOST, node="a") == {"nodes left out": 1}
    assert grid.end("bad", 99, 1.0, Outcome.LOST, node="b") == {}
    assert grid.excluded() == ["a"]


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        pytest.param([], {"sinks": 1, "results doubted": 20}, id="of three nodes a quarter is none"),
        pytest.param(["a", "a", "b", "c"], {"sinks": 1, "results doubted": 20}, id="found in several queues"),
        pytest.param(["b", "a", "a", "a", "a"], {"nodes left out": 1, "results doubted": 20}, id="found to be four"),
    ],
)
def test_a_node_may_be_left_out_though_not_all_others_have_been_seen(
    database: Database, queues: Sequence[str], expected: dict[str, int]
) -> None:
    """Else the first that is seen of a small cluster would have all of it set aside."""
    grid = Grid(database)
    with database.begin() as conn:
        for number, queue in enumerate(queues):
            about = {"cluster_id": grid.clusters["bad"], "at": NOON, "nodes": 1, "queue": queue}
            conn.execute(insert(NodeClass).values(**about, properties={"memory": number}))
    for node in ("n1", "n2"):
        grid.end("bad", 7, 300.0, node=node)
    grid.end("good", 20, 300.0)
    assert grid.end("bad", 20, 0.125, node="hole") == expected
    assert grid.excluded() == ["hole"][: expected.get("nodes left out", 0)]


def test_a_node_whose_name_is_none_is_not_left_out(database: Database) -> None:
    grid = Grid(database, share=1.0)
    for node in ("n1", "n2", "n3"):
        grid.end("bad", 7, 300.0, node=node)
    assert grid.end("bad", 20, 1.0, Outcome.LOST, node="a,b;c") == {}
    assert grid.excluded() == []
