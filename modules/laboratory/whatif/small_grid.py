"""One small grid to play on, made from the plan: what its database holds, and what its clusters are; pure."""

from collections.abc import Container, Mapping
from random import Random
from typing import Any, NamedTuple

from cigri.flow.dependencies import NewDependency
from cigri.flow.grid_snapshot import RowsByTable
from cigri.flow.submissions import NewCampaignCluster
from cigri.resources.bucket_amounts import without_formulas
from cigri.settings.cluster_config import parse_config
from cigri.states import AfterWhen, StepState
from modules.laboratory.cluster.faults import NO_FAULTS, FaultRates
from modules.laboratory.cluster.machine import HardwareModel
from modules.laboratory.scenario import MACHINES
from modules.laboratory.whatif import local_load
from modules.laboratory.whatif.plan import ProposedCampaign, SimulationPlan
from modules.laboratory.whatif.scale import shared_out

FORESEEN_STEPS = 30 * local_load.STEPS_A_DAY  # steps for which others are foreseen; later they stay as they are
LONGEST_DELAY = 600.0  # seconds
SLOWEST = 0.1  # jobs a second, that any batch system starts
WHERE: dict[str, Any] = {"driver": "simulated", "options": {}, "transport": "local", "ssh": None, "visitor": "grid"}
SMALL_GRID_CONFIG: dict[str, Any] = {"poll_interval": 0.0, "fallback": None, "fallback_because": ""}


class SmallCluster(NamedTuple):
    """A simulated cluster; `used` are the cores that others use, step by step."""

    machine: HardwareModel
    used: list[int]
    faults: FaultRates


class SmallGrid(NamedTuple):
    """`rows` and `left` as the database gets them, `orders` are then submitted; `clusters` by id."""

    rows: RowsByTable
    left: Mapping[int, int]
    orders: Mapping[int, ProposedCampaign]
    clusters: Mapping[int, SmallCluster]


def board(plan: SimulationPlan, luck: Random) -> SmallGrid:
    """With some of the clusters and campaigns when there are many: those that luck rounds to nothing are left out."""
    clusters = _clusters(plan, luck)
    left = {
        campaign_id: tasks
        for campaign_id, work in plan.works.items()
        if campaign_id not in plan.orders and clusters.keys() & work.widths.keys()
        if (tasks := plan.scale.tasks(campaign_id, work.tasks, luck))
    }
    orders: dict[int, ProposedCampaign] = {}
    for number, order in plan.orders.items():
        after = [_required(each, plan) for each in order.after if each.required_id in {*orders, *left}]
        same = [orders[each.required_id].tasks for each in after if each.is_same]
        tasks = min([max(1, plan.scale.tasks(number, order.tasks, luck)), *same])
        orders[number] = _order(plan, number, order, clusters, tasks)._replace(after=after)
    return SmallGrid(_rows(plan, clusters, left), left, orders, clusters)


def _required(required: NewDependency, plan: SimulationPlan) -> NewDependency:
    """No task fails here, and the tasks that are left of a campaign of the grid have other numbers."""
    is_same = required.is_same and required.required_id in plan.orders
    return required._replace(is_same=is_same, condition=AfterWhen.END)


def _clusters(plan: SimulationPlan, luck: Random) -> dict[int, SmallCluster]:
    """Whole jobs of the campaigns that may be submitted; each of these has one place at least."""
    seen = {cluster_id: plan.picture.clusters[cluster_id] for cluster_id in plan.names}
    units = {id: max(plan.works[number].widths.get(id, 1) for number in plan.orders) for id in seen}
    parts = {id: (there.total - there.unavailable) / plan.scale.cores / units[id] for id, there in seen.items()}
    cores = {id: jobs * units[id] for id, jobs in shared_out(parts, luck).items()}
    for number in plan.orders:
        widths = plan.works[number].widths
        if not any(cores[cluster_id] >= width for cluster_id, width in widths.items()):
            best = max(widths, key=lambda id: seen[id].total)
            cores[best] = widths[best]
    return {cluster_id: _hardware(plan, cluster_id, number, luck) for cluster_id, number in cores.items() if number}


def _hardware(plan: SimulationPlan, cluster_id: int, cores: int, luck: Random) -> SmallCluster:
    seen = plan.picture.clusters[cluster_id]
    config = next(row["config"] for row in plan.picture.rows["clusters"] if row["id"] == cluster_id)
    machine = MACHINES.get(config["driver"], MACHINES["slurm"])(1, cores)
    rate = machine.start_rate if seen.start_rate is None else max(2 * seen.start_rate, SLOWEST)
    delay = machine.start_latency if seen.queue_delay is None else min(seen.queue_delay, LONGEST_DELAY)
    machine = machine._replace(start_rate=rate / plan.scale.cores, start_latency=max(0.0, delay - machine.period / 2))
    history = plan.picture.others.get(cluster_id, ())
    back = luck.randint(1, local_load.days(history)) if local_load.days(history) else 0
    share, remainder = cores / max(1, seen.total - seen.unavailable), luck.random()
    levels = local_load.levels(history, seen.others, back, FORESEEN_STEPS if back else 1)
    used = [min(cores, int(level * share + remainder)) for level in levels]
    together = max(plan.scale.together[number] for number in plan.orders)
    kills = 0.0 if back else (seen.hazard or 0.0) / together
    return SmallCluster(machine, used, NO_FAULTS._replace(preemptions=kills))


