"""Checkpoints that users ask of running jobs: the request is left beside each task, and the wrapper tells who heard."""

import logging
from collections import defaultdict

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.checkpoint_requests import (
    DueCheckpoint,
    record_checkpoint_states,
    take_checkpoint_orders,
    unsend_checkpoints,
)
from cigri.flow.clusters import ClusterRow
from cigri.flow.grid_identity import grid_key
from cigri.gateway.requests import RequestCheckpoints
from cigri.runtime.pass_context import PassContext
from cigri.wrapper import CheckpointRequestFile, CheckpointRequestState, JobKey

logger = logging.getLogger(__name__)


def pass_on_checkpoints(tools: PassContext, cluster: ClusterRow) -> int:
    """Pass on what users ask of running jobs, and see which have heard it."""
    orders: dict[str, list[DueCheckpoint]] = defaultdict(list)
    with tools.database.begin() as conn:
        for order in take_checkpoint_orders(conn, cluster.id):
            orders[order.local_user].append(order)
        key = grid_key(conn) if orders else ""
    asked = tools.gateway.run_concurrently(cluster, orders, lambda user: _ask(tools, cluster, key, user, orders[user]))
    put_off = [order.job_id for user in asked.not_begun for order in orders[user] if order.is_new]
    if put_off:
        with tools.database.begin() as conn:
            unsend_checkpoints(conn, put_off)
    return sum(asked.in_time)


def _ask(tools: PassContext, cluster: ClusterRow, key: str, user: str, orders: list[DueCheckpoint]) -> int:
    wishes = [
        CheckpointRequestFile(JobKey(order.campaign_id, order.batch_id, order.array_index), order.is_new)
        for order in orders
    ]
    try:
        answers = tools.gateway.request(cluster, user, RequestCheckpoints(key, wishes))
    except (TransportError, UnreadableOutput) as error:
        logger.warning("Cluster %s: the jobs of %s could not be asked for checkpoints: %s", cluster.name, user, error)
        answers = [CheckpointRequestState.UNWRITTEN for _ in orders]
    heard = [
        order.job_id for order, answer in zip(orders, answers, strict=True) if answer is CheckpointRequestState.HEARD
    ]
    lost = [
        order.job_id
        for order, answer in zip(orders, answers, strict=True)
        if order.is_new and answer in (CheckpointRequestState.UNWRITTEN, CheckpointRequestState.ABSENT)
    ]
    with tools.database.begin() as conn:
        record_checkpoint_states(conn, heard)
        unsend_checkpoints(conn, lost)
    return len(heard)
