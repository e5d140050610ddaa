"""Steers the jobs on clusters: kills them, holds and suspends them, lets them go on; one remote command per user.

Killed are those that users gave up, and those that flood a queue, wait too long, outlive walltime, hours or drain, or
never started in their walltime.
A wish stays open until the updator has seen it fulfilled; without effect it is sent again. What users ask of running
jobs goes the same way: a checkpoint.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.errors import DatabaseUnavailable, TransportError, UnreadableOutput, is_login_refused
from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.flow.cluster_visits import put_account_failure
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.events import NewEvent, put_events
from cigri.flow.kill_requests import (
    KILL_PROBLEM,
    DueKill,
    claim_due_kills,
    close_kill_problems,
    list_clusters_with_requests,
    mark_kills_unsent,
    request_kills,
)
from cigri.flow.suspensions import DueSuspension, claim_due_suspensions, has_suspensions, unsend_halts
from cigri.flow.views.operating_hours import list_out_of_hours
from cigri.flow.views.unwanted_jobs import WaitLimits, list_queues, list_unwanted
from cigri.gateway.requests import CancelJobs, ControlJobs
from cigri.runtime.failure_isolation import described, isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport, combine_reports
from cigri.states import EventLevel, KillReason
from modules.killer.checkpoints import pass_on_checkpoints
from modules.killer.drain import drain
from modules.killer.queue_length import most_useful
from modules.killer.suspensions import group_by_control, steerable, tell_result

logger = logging.getLogger(__name__)

MANY_KILLS = 5
GRID_REASONS = (  # of several that hold for a job the first one counts
    KillReason.FLOOD,
    KillReason.WAITING_TOO_LONG,
    KillReason.HOURS,
    KillReason.NOT_STARTED,
    KillReason.WALLTIME,
)


class DueJobControls(NamedTuple):
    """What shall become of one user's jobs on a cluster."""

    kills: list[DueKill]
    halts: list[DueSuspension]


def run_once(tools: PassContext) -> PassReport:
    """Steer the jobs of the clusters of which anybody wishes something, be it the grid itself."""
    with tools.database.begin() as conn:
        clusters = list_clusters(conn, "killer")
        report = _ask(conn, tools, clusters) if clusters else Counter()
        close_kill_problems(conn)
        with_halts = has_suspensions(conn)
        wished = {cluster.id for cluster in clusters} if with_halts else list_clusters_with_requests(conn)
    steered = [cluster for cluster in clusters if cluster.id in wished]
    patience = tools.settings.almighty.patience
    visit = isolated_visit(tools, "killer", lambda cluster: _visit(tools, cluster, with_halts))
    report += combine_reports(tools.gateway.visit(steered, visit, patience))
    return report


def _ask(conn: Connection, tools: PassContext, clusters: Sequence[ClusterRow]) -> PassReport:
    """Ask for the kills that nobody but the grid asks for."""
    report: PassReport = Counter()
    limits = tools.settings.jobs
    patience = WaitLimits(limits.waiting_too_long, limits.walltime_slack, limits.moves)
    queues = {queue.cluster_id: queue for queue in list_queues(conn)}
    max_waiting = {
        cluster.id: (
            cluster.config.max_waiting,
            most_useful(queues[cluster.id], cluster.config) if cluster.id in queues else LARGEST_INTEGER,
        )
        for cluster in clusters
    }
    unwanted: dict[KillReason, list[int]] = defaultdict(list)
    for job_id, reason in list_unwanted(conn, max_waiting, patience):
        unwanted[reason].append(job_id)
    for cluster_id, leaving in list_out_of_hours(conn, tools.settings.hours).items():
        unwanted[KillReason.HOURS] += leaving if cluster_id in max_waiting else ()
    for reason in GRID_REASONS:
        report[f"{reason} kills"] += request_kills(conn, unwanted[reason], reason, "killer")
    return report


