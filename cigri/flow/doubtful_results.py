"""Doubts: results that came too soon count no longer, until somebody says.
Given by: updator; taken by: updator.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Double,
    Integer,
    Row,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import IDS, values_table
from cigri.estimates.durations import counted
from cigri.flow.campaign_totals import changed_totals, totals
from cigri.flow.events import NewEvent, put_events
from cigri.flow.task_durations import relearn_durations
from cigri.flow.views.cluster_service import bin_in_sql
from cigri.lifecycle.verdicts import FREE
from cigri.states import EventLevel, JobKind, JobState, Outcome
from cigri.tables.campaigns import CampaignCluster, Completion
from cigri.tables.clusters import Cluster, ExcludedNode
from cigri.tables.jobs import Attempt, Job
from cigri.tables.transitions import transition_to

DOUBTED = "RESULTS_DOUBTED"
LATEST = 3000  # ended tasks of a campaign on a cluster that are looked at, node by node

NOT_BAD = (
    *FREE,
    Outcome.SUCCESS,
    Outcome.DOUBTFUL,
    Outcome.RESUBMIT,
    Outcome.RESUBMIT_END,
    Outcome.CHECKPOINTED,
    Outcome.PREEMPTED,
    Outcome.KILLED,
    Outcome.SUPERSEDED,
)
SHORTEST_HEALTHY_RUN = 10.0  # seconds


class DurationHistogram(NamedTuple):
    """How long a campaign's tasks lasted on a cluster, in the bins of estimates/durations.py, without the doubted ones.

    `running`: how long, for some time already, those run that run, by node.
    """

    campaign_id: int
    cluster_id: int
    cluster: str
    durations: list[int]
    doubted_below: float | None
    is_sink: bool
    is_trusted: bool
    running: Mapping[str, list[int]] = MappingProxyType({})


class VisitedHistogram(NamedTuple):
    """`is_mixed`: somewhere, where it is not trusted, tasks of the campaign ended suspiciously soon.

    `suspected`: the cluster's nodes that get no job now, or are on trial.
    """

    span: DurationHistogram
    is_mixed: bool
    suspected: list[str]


class NodeOutcomes(NamedTuple):
    """The latest ends of a campaign's tasks on a node; `on_trial`: they came after its exclusion had expired."""

    campaign_id: int
    node: str
    durations: list[int]
    bad: int
    on_trial: bool


class DoubtfulResults(NamedTuple):
    """Successes of a campaign on a cluster that took less than `below` seconds: on these `nodes`, or (None) on all."""

    campaign_id: int
    cluster_id: int
    cluster: str
    below: float
    nodes: Collection[str] | None
    why: str


def list_spans(conn: Connection, campaign_ids: Collection[int]) -> list[DurationHistogram]:
    """One for each of these campaigns on each of its clusters."""
    return [_span(row) for row in conn.execute(_spans(), {"campaigns": sorted(campaign_ids)})]


def list_spans_here(
    conn: Connection, campaign_ids: Collection[int], cluster_id: int, bins: int
) -> list[VisitedHistogram]:
    """Those of these campaigns on one cluster; durations in the first `bins` bins are suspicious."""
    parameters = {"campaigns": sorted(campaign_ids), "here": cluster_id, "bins": bins}
    return [
        VisitedHistogram(_span(row), row.is_mixed, row.suspected) for row in conn.execute(_spans_here(), parameters)
    ]


def _span(row: Row[*tuple[Any, ...]]) -> DurationHistogram:
    return DurationHistogram(
        campaign_id=row.campaign_id,
        cluster_id=row.cluster_id,
        cluster=row.cluster,
        durations=row.durations,
        doubted_below=row.doubted_below,
        is_sink=row.is_sink,
        is_trusted=row.is_trusted,
    )


@cache
def _spans() -> Select[*tuple[Any, ...]]:
    part = CampaignCluster.c
    return (
        select(
            part.campaign_id,
            part.cluster_id,
            Cluster.c.name.label("cluster"),
            part.durations,
            part.doubted_below,
            part.sink_since.is_not(None).label("is_sink"),
            part.is_trusted,
        )
        .join(Cluster, Cluster.c.id == part.cluster_id)
        .where(part.campaign_id == func.any(bindparam("campaigns", type_=ARRAY(BigInteger))))
        .order_by(part.campaign_id, part.cluster_id)
    )