def _order(
    plan: SimulationPlan, number: int, order: ProposedCampaign, clusters: Mapping[int, SmallCluster], tasks: int
) -> ProposedCampaign:
    parts = {
        plan.names[cluster_id]: _part(plan, number, order.campaign.clusters[plan.names[cluster_id]])
        for cluster_id in plan.works[number].widths
        if cluster_id in clusters
    }
    return ProposedCampaign(order.campaign._replace(clusters=parts, wanted=None, anywhere=None), tasks)


def _part(plan: SimulationPlan, number: int, part: NewCampaignCluster) -> NewCampaignCluster:
    return part._replace(
        settings=_settings(plan, number, part.settings),
        max_jobs=plan.scale.count(part.max_jobs) if part.max_jobs else None,
        has_prologue=False,
        has_epilogue=False,
    )


def _settings(plan: SimulationPlan, campaign_id: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is computed from parameters: the tasks that are played have none, and only cores are counted."""
    walltime = settings["walltime"] * plan.scale.together[campaign_id]
    fixed = without_formulas(settings)
    return {**fixed, "walltime": walltime, "prologue": [], "epilogue": [], "checkpoint": None}


def _rows(plan: SimulationPlan, clusters: Mapping[int, SmallCluster], left: Mapping[int, int]) -> RowsByTable:
    """Those of the clusters and campaigns that are played, as small as these."""
    small = {
        "clusters": _cluster,
        "queues": _queue,
        "usages": _usage,
        "quotas": _quota,
        "limits": _limit,
        "campaign_clusters": _share,
        "bucket_averages": _average,
    }
    buckets = {row["id"] for row in plan.picture.rows["buckets"] if row["campaign_id"] in left}
    kept: RowsByTable = {}
    for table, rows in plan.picture.rows.items():
        here = [
            row
            for row in rows
            if _is_kept(row, "cluster_id", clusters)
            and _is_kept(row, "campaign_id", left)
            and _is_kept(row, "bucket_id", buckets)
            and (table != "clusters" or row["id"] in clusters)
            and (table != "quotas" or row["cores"] is not None or row["jobs"] is not None)
            and (table != "campaigns" or row["id"] in left)
        ]
        kept[table] = [small[table](plan, row) for row in here] if table in small else here
    return kept


def _is_kept(row: Mapping[str, Any], column: str, ids: Container[int]) -> bool:
    return row.get(column) is None or row[column] in ids


def _cluster(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    config = parse_config(row["name"], row["config"])
    counts = ("max_waiting", "keep_waiting", "n_max_queued_jobs")
    small = {name: plan.scale.count(getattr(config, name)) for name in counts}
    return {**row, "config": {**row["config"], **WHERE, **SMALL_GRID_CONFIG, **small}}


def _queue(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    """It takes jobs of any kind: what they require was seen to when their clusters were chosen."""
    return {**row, "requires": None}


def _usage(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "used": row["used"] / plan.scale.cores, "asked": row["asked"] / plan.scale.cores}


def _quota(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    """What has been accounted for is not copied: core-hours are not played."""
    widest = max(max(plan.works[number].widths.values()) for number in plan.orders)
    cores, jobs = row["cores"], row["jobs"]
    small = {
        "cores": None if cores is None else max(plan.scale.count(cores), min(widest, cores)),
        "jobs": None if jobs is None else max(plan.scale.count(jobs), min(1, jobs)),
    }
    return {**row, **small, "core_hours": None, "days": None}


def _limit(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    parts = [part for order in plan.orders.values() for part in order.campaign.clusters.values()]
    needed = max((part.limits.get(row["name"], 0) for part in parts), default=0)
    return {**row, "capacity": max(plan.scale.count(row["capacity"]), needed)}


def _average(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    campaigns = {bucket["id"]: bucket["campaign_id"] for bucket in plan.picture.rows["buckets"]}
    return {**row, "seconds": row["seconds"] * plan.scale.together[campaigns[row["bucket_id"]]]}


def _share(plan: SimulationPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of its durations holds for tasks that are several."""
    campaign_id = row["campaign_id"]
    together = plan.scale.together[campaign_id]
    done = -(-row["done"] // together)
    mean = row["seconds"] / row["done"] if row["done"] else 0.0
    return {
        **row,
        "settings": _settings(plan, campaign_id, row["settings"]),
        "max_jobs": plan.scale.count(row["max_jobs"]) if row["max_jobs"] else None,
        "prologue": StepState.NONE,
        "epilogue": StepState.NONE,
        "done": done,
        "seconds": done * mean * together,
        "squares": done * (mean * together) ** 2,
        "durations": [],
    }
