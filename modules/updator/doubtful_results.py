"""Looks for sick nodes and for clusters that swallow tasks, whenever tasks of a campaign have ended."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cigri.estimates.durations import added, bin_of
from cigri.flow.clusters import ClusterRow
from cigri.flow.doubtful_results import (
    DoubtfulResults,
    DurationHistogram,
    NodeOutcomes,
    add_running,
    list_node_ends,
    list_spans,
    list_spans_here,
    mark_doubtful,
)
from cigri.flow.ends import EndedAttempt
from cigri.flow.excluded_nodes import admit_nodes, list_excluded, put_exclusion
from cigri.flow.views.queues import count_nodes
from cigri.lifecycle.verdicts import FAULT_OF_TASK
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import Outcome
from modules.updator.sick_nodes import NodeTally, SickNode, find_holes
from modules.updator.sink_clusters import LONGEST_SWALLOWED, QuickEndEvidence, find_sinks

NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")  # of a node; what a job's files say may be anything
BAD = FAULT_OF_TASK | {Outcome.LOST, Outcome.NODE_FAILURE}


class ClusterName(NamedTuple):
    cluster_id: int
    name: str


def detect_doubtful_results(tools: PassContext, cluster: ClusterRow, fresh: Sequence[EndedAttempt]) -> PassReport:
    """What the ends that a visit has just brought tell of this cluster's nodes, and of their campaigns everywhere."""
    report: PassReport = Counter()
    campaigns = {attempt.campaign_id for attempt in fresh}
    if not campaigns:
        return report
    with tools.database.read() as conn:
        here = list_spans_here(conn, campaigns, cluster.id, bin_of(LONGEST_SWALLOWED))
    suspected = here[0].suspected if here else []
    report["results doubted"] += sum(_go_on(tools, campaign.span, suspected, fresh) for campaign in here)
    failing = {attempt.campaign_id for attempt in fresh if attempt.outcome in BAD}
    mixed = {campaign.span.campaign_id for campaign in here if campaign.is_mixed}
    if not suspected and not failing and not mixed:
        return +report
    judged = campaigns if suspected else failing | mixed
    with tools.database.read() as conn:
        spans = add_running(conn, [campaign.span for campaign in here if campaign.span.campaign_id in judged])
    report.update(_judge_nodes(tools, ClusterName(cluster.id, cluster.name), spans))
    for campaign_id in sorted(mixed):
        report.update(_judge_clusters(tools, _read(tools, {campaign_id})))
    return +report


def _read(tools: PassContext, campaigns: Collection[int]) -> list[DurationHistogram]:
    with tools.database.read() as conn:
        return add_running(conn, list_spans(conn, campaigns))


def _go_on(
    tools: PassContext, span: DurationHistogram, suspected: Collection[str], fresh: Sequence[EndedAttempt]
) -> int:
    """Where results were doubted before, doubt those of the attempts that have ended since as soon; give how many."""
    below = span.doubted_below
    if below is None or not (span.is_sink or suspected):
        return 0
    done = [attempt for attempt in fresh if attempt.campaign_id == span.campaign_id]
    jobs = {attempt.job_id for attempt in done if attempt.outcome is Outcome.SUCCESS and (attempt.seconds or 0) < below}
    if not jobs:
        return 0
    where = "there" if span.is_sink else f"on {', '.join(suspected)}"
    why = f"Tasks end within {below:.3g} s {where}, and last elsewhere"
    nodes = None if span.is_sink else suspected
    doubted = DoubtfulResults(span.campaign_id, span.cluster_id, span.cluster, below, nodes, why)
    with tools.database.begin() as conn:
        return mark_doubtful(conn, doubted, job_ids=jobs)