@cache
def _spans_here() -> Select[*tuple[Any, ...]]:
    """The totals of all clusters are looked at where they are: of many clusters they would be much to carry."""
    anywhere = CampaignCluster.alias("anywhere")
    quick = anywhere.c.durations[1 : bindparam("bins", type_=Integer)]
    is_mixed = select(anywhere.c.cluster_id).where(
        anywhere.c.campaign_id == CampaignCluster.c.campaign_id, ~anywhere.c.is_trusted, literal(0) != func.any(quick)
    )
    here = bindparam("here", type_=BigInteger)
    sick = select(ExcludedNode.c.node).where(ExcludedNode.c.cluster_id == here).order_by(ExcludedNode.c.node)
    suspected = func.array(sick.scalar_subquery(), type_=ARRAY(Text))
    more = is_mixed.exists().label("is_mixed"), suspected.label("suspected")
    return _spans().add_columns(*more).where(CampaignCluster.c.cluster_id == here)


def add_running(conn: Connection, spans: Sequence[DurationHistogram]) -> list[DurationHistogram]:
    """With tasks that, alone in their jobs, had run for SHORTEST_HEALTHY_RUN at the cluster's last visit."""
    other = Attempt.alias()
    is_shared = select(other.c.task_id).where(other.c.job_id == Job.c.id, other.c.position == 2).exists()
    lasted = cast(func.extract("epoch", Cluster.c.visited_at - Job.c.started_at), Double)
    node, place = func.coalesce(Job.c.node, ""), bin_in_sql(lasted)
    runs = conn.execute(
        select(Job.c.campaign_id, Job.c.cluster_id, node, place, func.count())
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .where(Job.c.campaign_id.in_({span.campaign_id for span in spans}), Job.c.state == JobState.RUNNING)
        .where(Job.c.cluster_id.in_({span.cluster_id for span in spans}))
        .where(Job.c.kind == JobKind.TASKS, lasted >= SHORTEST_HEALTHY_RUN, Job.c.halted_since.is_(None), ~is_shared)
        .group_by(Job.c.campaign_id, Job.c.cluster_id, node, place)
    )
    running: dict[tuple[int, int], dict[str, list[int]]] = {}
    for campaign_id, cluster_id, name, bin_, number in runs:
        counts = running.setdefault((campaign_id, cluster_id), {}).setdefault(name or "", [])
        counts += [0] * (bin_ + 1 - len(counts))
        counts[bin_] = number
    return [span._replace(running=running.get((span.campaign_id, span.cluster_id), {})) for span in spans]


def list_node_ends(conn: Connection, cluster_id: int, campaign_id: int) -> list[NodeOutcomes]:
    """The latest of a campaign on a cluster; of a node that was excluded, those of jobs that were made since.

    What is doubted counts for a node on trial, where it is doubted as soon as it has ended.
    """
    sick, is_doubted = ExcludedNode, Attempt.c.outcome == Outcome.DOUBTFUL
    latest = (
        select(Job.c.node, Attempt.c.outcome, Attempt.c.seconds, sick.c.node.is_not(None).label("on_trial"))
        .join(Attempt, Attempt.c.job_id == Job.c.id)
        .outerjoin(sick, and_(sick.c.cluster_id == Job.c.cluster_id, sick.c.node == Job.c.node))
        .where(Job.c.campaign_id == campaign_id, Job.c.cluster_id == cluster_id, Job.c.node.is_not(None))
        .where(Attempt.c.outcome.is_not(None), Attempt.c.outcome.not_in(FREE))
        .where(or_(and_(sick.c.node.is_(None), ~is_doubted), Job.c.created_at > sick.c.until))
        .order_by(Job.c.id.desc())
        .limit(LATEST)
    )
    ends: dict[str, tuple[list[float], int, bool]] = {}
    for place, outcome, seconds, on_trial in conn.execute(latest):
        node = place or ""
        lasted, bad, _ = ends.get(node, ([], 0, False))
        if outcome in (Outcome.SUCCESS, Outcome.DOUBTFUL):
            lasted.append(seconds or 0.0)
        ends[node] = lasted, bad + (outcome not in NOT_BAD), on_trial
    return [NodeOutcomes(campaign_id, node, counted(lasted), bad, trial) for node, (lasted, bad, trial) in ends.items()]


