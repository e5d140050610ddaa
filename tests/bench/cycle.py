"""Cycles of the modules, one after the other in this process: with very many waiting tasks, and with nothing to do."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cigri.flow.clusters import put_cluster
from cigri.flow.dependencies import NewDependency
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.gateway.transport_gateway import TransportGateway
from cigri.jdl import ClusterSettings
from cigri.runtime.pass_context import PassContext, tune_garbage_collector
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from modules import campaign_schedulers, killer, matcher, metascheduler, notifier, predictor, runner, stager, updator
from tests.bench.ground import Ground, ground
from tests.bench.table import Row, row

SIZE = 1_000_000
EACH = 1000  # tasks of a campaign
CLUSTERS = 10
RUNS = 5
SLOWER = 1.05  # what campaigns that wait for others may cost a cycle
CYCLE = (updator, predictor, matcher, stager, metascheduler, campaign_schedulers, runner, killer, notifier)


def measure(size: int = SIZE, runs: int = RUNS) -> Iterator[Row]:
    with ground() as grid, tools(grid) as given:
        tune_garbage_collector()  # as the almighty's workers do
        names = declare_clusters(grid, CLUSTERS)
        campaigns = max(size // EACH, 1)
        for _ in range(campaigns):
            put(grid, "cycle", names, "sleep 1000", min(size, EACH))
        grid.one("SELECT count(*) FROM tasks")  # sets the hints of all rows, as time would
        about = f"{size:,} waiting tasks, {campaigns:,} campaigns, each on {CLUSTERS} clusters"
        first = sum(cycle(given).values())
        yield row(f"cycle: {about}, the first one, which fills the clusters", f"{first:.2f} s")
        cycles = [cycle(given) for _ in range(runs)]
        taken = statistics.median(sum(parts.values()) for parts in cycles)
        parts = ", ".join(f"{name} {statistics.median(one[name] for one in cycles):.2f}" for name in cycles[0])
        yield row(f"cycle: {about}, the clusters being full ({parts})", f"{taken:.2f} s")
    yield _beside_waiting(size, runs)


def _beside_waiting(size: int, runs: int) -> Row:
    """As many campaigns, half of which wait for the others, in turn with campaigns of which none waits."""
    campaigns = max(size // EACH, 2)
    with ground() as plain, ground() as gated, tools(plain) as without, tools(gated) as waiting:
        for grid, is_gated in ((plain, False), (gated, True)):
            names, ids = declare_clusters(grid, CLUSTERS), list[int]()
            for number in range(campaigns):
                after = [NewDependency(ids[number // 2])] if is_gated and number >= campaigns // 2 else []
                ids.append(put(grid, "cycle", names, "sleep 1000", min(size, EACH), after=after))
            grid.one("SELECT count(*) FROM tasks")
        pairs = [(sum(cycle(without).values()), sum(cycle(waiting).values())) for _ in range(runs + 1)][1:]
    alone, beside = (statistics.median(taken) for taken in zip(*pairs, strict=True))
    about = f"{campaigns:,} campaigns, {campaigns // 2:,} of which wait for others, each on {CLUSTERS} clusters"
    limit = f"at most {SLOWER:g} of {alone:.2f} s, where none waits"
    return row(f"cycle: {about}", f"{beside:.2f} s", limit, f"{beside / alone:.2f}")


@contextmanager
def tools(grid: Ground) -> Iterator[PassContext]:
    gateway = TransportGateway()
    try:
        yield PassContext(grid.database, Settings(), gateway)
    finally:
        gateway.close()


def declare_clusters(grid: Ground, number: int) -> list[str]:
    """So many clusters, all of them this host; each is visited in each cycle."""
    names = [f"here{one}" for one in range(1, number + 1)]
    options = {"spool": str(grid.directory / "local")}
    for name in names:
        config = {"driver": "local", "options": options, "directory": str(grid.directory / name), "poll_interval": 0.0}
        with grid.database.begin() as conn:
            put_cluster(conn, name, config)
    return names


def put(
    grid: Ground,
    name: str,
    clusters: list[str],
    command: str,
    tasks: int,
    user: str = "root",
    after: Sequence[NewDependency] = (),
) -> int:
    settings = ClusterSettings.model_validate({"exec_file": command})
    part = NewCampaignCluster(settings.model_dump(mode="json"), 1, None, False, False)
    new = NewCampaign(name, user, CampaignType.DEFAULT, "", "", {}, dict.fromkeys(clusters, part))
    with grid.database.begin() as conn:
        return put_campaign(conn, new, ([str(number)] for number in range(tasks)), after=after)


def cycle(given: PassContext) -> dict[str, float]:
    """Seconds of each module."""
    taken = {}
    for module in CYCLE:
        started = time.perf_counter()
        module.run_once(given)
        taken[module.__name__.removeprefix("modules.")] = time.perf_counter() - started
    return taken