def _visit(tools: PassContext, cluster: ClusterRow, with_halts: bool) -> PassReport:
    report: PassReport = Counter()
    with tools.database.lock(f"cigri.killer.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        report.update(drain(tools, cluster))
        orders: dict[str, DueJobControls] = defaultdict(lambda: DueJobControls([], []))
        verify_after = tools.settings.jobs.verify_kill
        with tools.database.begin() as conn:
            for kill in claim_due_kills(conn, cluster.id, verify_after):
                orders[kill.local_user].kills.append(kill)
            states = steerable(tools.gateway.controls(cluster)) if with_halts else ()
            for halt in claim_due_suspensions(conn, cluster.id, states, verify_after) if with_halts else ():
                orders[halt.local_user].halts.append(halt)
        sent = tools.gateway.run_concurrently(cluster, orders, lambda user: _send(tools, cluster, user, orders[user]))
        for of_user in sent.in_time:
            report.update(of_user)
        if sent.not_begun:
            _put_off(tools, [orders[user] for user in sent.not_begun])
        report["checkpoints heard"] = pass_on_checkpoints(tools, cluster)
    return +report


def _send(tools: PassContext, cluster: ClusterRow, user: str, orders: DueJobControls) -> PassReport:
    """What goes wrong with one account is no other's trouble."""
    try:
        return _steer(tools, cluster, user, orders)
    except DatabaseUnavailable:
        raise
    except Exception as error:  # a fault of ours that what this account answers brings out
        logger.exception("Cluster %s: what account %s answers cannot be dealt with", cluster.name, user)
        why = f"CiGri fails on what it answers: {described(error)}"
        _give_up(tools, cluster, orders.kills, why)
        with tools.database.begin() as conn:
            unsend_halts(conn, [order.job_id for order in orders.halts])
            put_account_failure(conn, cluster, user, why)
        return Counter()


def _steer(tools: PassContext, cluster: ClusterRow, user: str, orders: DueJobControls) -> PassReport:
    """Everything for one user in one remote command."""
    cancel = CancelJobs([order.remote_id for order in orders.kills])
    halts = group_by_control(orders.halts)
    steers = {ControlJobs(verb, [order.remote_id for order in halts[verb]]): halts[verb] for verb in halts}
    report: PassReport = Counter()
    try:
        answers = tools.gateway.request_all(cluster, user, [*([cancel] if orders.kills else []), *steers])
    except (TransportError, UnreadableOutput) as error:
        _give_up(tools, cluster, orders.kills, str(error))
        with tools.database.begin() as conn:
            unsend_halts(conn, [order.job_id for order in orders.halts])
            if is_login_refused(error):
                put_account_failure(conn, cluster, user, str(error), is_login_refused=True)
        return report
    if orders.kills:
        try:
            answers.of(cancel)
            report["killed jobs"] = len(orders.kills)
            _complain_of_stubborn(tools, cluster, orders.kills)
        except UnreadableOutput as error:
            _give_up(tools, cluster, orders.kills, str(error))
    for steer, steered in steers.items():
        report.update(tell_result(tools, cluster, steer, steered, answers))
    return report


def _put_off(tools: PassContext, orders: Sequence[DueJobControls]) -> None:
    """These were not sent, as their accounts are still at work: they are due again at the next pass."""
    with tools.database.begin() as conn:
        mark_kills_unsent(conn, [kill.job_id for order in orders for kill in order.kills], were_tried=False)
        unsend_halts(conn, [halt.job_id for order in orders for halt in order.halts], were_tried=False)


def _complain_of_stubborn(tools: PassContext, cluster: ClusterRow, orders: Sequence[DueKill]) -> None:
    if stubborn := [order for order in orders if order.tries >= MANY_KILLS]:
        _complain(tools, cluster, stubborn, f"still there after {MANY_KILLS} kills")


def _give_up(tools: PassContext, cluster: ClusterRow, orders: Sequence[DueKill], why: str) -> None:
    """Nothing was killed this time: the kills are due again at the next pass, and an event says why."""
    if not orders:
        return
    with tools.database.begin() as conn:
        mark_kills_unsent(conn, [order.job_id for order in orders])
    _complain(tools, cluster, orders, why)


def _complain(tools: PassContext, cluster: ClusterRow, orders: Sequence[DueKill], why: str) -> None:
    message = f"{len(orders)} jobs could not be killed (e.g. {orders[0].remote_id}): {why}"
    event = NewEvent(KILL_PROBLEM, EventLevel.WARNING, f"cluster {cluster.name}", message, cluster_id=cluster.id)
    with tools.database.begin() as conn:
        put_events(conn, [event])
