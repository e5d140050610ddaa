"""Kills jobs: those that users gave up, and those that flood a queue, wait too long, outlive a walltime or a drain.

A kill stays open until the updator has seen the job end; without effect it is sent again. What users ask of running
jobs goes the same way: a checkpoint.
"""

import logging
from collections import Counter, defaultdict
from datetime import datetime

from cigri.errors import AnswerUnreadable, TransportError
from cigri.flow.anyone_to_clusters import ClusterRow, grid_key, list_clusters
from cigri.flow.anyone_to_killer import KillOrder, ask_kills, take_kills, unsend_kills
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.updator_to_killer import list_excess, list_past_walltime, list_waiting_too_long
from cigri.flow.user_to_killer import (
    CheckpointOrder,
    put_heard,
    take_checkpoint_orders,
    unsend_checkpoints,
)
from cigri.program import Report, Tools, summed
from cigri.states import EventLevel, KillReason
from cigri.wrapper import Hearing, JobKey, Wish, ask_checkpoints, parse_checkpoints
from modules.killer.drain import drain

logger = logging.getLogger(__name__)

MANY_TRIES = 5


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """Kill on every cluster, one remote command per user."""
    with tools.database.begin() as conn:
        clusters = list_clusters(conn, now=now)
    patience = tools.settings.almighty.patience
    return summed(tools.gateway.visit(clusters, lambda cluster: _visit(tools, cluster, now), patience))


def _visit(tools: Tools, cluster: ClusterRow, now: datetime | None) -> Report:
    report: Report = Counter()
    with tools.database.lock(f"cigri.killer.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        report.update(drain(tools, cluster, now))
        orders: dict[str, list[KillOrder]] = defaultdict(list)
        with tools.database.begin() as conn:
            limits = tools.settings.jobs
            for reason, jobs in (
                (KillReason.FLOOD, list_excess(conn, cluster.id, cluster.config)),
                (KillReason.WAITING_TOO_LONG, list_waiting_too_long(conn, cluster.id, limits.waiting_too_long, now)),
                (KillReason.WALLTIME, list_past_walltime(conn, cluster.id, limits.walltime_slack, now)),
            ):
                report[f"{reason} kills"] += ask_kills(conn, jobs, reason, "killer", now)
            for order in take_kills(conn, cluster.id, limits.verify_kill, now):
                orders[order.local_user].append(order)
        killed = tools.gateway.side_by_side(orders, lambda user: _kill(tools, cluster, user, orders[user], now))
        report["killed jobs"] = sum(killed)
        report["checkpoints heard"] = _ask_checkpoints(tools, cluster, now)
    return +report


def _kill(tools: Tools, cluster: ClusterRow, user: str, orders: list[KillOrder], now: datetime | None) -> int:
    driver = tools.gateway.driver(cluster)
    try:
        driver.parse_cancel(tools.gateway.run(cluster, user, driver.cancel([order.remote_id for order in orders])))
    except (TransportError, AnswerUnreadable) as error:
        with tools.database.begin() as conn:
            unsend_kills(conn, [order.job_id for order in orders])
            _complain(tools, cluster, orders, str(error), now)
        return 0
    if stubborn := [order for order in orders if order.tries >= MANY_TRIES]:
        _complain(tools, cluster, stubborn, f"still there after {MANY_TRIES} kills", now)
    return len(orders)


def _ask_checkpoints(tools: Tools, cluster: ClusterRow, now: datetime | None) -> int:
    """Pass on what users ask of running jobs, and see which have heard it."""
    orders: dict[str, list[CheckpointOrder]] = defaultdict(list)
    with tools.database.begin() as conn:
        for order in take_checkpoint_orders(conn, cluster.id, now):
            orders[order.local_user].append(order)
        base = tools.gateway.base(cluster, grid_key(conn)) if orders else ""
    return sum(tools.gateway.side_by_side(orders, lambda user: _ask(tools, cluster, base, user, orders[user], now)))


def _ask(
    tools: Tools, cluster: ClusterRow, base: str, user: str, orders: list[CheckpointOrder], now: datetime | None
) -> int:
    wishes = [Wish(JobKey(order.campaign_id, order.batch_id, order.array_index), order.is_new) for order in orders]
    try:
        answers = parse_checkpoints(tools.gateway.run(cluster, user, ask_checkpoints(base, wishes)), wishes)
    except (TransportError, AnswerUnreadable) as error:
        logger.warning("Cluster %s: the jobs of %s could not be asked for checkpoints: %s", cluster.name, user, error)
        answers = [Hearing.UNWRITTEN for _ in orders]
    heard = [order.job_id for order, answer in zip(orders, answers, strict=True) if answer is Hearing.HEARD]
    lost = [
        order.job_id
        for order, answer in zip(orders, answers, strict=True)
        if order.is_new and answer in (Hearing.UNWRITTEN, Hearing.ABSENT)
    ]
    with tools.database.begin() as conn:
        put_heard(conn, heard, now)
        unsend_checkpoints(conn, lost)
    return len(heard)


def _complain(tools: Tools, cluster: ClusterRow, orders: list[KillOrder], why: str, now: datetime | None) -> None:
    message = f"{len(orders)} jobs could not be killed (e.g. {orders[0].remote_id}): {why}"
    event = NewEvent("KILL_PROBLEM", EventLevel.WARNING, f"cluster {cluster.name}", message, cluster_id=cluster.id)
    with tools.database.begin() as conn:
        put_events(conn, [event], now)