def _judge_nodes(tools: PassContext, place: ClusterName, here: Sequence[DurationHistogram]) -> PassReport:
    """Leave sick nodes out, as many as may be, and doubt what ended at once on them."""
    with tools.database.begin() as conn:
        ends = [end for span in here for end in list_node_ends(conn, place.cluster_id, span.campaign_id)]
        out = list_excluded(conn, place.cluster_id)
        there = count_nodes(conn, place.cluster_id)
    tallies = [tally for tally in _tallies(ends, here) if NODE_NAME.fullmatch(tally.node)]
    elsewhere = _elsewhere(tools, place, {tally.campaign_id for tally in tallies if tally.is_quick or tally.on_trial})
    verdicts = find_holes(tallies, elsewhere, [span.campaign_id for span in here if span.is_trusted])
    nodes = max(there, len({tally.node for tally in tallies} | set(out)))
    most = min(int(tools.settings.nodes.share * nodes), nodes - 1) - len(out)
    report: PassReport = Counter()
    with tools.database.begin() as conn:
        report["nodes healed"] = admit_nodes(conn, place.cluster_id, place.name, verdicts.healed, "cigri")
    for hole in verdicts.holes[: max(0, most)]:
        report.update(_leave_out(tools, place, hole))
    return report


def _elsewhere(tools: PassContext, place: ClusterName, campaigns: Collection[int]) -> dict[int, list[list[int]]]:
    """How long the tasks of these campaigns last on each of their other clusters."""
    elsewhere: dict[int, list[list[int]]] = {campaign_id: [] for campaign_id in campaigns}
    for span in _read(tools, campaigns) if campaigns else ():
        if span.cluster_id != place.cluster_id:
            elsewhere[span.campaign_id].append(_all(span))
    return elsewhere


def _tallies(ends: Sequence[NodeOutcomes], spans: Sequence[DurationHistogram]) -> list[NodeTally]:
    """With what runs now, also on nodes where nothing has ended yet."""
    running = {(span.campaign_id, node): counts for span in spans for node, counts in span.running.items()}
    tallies = [
        NodeTally(
            end.campaign_id, end.node, end.durations, end.bad, running.pop((end.campaign_id, end.node), ()), trial
        )
        for end in ends
        for trial in [end.on_trial]
    ]
    return tallies + [NodeTally(campaign_id, node, (), 0, counts) for (campaign_id, node), counts in running.items()]


def _all(span: DurationHistogram) -> list[int]:
    """Durations of those that ended and of those that run so far, in bins (cigri/estimates/durations.py)."""
    return added([span.durations, *span.running.values()])


def _leave_out(tools: PassContext, place: ClusterName, hole: SickNode) -> PassReport:
    report: PassReport = Counter()
    with tools.database.begin() as conn:
        for campaign_id, below in sorted(hole.doubted.items()):
            why = f"Tasks ended within {below:.3g} s on node {hole.node}, and last elsewhere"
            doubted = DoubtfulResults(campaign_id, place.cluster_id, place.name, below, [hole.node], why)
            report["results doubted"] += mark_doubtful(conn, doubted)
        excluded = put_exclusion(conn, *place, hole.node, str(hole), tools.settings.nodes)
        report["nodes left out"] += excluded
    return report


def _judge_clusters(tools: PassContext, spans: Sequence[DurationHistogram]) -> PassReport:
    """Where one node is to blame, the others are not; else the cluster is set aside for the campaign."""
    report: PassReport = Counter()
    for cluster_id in _sinks(spans):
        span = next(span for span in spans if span.cluster_id == cluster_id)
        report.update(_judge_nodes(tools, ClusterName(cluster_id, span.cluster), [span]))
        spans = _read(tools, {span.campaign_id})
        if (doubt := _sinks(spans).get(cluster_id)) is None:
            continue
        why = f"{doubt.quick} of {doubt.ended} tasks ended within {doubt.below:.3g} s, elsewhere they last"
        why += f" {doubt.usual:.0f} s"
        doubted = DoubtfulResults(span.campaign_id, cluster_id, span.cluster, doubt.below, None, why)
        with tools.database.begin() as conn:
            report["results doubted"] += mark_doubtful(conn, doubted)
        report["sinks"] += 1
    return report


def _sinks(spans: Sequence[DurationHistogram]) -> dict[int, QuickEndEvidence]:
    on_trial = {span.cluster_id for span in spans if span.doubted_below is not None}
    doubts = find_sinks({span.cluster_id: _all(span) for span in spans}, on_trial)
    settled = {span.cluster_id for span in spans if span.is_sink or span.is_trusted}
    return {cluster_id: doubt for cluster_id, doubt in doubts.items() if cluster_id not in settled}
