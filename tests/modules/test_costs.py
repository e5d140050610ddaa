"""What a pass costs, counted instead of timed: statements, rows, remote commands and calls, at two sizes."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, event

from cigri.database import Database
from cigri.drivers.local import START_CLIENT
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.clusters import ClusterRow, put_cluster
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.campaign_progress import list_progress
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.forecast_groups import list_alike
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.shell.results import ShellResult
from modules import campaign_schedulers, killer, matcher, metascheduler, predictor, runner, updator
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import load
from modules.metascheduler.progressive_filling import share_clusters
from tests.bench.share import large_grid
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster
from tests.flow.test_plans import nodes_of
from tests.grid import Grid

pytestmark = pytest.mark.noon

DECIDING = (predictor, matcher, metascheduler, campaign_schedulers)
VISITING = (updator, runner, killer)
CLUSTERS = ("dahu", "luke", "ceci")
LOOKS = pytest.mark.parametrize(
    "look", [lambda conn: list_cluster_demands(conn, 10, 60.0), lambda conn: list_progress(conn, 60.0), list_alike]
)


class Cost(NamedTuple):
    """Of one pass; `rows` are those that statements gave or wrote, `said` the characters of their parameters."""

    statements: int
    rows: int
    said: int = 0


@contextmanager
def counted(database: Database) -> Iterator[Counter[str]]:
    counts: Counter[str] = Counter()

    def note(_conn: Any, cursor: Any, _statement: str, parameters: Any, *_: Any) -> None:
        counts.update(statements=1, rows=max(cursor.rowcount, 0), said=len(str(parameters)))

    event.listen(database.engine, "after_cursor_execute", note)
    yield counts
    event.remove(database.engine, "after_cursor_execute", note)


def costs(database: Database, campaigns: int, tasks: int, passes: int = 3) -> dict[str, Cost]:
    """Of the last of so many passes over full clusters, on which the jobs wait that the others have made."""
    with database.begin() as conn:
        for name in CLUSTERS:
            a_cluster(conn, name, free=0, used=50)
        for _ in range(campaigns):
            a_campaign(conn, tasks, clusters=CLUSTERS)
    tools, found = PassContext(database, Settings(), TransportGateway()), {}
    for _ in range(passes):
        for module in DECIDING:
            with counted(database) as counts:
                module.run_once(tools)
            found[module.__name__] = Cost(counts["statements"], counts["rows"], counts["said"])
    return found


def calls(act: Callable[[], object]) -> int:
    """Functions that are called meanwhile, Python's own, too."""
    counts: Counter[str] = Counter()

    def note(_frame: Any, event: str, _argument: object) -> None:
        counts[event] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return counts["call"] + counts["c_call"]


def test_a_pass_costs_the_same_however_many_tasks_wait(database: Database, other_database: Database) -> None:
    many, few = costs(database, 4, 3000), costs(other_database, 4, 300)
    assert [cost[:2] for cost in many.values()] == [cost[:2] for cost in few.values()]


def test_a_pass_reads_in_sets_however_many_campaigns_there_are(database: Database, other_database: Database) -> None:
    few, many = costs(database, 4, 30), costs(other_database, 40, 30)
    for name in few:
        assert many[name].statements == few[name].statements, name
        assert many[name].rows <= 10 * few[name].rows, name


def test_a_cancel_costs_the_same_however_many_jobs_were_not_sent(database: Database, other_database: Database) -> None:
    statements = []
    for one, tasks in ((database, 300), (other_database, 3)):
        with one.begin() as conn:
            for name in CLUSTERS:
                a_cluster(conn, name)
            campaign = a_campaign(conn, tasks, clusters=CLUSTERS)
            waiting = take_waiting(conn, campaign, tasks)
            put_jobs(conn, campaign, [NewJob(1 + n % 3, 1, 60, [task]) for n, task in enumerate(waiting)])
        with one.begin() as conn, counted(one) as counts:
            assert cancel_campaign(conn, campaign, ALICE)
        statements.append(counts["statements"])
    assert statements[0] == statements[1] <= 13


@LOOKS
def test_what_is_looked_at_in_the_database_grows_with_campaigns_on_clusters(
    database: Database, other_database: Database, look: Callable[[Connection], object]
) -> None:
    """Not with pairs of them, however little the planner knows of tables that were filled a moment ago."""
    touched = []
    for one, campaigns in ((database, 20), (other_database, 200)):
        costs(one, campaigns, 3)
        touched.append(sum(node.rows for node in nodes_of(one, look)))
    assert touched[1] <= 15 * touched[0]


@LOOKS
def test_what_is_looked_at_in_the_database_does_not_grow_with_tasks(
    database: Database, other_database: Database, look: Callable[[Connection], object]
) -> None:
    """Not even before the planner knows anything of them."""
    touched = []
    for one, tasks in ((database, 30), (other_database, 3000)):
        costs(one, 4, tasks)
        touched.append(sum(node.rows for node in nodes_of(one, look)))
    assert touched[1] <= touched[0] + 30


def test_forecasts_that_say_the_same_are_not_written_again(database: Database) -> None:
    """Of 4 campaigns on 3 clusters: what is read of them, and of the clusters."""
    found = costs(database, 4, 30)
    assert found["modules.predictor"].rows <= 4 * len(CLUSTERS) + 4 + 10 * len(CLUSTERS)