def mark_doubtful(conn: Connection, doubted: DoubtfulResults, *, job_ids: Collection[int] | None = None) -> int:
    """Mark these results, of these jobs only if given, and give their number; all nodes: the cluster is set aside."""
    part = CampaignCluster
    here = and_(part.c.campaign_id == doubted.campaign_id, part.c.cluster_id == doubted.cluster_id, ~part.c.is_trusted)
    is_sink = literal(doubted.nodes is None)
    values = {
        "doubted_below": func.greatest(part.c.doubted_below, doubted.below),
        "sink_since": case((is_sink, func.coalesce(part.c.sink_since, func.now())), else_=part.c.sink_since),
    }
    if not conn.execute(update(part).where(here).values(values).returning(part.c.campaign_id)).all():
        return 0  # somebody has just said that they are right
    lasted = _mark(conn, doubted, job_ids)
    if lasted:
        _take_out(conn, here, lasted)
        relearn_durations(conn, doubted.campaign_id, doubted.cluster_id)
    if lasted or job_ids is None:
        _tell(conn, doubted)
    return len(lasted)


def _mark(conn: Connection, doubted: DoubtfulResults, job_ids: Collection[int] | None) -> list[float]:
    chosen = [Job.c.campaign_id == doubted.campaign_id, Job.c.cluster_id == doubted.cluster_id]
    if doubted.nodes is not None:
        chosen.append(Job.c.node.in_(doubted.nodes))
    if job_ids is not None:
        wanted = values_table("wanted", IDS, [(job_id,) for job_id in job_ids])
        chosen.append(Job.c.id.in_(select(wanted.c.id)))
    marked = conn.execute(
        transition_to(Attempt.c.outcome, Outcome.DOUBTFUL)
        .where(Attempt.c.job_id == Job.c.id, *chosen)
        .where(func.coalesce(Attempt.c.seconds, 0.0) < doubted.below)
        .returning(Attempt.c.seconds)
    )
    return [seconds or 0.0 for seconds in marked.scalars()]


def _take_out(conn: Connection, here: ColumnElement[bool], lasted: Sequence[float]) -> None:
    """Take these durations out of the totals, and of the completions of each minute the same part as of all."""
    part, number = CampaignCluster, len(lasted)
    kept = cast(part.c.done - number, Double) / func.greatest(part.c.done, 1)
    same = and_(Completion.c.campaign_id == part.c.campaign_id, Completion.c.cluster_id == part.c.cluster_id)
    left = cast(func.round(Completion.c.tasks * kept), BigInteger)
    conn.execute(update(Completion).where(same, here).values(tasks=left))
    values = changed_totals() | {"doubted": part.c.doubted + number}
    conn.execute(update(part).where(here).values(values), totals(lasted, -1))


def _tell(conn: Connection, doubted: DoubtfulResults) -> None:
    part = CampaignCluster
    here = and_(part.c.campaign_id == doubted.campaign_id, part.c.cluster_id == doubted.cluster_id)
    number = conn.scalar(select(part.c.doubted).where(here))
    words = f"{doubted.why}. {number} results are doubted"
    aside = ", and the cluster is set aside for this campaign" if doubted.nodes is None else ""
    advice = "`gridevents --fix` believes them; with --resubmit the tasks are done again"
    event = NewEvent(
        DOUBTED,
        EventLevel.ERROR,
        f"campaign {doubted.campaign_id} on {doubted.cluster}",
        f"{words}{aside}; {advice}",
        doubted.campaign_id,
        doubted.cluster_id,
    )
    put_events(conn, [event])
