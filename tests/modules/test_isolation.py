"""What one campaign or cluster brings out stops nobody else's part of a pass."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import modules.campaign_schedulers as schedulers
from cigri.database import Database
from cigri.flow.clusters import ClusterRow, find_cluster, list_clusters
from cigri.flow.offers import ClaimedOffer, NewOffer, put_offers
from cigri.flow.quarantines import list_quarantines
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.failure_isolation import isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import PolicySettings, Settings
from cigri.shell.results import ScriptBundle, ShellResult
from modules import campaign_schedulers, killer, matcher, metascheduler, predictor
from modules.metascheduler.progressive_filling import share_clusters
from modules.metascheduler.remaining_capacity import RemainingCapacity
from modules.metascheduler.site_policy import PolicyFailed
from modules.predictor.algorithms import AlgorithmInputs, PredictFlow, Prediction, load
from modules.runner.batch_spec import plan_batch
from tests.factories import NOON, a_campaign, a_cluster, set_time
from tests.grid import Grid
from tests.pools.made import GB, put_nodes, submit

pytestmark = pytest.mark.noon

BROKEN = {
    "raises": "raise ValueError('no scheduler of yours')",
    "ends the process": "raise SystemExit(3)",
    "imports what is missing": "import a_module_that_nobody_has",
    "recurses": "return choose(waiting, places)",
    "gives a task twice": "return [Assignment(places[0].cluster_id, (0,))] * 2",
    "gives a task that is not there": "return [Assignment(places[0].cluster_id, (waiting,))]",
    "goes where it was not offered": "return [Assignment(4711, (0,))]",
    "fills jobs too full": "return [Assignment(places[0].cluster_id, tuple(range(waiting)))]",
    "makes jobs for ever": "return (Assignment(places[0].cluster_id, ()) for _ in iter(int, 1))",
}
FOR_EVER = {
    "loops": "while True: pass",
    "waits": "__import__('threading').Event().wait()",
    "catches what stops it": "while True:\n        try:\n            waiting += 1\n        except Exception: pass",
    "waits while it makes jobs": "yield Assignment(places[0].cluster_id, (0,)); __import__('threading').Event().wait()",
}
HEAD = "from modules.campaign_schedulers import Assignment\ndef choose(waiting, places):\n    "


@pytest.fixture
def tools(database: Database) -> PassContext:
    return PassContext(database, Settings(policy=PolicySettings(scouts=0)), TransportGateway())


@pytest.fixture
def campaigns(database: Database) -> list[int]:
    """Three alike on dahu, the second of which is in for it."""
    with database.begin() as conn:
        a_cluster(conn, free=30)
        return [a_campaign(conn, 3) for _ in range(3)]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a scheduler of the name `broken` beside the others."""

    def write(body: str) -> None:
        (tmp_path / "broken.py").write_text(HEAD + body + "\n")

    monkeypatch.setattr(schedulers, "__path__", [*schedulers.__path__, str(tmp_path)])
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.delitem(__import__("sys").modules, "modules.campaign_schedulers.broken", raising=False)
    return write


def rows(database: Database, statement: str, **values: object) -> list[Any]:
    with database.begin() as conn:
        return [tuple(row) for row in conn.execute(text(statement), values)]


def jobs_of(database: Database) -> dict[int, int]:
    return dict(rows(database, "SELECT campaign_id, count(*) FROM jobs GROUP BY campaign_id"))


def offer(database: Database, campaigns: Sequence[int]) -> None:
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        put_offers(conn, [NewOffer(id, cluster.id, 2, 2, rank) for rank, id in enumerate(campaigns)])


def open_events(database: Database, campaign_id: int | None) -> list[str]:
    found = "SELECT code FROM events WHERE closed_at IS NULL AND campaign_id IS NOT DISTINCT FROM :id ORDER BY id"
    return [code for (code,) in rows(database, found, id=campaign_id)]


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_campaign_scheduler_that_fails_harms_only_its_campaign(
    tools: PassContext, campaigns: list[int], broken: Callable[[str], None], body: str
) -> None:
    broken(body)
    first, second, third = campaigns
    rows(tools.database, "UPDATE campaigns SET scheduler = 'broken' WHERE id = :id RETURNING id", id=second)
    offer(tools.database, campaigns)
    campaign_schedulers.run_once(tools)
    assert jobs_of(tools.database) == {first: 2, third: 2}
    assert open_events(tools.database, second) == ["IN_QUARANTINE"]
    assert open_events(tools.database, None) == ["MODULE_FAILED_IN_PART"]
    with tools.database.begin() as conn:
        (why,) = list_quarantines(conn, [second])
    assert why.module == "campaign_schedulers"
    assert "in the campaign scheduler 'broken'" in why.error
    assert why.until == NOON + timedelta(seconds=5)