@pytest.mark.process
def test_rows_of_a_pass_are_hardly_ever_searched_for_garbage() -> None:
    script = "collections = []; gc.callbacks.append(lambda phase, about: collections.append(about['generation']))"
    script = (
        f"import gc; from cigri.runtime.pass_context import tune_garbage_collector; tune_garbage_collector(); {script}"
    )
    script += "; rows = [(n, n) for n in range(200_000)]; print(*collections)"
    told = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert 0 < len(told.stdout.split()) <= 10
    assert "2" not in told.stdout.split()


@pytest.mark.parametrize(("policy", "most"), [("affinity", 2.5), ("eta", 1.5), ("fairshare", 6.0), ("fifo", 1.5)])
def test_sharing_a_large_grid_takes_few_steps_for_each_campaign_on_a_cluster(policy: str, most: float) -> None:
    """Calls of functions, which take the longest; under fairshare everybody looks for a place."""
    rooms, wants, claims = large_grid(1000)
    steps = calls(lambda: share_clusters(rooms, wants, claims, order=load(policy)))
    assert steps <= most * len(wants)


def test_campaigns_that_find_queues_full_cost_the_look_of_the_first_that_asks_for_the_same() -> None:
    rooms, wants, claims = large_grid(1000)
    full = [room._replace(free=0, waiting=100, waiting_cores=100, queued_by_request={0: 10}) for room in rooms]
    alike = [
        want._replace(request_hashes=(0,), keep_waiting=1000, live=0, mean=None, equivalence_group=want.cluster_id)
        for want in wants
    ]
    steps = calls(lambda: list(explain(share_clusters(full, alike, claims))))
    print(steps / len(wants))
    assert steps <= 16 * len(wants)


def test_narrow_jobs_that_have_waited_for_long_are_not_asked_for_cores_to_be_kept() -> None:
    rooms, wants, claims = large_grid(1000)
    full = [room._replace(free=0, waiting=100, waiting_cores=100, queued_by_request={0: 10}) for room in rooms]
    narrow = [want._replace(request_hashes=(0,), keep_waiting=1000, live=0) for want in wants]
    fresh, old = ([claim._replace(waited=waited) for claim in claims] for waited in (0.0, 1000.0))
    steps = [calls(lambda some=some: share_clusters(full, narrow, some)) for some in (fresh, old)]  # type: ignore[misc]
    assert steps[1] - steps[0] <= 10 * len(claims)


def test_campaigns_that_wait_alike_are_forecast_at_the_cost_of_one(
    database: Database, other_database: Database
) -> None:
    few, many = costs(database, 8, 30), costs(other_database, 80, 30)
    assert many["modules.predictor"].rows == few["modules.predictor"].rows


def test_what_campaigns_want_that_wait_alike_is_read_as_one(database: Database, other_database: Database) -> None:
    """Their tasks and buckets are read, not what each is on each cluster."""
    rows = []
    for one, campaigns in ((database, 8), (other_database, 80)):
        costs(one, campaigns, 30)
        with one.begin() as conn, counted(one) as counts:
            list_cluster_demands(conn, 10, 60.0)
        rows.append(counts["rows"])
    assert rows[1] - rows[0] <= (80 - 8) * 2


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is run on clusters from now on."""
    scripts = list[str]()
    run = TransportGateway.run

    def noted(gateway: TransportGateway, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        scripts.append(script)
        return run(gateway, cluster, user, script)

    monkeypatch.setattr(TransportGateway, "run", noted)
    return scripts


@pytest.mark.parametrize("module", [predictor, metascheduler])
def test_what_is_the_same_of_campaigns_that_wait_alike_is_sent_once(
    database: Database, other_database: Database, module: ModuleType
) -> None:
    """Their numbers are sent, and how many tasks each has left; already when they are new."""
    few, many = costs(database, 8, 30, passes=1), costs(other_database, 80, 30, passes=1)
    assert many[module.__name__].said - few[module.__name__].said <= (80 - 8) * 150


@pytest.mark.process
def test_connections_to_the_database_are_kept_from_visit_to_visit(local: Grid) -> None:
    """The lock of each cluster is held on one, and its visit works on another."""
    config = {**local.site.config, "poll_interval": 0.0}
    with local.database.begin() as conn:
        for number in range(8):
            put_cluster(conn, f"here{number}", config)
    for _ in range(2):
        updator.run_once(local.tools)
    opened = list[object]()
    event.listen(local.database.engine, "connect", lambda *about: opened.append(about))
    updator.run_once(local.tools)
    assert opened == []


def test_this_host_is_not_asked_for_a_load_that_its_jobs_make(local: Grid, scripts: list[str]) -> None:
    updator.run_once(local.tools)
    assert scripts
    assert not any("loadavg" in script for script in scripts)


def test_a_visit_of_this_host_starts_one_client(local: Grid, scripts: list[str]) -> None:
    """That takes longer than all that it asks and is told."""
    local.submit(["task"], command="sleep 1000")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    scripts.clear()
    updator.run_once(local.tools)
    assert [script.count(START_CLIENT) for script in scripts] == [1]


def test_remote_commands_of_a_pass_do_not_grow_with_jobs(local: Grid) -> None:
    most = {}
    for tasks in (4, 40):
        local.submit([str(number) for number in range(tasks)])
        most[tasks] = Counter[str]()
        while local.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL"):
            for module in DECIDING:
                module.run_once(local.tools)
            for module in VISITING:
                before = local.gateway.commands.total()
                module.run_once(local.tools)
                name = module.__name__
                most[tasks][name] = max(most[tasks][name], local.gateway.commands.total() - before)
    assert most[40] <= most[4] + Counter({updator.__name__: 1})  # what nodes there are is asked now and then
