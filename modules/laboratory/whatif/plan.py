"""What is to be played, from a picture of the grid and the campaigns that somebody may submit; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cigri.eligibility.quotas import BEST_EFFORT, QuotaKey, QuotaRule, in_force
from cigri.errors import CigriError
from cigri.flow.dependencies import NewDependency
from cigri.flow.grid_snapshot import CommandStatistics, GridSnapshot
from cigri.flow.submissions import NewCampaign, NewCampaignCluster
from cigri.flow.task_durations import PastDurations
from modules.laboratory.whatif.durations import DurationTotals, TaskDurationModel, durations
from modules.laboratory.whatif.scale import GridScale, RemainingWork, scale

NOTHING_KNOWN = PastDurations()

UserCommand = tuple[str, str]
"""A user and what they run."""


class ProposedCampaign(NamedTuple):
    """A campaign as it would be submitted, its number of tasks, and what is known of those that ran before.

    It waits for those of `after`: campaigns of the grid, or, by -1, -2..., the orders before it.
    """

    campaign: NewCampaign
    tasks: int
    known: PastDurations = NOTHING_KNOWN
    after: Sequence[NewDependency] = ()

    @property
    def command(self) -> UserCommand:
        """Its user, and what each of its tasks runs, which is the same on all clusters."""
        return self.campaign.user, next(iter(self.campaign.clusters.values())).settings["exec_file"]


class SimulationPlan(NamedTuple):
    """`works` by campaign; those of `orders`, which may be submitted, have the numbers -1, -2...

    `rooms`: cores that others leave, by cluster; `names` of the clusters where anything can run; `closed`: why the
    others are left out, by name. `cycle`: seconds between two cycles of the real grid.
    """

    picture: GridSnapshot
    orders: Mapping[int, ProposedCampaign]
    works: Mapping[int, RemainingWork]
    scale: GridScale
    names: Mapping[int, str]
    closed: Mapping[str, str]
    cycle: float


def plan(picture: GridSnapshot, orders: Sequence[ProposedCampaign], period: float) -> SimulationPlan:
    """`period`: seconds between two cycles, as set. Raise CigriError when a campaign could run nowhere."""
    numbered = {-place: order for place, order in enumerate(orders, start=1)}
    names, closed = _clusters(picture)
    past = _by_command(picture.past)
    works = {number: _ordered(order, picture, names, past) for number, order in numbered.items()}
    for number, order in numbered.items():
        if not works[number].widths:
            raise CigriError(_nowhere(order, closed))
    works |= _stored(picture, names, past)
    seen = {cluster_id: picture.clusters[cluster_id] for cluster_id in names}
    rooms = {id: max(0, cluster.total - cluster.unavailable - cluster.others) for id, cluster in seen.items()}
    cycle = max((cluster.cycle or 0.0 for cluster in seen.values()), default=0.0) or period
    sizes = scale(works, list(numbered), rooms, cycle, _task_by_task(numbered))
    return SimulationPlan(picture, numbered, works, sizes, names, closed, cycle)


def _task_by_task(orders: Mapping[int, ProposedCampaign]) -> list[tuple[int, int]]:
    """Pairs of orders of which a task of the first waits for that of its number of the second."""
    return [
        (number, required.required_id)
        for number, order in orders.items()
        for required in order.after
        if required.is_same and required.required_id in orders
    ]


def _clusters(picture: GridSnapshot) -> tuple[dict[int, str], dict[str, str]]:
    names, closed = {}, {}
    for row in picture.rows["clusters"]:
        seen = picture.clusters.get(row["id"])
        if not row["is_enabled"]:
            closed[row["name"]] = "its operator has disabled it"
        elif seen is None:
            closed[row["name"]] = "it has not been visited yet"
        elif seen.total <= seen.unavailable:
            closed[row["name"]] = "none of its cores is available"
        else:
            names[row["id"]] = row["name"]
    return names, closed


def _nowhere(order: ProposedCampaign, closed: Mapping[str, str]) -> str:
    reasons = "; ".join(f"{name}: {closed.get(name, 'it has too few cores')}" for name in order.campaign.clusters)
    return (
        f"campaign {order.campaign.name} could run on none of its clusters now ({reasons}): "
        "see `gridclusters`; clusters are visited while `cigri almighty` runs"
    )


def _by_command(past: Iterable[CommandStatistics]) -> Mapping[UserCommand, Mapping[int, DurationTotals]]:
    totals: dict[UserCommand, dict[int, DurationTotals]] = defaultdict(dict)
    for share in past:
        totals[share.user, share.command][share.cluster_id] = DurationTotals(share.done, share.seconds, share.squares)
    return totals


def _ordered(
    order: ProposedCampaign,
    picture: GridSnapshot,
    names: Mapping[int, str],
    past: Mapping[UserCommand, Mapping[int, DurationTotals]],
) -> RemainingWork:
    parts = {
        cluster_id: order.campaign.clusters[name]
        for cluster_id, name in names.items()
        if name in order.campaign.clusters and order.campaign.clusters[name].width <= picture.clusters[cluster_id].total
    }
    widths = {cluster_id: part.width for cluster_id, part in parts.items()}
    settings = {id: part.settings for id, part in parts.items()}
    lasting = _durations(settings, past.get(order.command, {}), order.known)
    limits = {row["name"]: row["capacity"] for row in picture.rows["limits"]}
    most = [limits[name] // tokens for part in parts.values() for name, tokens in part.limits.items()]
    most += [cores // max(widths.values(), default=1) for cores in _quotas(picture, order.campaign)]
    if parts and all(part.max_jobs for part in parts.values()):
        most.append(sum(part.max_jobs or 0 for part in parts.values()))
    return RemainingWork(order.tasks, lasting, widths, min(most, default=None))


def _quotas(picture: GridSnapshot, campaign: NewCampaign) -> list[int]:
    """The cores of those on the whole grid that all its jobs are under."""
    declared = {
        QuotaRule(row["queue"], row["project"], row["type"], row["grid_user"]): int(row["cores"])
        for row in picture.rows["quotas"]
        if row["cluster_id"] is None and row["cores"] is not None
    }
    over = [
        in_force(declared, QuotaKey(part.settings.get("queue", ""), campaign.project, _type(part), campaign.user))
        for part in campaign.clusters.values()
    ]
    together = set(over[0]).intersection(*over) if over else set()
    return [min(over[0][rule]) for rule in together]


def _type(part: NewCampaignCluster) -> str:
    return str(part.settings.get("type", BEST_EFFORT))


def _stored(
    picture: GridSnapshot, names: Mapping[int, str], past: Mapping[UserCommand, Mapping[int, DurationTotals]]
) -> dict[int, RemainingWork]:
    """Campaigns that are under way."""
    users = {row["id"]: row["grid_user"] for row in picture.rows["campaigns"]}
    shares: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in picture.rows["campaign_clusters"]:
        if row["cluster_id"] in names:
            shares[row["campaign_id"]].append(row)
    works = {}
    for campaign_id, tasks in picture.left.items():
        if not (rows := shares.get(campaign_id)):
            continue
        settings = {row["cluster_id"]: row["settings"] for row in rows}
        command = users[campaign_id], rows[0]["settings"]["exec_file"]
        limits = [row["max_jobs"] for row in rows]
        most = sum(limits) if all(limits) else None
        widths = {row["cluster_id"]: row["width"] for row in rows}
        works[campaign_id] = RemainingWork(tasks, _durations(settings, past.get(command, {})), widths, most)
    return works


def _durations(
    settings: Mapping[int, Mapping[str, Any]], past: Mapping[int, DurationTotals], before: PastDurations = NOTHING_KNOWN
) -> TaskDurationModel:
    said = {cluster_id: there.get("duration") for cluster_id, there in settings.items()}
    walltimes = {cluster_id: there["walltime"] for cluster_id, there in settings.items()}
    same = DurationTotals(before.done, before.seconds, before.squares)
    return durations(past, said, walltimes, same, before.done / max(1, before.looked_up))