@pytest.mark.parametrize("body", FOR_EVER.values(), ids=FOR_EVER)
def test_a_campaign_scheduler_that_goes_on_for_ever_is_stopped(
    tools: PassContext, campaigns: list[int], broken: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(schedulers, "PURE_LIMIT", 0.1)
    broken(body)
    first, second, third = campaigns
    rows(tools.database, "UPDATE campaigns SET scheduler = 'broken' WHERE id = :id RETURNING id", id=second)
    offer(tools.database, campaigns)
    campaign_schedulers.run_once(tools)
    assert jobs_of(tools.database) == {first: 2, third: 2}
    with tools.database.begin() as conn:
        (why,) = list_quarantines(conn, [second])
    stopped = "TimeoutError: it went on for more than 0.1 s and was stopped (in the campaign scheduler 'broken')"
    assert why.error == stopped


def test_a_scheduler_of_many_campaigns_that_goes_on_for_ever_is_not_waited_for_each_time(
    tools: PassContext, broken: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(schedulers, "PURE_LIMIT", 0.1)
    calls = tmp_path / "calls"
    broken(f"with open({str(calls)!r}, 'a') as calls: calls.write('.')\n    while True: pass")
    with tools.database.begin() as conn:
        a_cluster(conn, free=30)
        many, innocent = [a_campaign(conn, 3) for _ in range(8)], a_campaign(conn, 3)
    rows(tools.database, "UPDATE campaigns SET scheduler = 'broken' WHERE id <> :id RETURNING id", id=innocent)
    offer(tools.database, [*many, innocent])
    campaign_schedulers.run_once(tools)
    assert jobs_of(tools.database) == {innocent: 2}
    assert rows(tools.database, "SELECT count(*) FROM quarantines") == [(8,)]
    assert calls.read_text() == "..."  # once in the pass of all as one, and twice in the other one


def test_what_was_done_before_it_raised_is_rolled_back_alone(
    tools: PassContext, campaigns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The jobs are put before the replicas."""
    first, second, third = campaigns

    def replicate(_conn: object, offers: Sequence[ClaimedOffer], *_: object) -> int:
        if offers[0].campaign_id == second:
            raise RuntimeError("the jobs are there by now")
        return 0

    monkeypatch.setattr(campaign_schedulers, "_replicate", replicate)
    offer(tools.database, campaigns)
    campaign_schedulers.run_once(tools)
    assert jobs_of(tools.database) == {first: 2, third: 2}
    waiting = "SELECT count(*) FROM tasks WHERE campaign_id = :id AND state = 'waiting'"
    assert rows(tools.database, waiting, id=second) == [(3,)]


def test_it_is_left_out_longer_each_time_and_healed_when_it_does_well(
    tools: PassContext, campaigns: list[int], broken: Callable[[str], None]
) -> None:
    _, second, _ = campaigns
    rows(tools.database, "UPDATE campaigns SET scheduler = 'broken' WHERE id = :id RETURNING id", id=second)
    broken(BROKEN["raises"])

    def after(seconds: float) -> list[tuple[int, datetime]]:
        offer(tools.database, [second])
        set_time(tools.database, NOON + timedelta(seconds=seconds))
        campaign_schedulers.run_once(tools)
        return rows(tools.database, "SELECT failures, until FROM quarantines")

    assert after(0) == [(1, NOON + timedelta(seconds=5))]
    assert after(4) == [(1, NOON + timedelta(seconds=5))]
    assert after(5) == [(2, NOON + timedelta(seconds=15))]
    rows(tools.database, "UPDATE campaigns SET scheduler = 'workqueue' WHERE id = :id RETURNING id", id=second)
    assert after(16) == []
    assert jobs_of(tools.database) == {second: 2}
    assert open_events(tools.database, second) == open_events(tools.database, None) == []


def test_what_nobody_would_use_is_offered_to_others(
    tools: PassContext, campaigns: list[int], broken: Callable[[str], None]
) -> None:
    broken(BROKEN["raises"])
    rows(tools.database, "UPDATE campaigns SET scheduler = 'broken' WHERE id = :id RETURNING id", id=campaigns[1])
    offer(tools.database, campaigns[1:2])
    campaign_schedulers.run_once(tools)
    metascheduler.run_once(tools)
    offered = {id for (id,) in rows(tools.database, "SELECT campaign_id FROM offers")}
    assert offered == {campaigns[0], campaigns[2]}


def test_an_algorithm_that_fails_harms_only_its_campaign(
    tools: PassContext, campaigns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_flow: AlgorithmInputs) -> Prediction:
        raise ZeroDivisionError("float division by zero")

    def loaded(name: str) -> PredictFlow:
        return fail if name == "broken" else load(name)

    monkeypatch.setattr(predictor, "load", loaded)
    set_algorithm = """UPDATE campaign_clusters SET settings = settings || '{"algorithm": "broken"}'
        WHERE campaign_id = :id RETURNING campaign_id"""
    rows(tools.database, set_algorithm, id=campaigns[1])
    predictor.run_once(tools)
    forecast = {id for (id,) in rows(tools.database, "SELECT DISTINCT campaign_id FROM forecasts")}
    assert forecast == {campaigns[0], campaigns[2]}
    assert open_events(tools.database, campaigns[1]) == ["IN_QUARANTINE"]


def test_an_algorithm_that_goes_on_for_ever_is_stopped(
    tools: PassContext, campaigns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def go_on(flow: AlgorithmInputs) -> Prediction:
        calls.append(flow)
        while True:
            pass

    def loaded(name: str) -> PredictFlow:
        return go_on if name == "broken" else load(name)

    monkeypatch.setattr(predictor, "PURE_LIMIT", 0.5)
    monkeypatch.setattr(predictor, "load", loaded)
    set_algorithm = """UPDATE campaign_clusters
        SET settings = settings || jsonb_build_object('algorithm', 'broken', 'walltime', 3600 + campaign_id)
        WHERE campaign_id <> :id RETURNING campaign_id"""  # walltimes differ: those alike are predicted once
    rows(tools.database, set_algorithm, id=campaigns[1])
    predictor.run_once(tools)
    assert rows(tools.database, "SELECT DISTINCT campaign_id FROM forecasts") == [(campaigns[1],)]
    first, second = [why for (why,) in rows(tools.database, "SELECT error FROM quarantines ORDER BY campaign_id")]
    assert first.endswith("and was stopped (in the algorithm 'broken')")
    assert second == "TimeoutError: 'broken' was stopped 2 times in this pass, and is not called again in it"
    assert len(calls) == 2  # the third is not tried


def test_a_campaign_that_cannot_be_shared_among_is_left_out(
    tools: PassContext, campaigns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sharing(rooms: Any, wants: Sequence[ClusterDemand], *rest: Any) -> RemainingCapacity:
        if any(want.campaign_id == campaigns[1] for want in wants):
            raise OverflowError("cannot convert float infinity to integer")
        return share_clusters(rooms, wants, *rest)

    monkeypatch.setattr(metascheduler, "share_clusters", sharing)
    metascheduler.run_once(tools)
    offered = {id for (id,) in rows(tools.database, "SELECT campaign_id FROM offers")}
    assert offered == {campaigns[0], campaigns[2]}
    assert open_events(tools.database, campaigns[1]) == ["IN_QUARANTINE"]


@pytest.mark.parametrize(
    "wrong", ["raise ValueError('no')", "return [Turn(1, (1,), (0.0,), float('nan'))]", "while True: pass", ""]
)
def test_a_policy_that_fails_leaves_first_come_first_served(
    tools: PassContext, campaigns: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: str
) -> None:
    """Nobody waits for the operator, whom the failing module tells; "": there is no such policy any more."""
    from modules.metascheduler import policies, site_policy

    monkeypatch.setattr(site_policy, "PURE_LIMIT", 0.1)
    if wrong:
        head = "from modules.metascheduler.policies import Turn\ndef order(claims, facts):\n    "
        (tmp_path / "odd_policy.py").write_text(head + wrong + "\n")
    monkeypatch.setattr(policies, "__path__", [*policies.__path__, str(tmp_path)])
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.delitem(__import__("sys").modules, "modules.metascheduler.policies.odd_policy", raising=False)
    changed = tools.settings.policy.model_copy(update={"order": "odd_policy"})
    with pytest.raises(PolicyFailed, match="first come, first served, as the policy odd_policy fails"):
        metascheduler.run_once(tools._replace(settings=tools.settings.model_copy(update={"policy": changed})))
    offered = [id for (id,) in rows(tools.database, "SELECT campaign_id FROM offers ORDER BY rank")]
    assert offered == campaigns


def test_a_pool_that_cannot_be_computed_harms_only_its_campaigns(tools: PassContext) -> None:
    with tools.database.begin() as conn:
        for name in ("fat", "thin"):
            put_nodes(conn, a_cluster(conn, name), {"memory": 64 * GB})
        one, other = submit(conn, {"memory": "10 GB"}), submit(conn, {"memory": "20 GB"})
    spoil = """UPDATE submit_pools SET version = -1, requirements = CASE WHEN id IN (SELECT pool_id
        FROM bucket_pools JOIN buckets ON buckets.id = bucket_id WHERE campaign_id = :id)
        THEN '{"nonsense": [1]}' ELSE requirements END RETURNING id"""
    rows(tools.database, spoil, id=one)
    matcher.run_once(tools)
    assert rows(tools.database, "SELECT count(*) FROM submit_pools WHERE version < 0") == [(0,)]
    assert open_events(tools.database, one) == ["IN_QUARANTINE"]
    assert open_events(tools.database, other) == []


def test_a_visit_that_raises_leaves_out_its_cluster_alone_and_for_this_module_only(tools: PassContext) -> None:
    with tools.database.begin() as conn:
        for name in ("sick", "well"):
            a_cluster(conn, name)
    is_broken = True

    def visit(cluster: ClusterRow) -> PassReport:
        if is_broken and cluster.name == "sick":
            raise KeyError("jobs")
        return PassReport({"visits": 1})

    def visited(module: str, seconds: float) -> list[str]:
        set_time(tools.database, NOON + timedelta(seconds=seconds))
        with tools.database.begin() as conn:
            clusters = list_clusters(conn, module)
        seen = tools.gateway.visit(clusters, isolated_visit(tools, module, visit), 30.0)
        assert seen.failed == {}
        return sorted(name for name, report in seen.reports.items() if report["visits"])

    assert visited("updator", 0) == ["well"]
    with tools.database.begin() as conn:
        assert [one.name for one in list_clusters(conn, "updator")] == ["well"]
        assert [one.name for one in list_clusters(conn, "killer")] == ["sick", "well"]
    assert rows(tools.database, "SELECT subject FROM events WHERE closed_at IS NULL") == [("cluster sick in updator",)]
    is_broken = False
    assert visited("updator", 6) == ["sick", "well"]
    assert open_events(tools.database, None) == []
    assert rows(tools.database, "SELECT * FROM quarantines") == []


def test_a_cluster_whose_configuration_cannot_be_read_stops_no_other(local: Grid) -> None:
    with local.database.begin() as conn:
        a_cluster(conn, "odd")
        conn.execute(text("""UPDATE clusters SET config = config || '{"nonsense": 1}' WHERE name = 'odd'"""))
    local.submit([1, 2])
    local.run_to_end()
    assert local.counts() == {"done": 2}
    assert "nonsense" in local.one("SELECT min(message) FROM events WHERE subject = 'cluster odd in runner'")


def test_a_batch_that_cannot_be_planned_harms_only_its_campaign(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = local.submit([1, 2])
    good = local.submit([1, 2])

    def planned(*about: Any) -> Any:
        launch = next(one for one in about if hasattr(one, "campaign_id") and hasattr(one, "jobs"))
        if launch.campaign_id == bad:
            raise KeyError("amounts")
        return plan_batch(*about)

    monkeypatch.setattr("modules.runner.plan_batch", planned)
    ended = "SELECT count(*) FROM campaigns WHERE ended_at IS NOT NULL AND id = :id"
    local.run_until(lambda: local.one(ended, id=good))
    assert local.one("SELECT count(*) FROM batches WHERE campaign_id = :id AND state = 'launching'", id=bad) == 0
    said = local.one("SELECT min(message) FROM events WHERE campaign_id = :id AND closed_at IS NULL", id=bad)
    assert "CiGri fails to plan the batch: KeyError: 'amounts'" in said


class Haunted(TransportGateway):
    """The account `ghost` is another name of ours; what it answers brings out a fault of ours while it `haunts`."""

    haunts = False

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        answer = super().run(cluster, self.monitoring_account(cluster), script)
        return answer._replace(err=f"{answer.err}{BOO}") if user == "ghost" and self.haunts else answer


BOO = "boo"


@pytest.fixture
def haunted(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Iterator[Haunted]:
    unpack = ScriptBundle.unpack

    def unpacked(bundle: ScriptBundle, answer: ShellResult) -> dict[str, ShellResult]:
        if answer.err.endswith(BOO):
            raise KeyError("a word that nobody has thought of")
        return unpack(bundle, answer)

    monkeypatch.setattr(ScriptBundle, "unpack", unpacked)
    with closing(Haunted()) as gateway:
        local.gateway = gateway
        yield gateway


def two_campaigns(grid: Grid, command: str = "") -> tuple[int, int]:
    """Of `ghost`, and of another user."""
    mine, other = grid.submit(["1"], command), grid.submit(["1"], command)
    rows(grid.database, "UPDATE campaigns SET grid_user = 'ghost' WHERE id = :id RETURNING id", id=mine)
    return mine, other


def assert_only_the_account_is_blamed(grid: Grid) -> None:
    assert grid.one("SELECT failures FROM clusters") == 0
    assert grid.rows("SELECT module FROM quarantines") == []
    (said,) = grid.rows("SELECT subject, message FROM events WHERE code = 'ACCOUNT_REFUSED' AND closed_at IS NULL")
    assert said["subject"] == "account ghost on here"
    assert "CiGri fails on what it answers: KeyError: 'a word that nobody has thought of'" in said["message"]


def ended(grid: Grid, campaign_id: int) -> bool:
    return bool(grid.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=campaign_id))


def forgive(grid: Grid, haunted: Haunted) -> None:
    haunted.haunts = False
    grid.let_accounts_be_asked()
    grid.run_to_end()
    assert not grid.rows("SELECT 1 FROM events WHERE code = 'ACCOUNT_REFUSED' AND closed_at IS NULL")


def test_an_account_that_brings_out_a_fault_of_the_runner_hurts_itself_alone(local: Grid, haunted: Haunted) -> None:
    mine, other = two_campaigns(local)
    haunted.haunts = True
    local.run_until(lambda: ended(local, other))
    assert not ended(local, mine)
    assert local.one("SELECT state FROM batches WHERE campaign_id = :id", id=mine) == "launching"
    assert_only_the_account_is_blamed(local)
    forgive(local, haunted)
    assert local.executions() == {0: 2}  # the one task of each


def test_an_account_that_brings_out_a_fault_of_the_updator_hurts_itself_alone(local: Grid, haunted: Haunted) -> None:
    mine, other = two_campaigns(local, f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 2)
    haunted.haunts = True
    (Path(local.place) / "go").touch()
    local.run_until(lambda: ended(local, other))
    assert not ended(local, mine)
    assert_only_the_account_is_blamed(local)
    forgive(local, haunted)
    assert local.executions() == {0: 2}


def test_an_account_that_brings_out_a_fault_of_the_killer_hurts_itself_alone(local: Grid, haunted: Haunted) -> None:
    mine, _ = two_campaigns(local, "sleep 600")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 2)
    local.kill_all_jobs()
    haunted.haunts = True
    killer.run_once(local.tools)
    unsent = "SELECT campaign_id FROM kills JOIN jobs ON jobs.id = job_id WHERE sent_at IS NULL"
    assert rows(local.database, unsent) == [(mine,)]
    assert_only_the_account_is_blamed(local)
