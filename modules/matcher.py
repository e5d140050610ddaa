"""Keeps submit pools fresh: which queues satisfy what jobs demand, again every so often and whenever resources change.

A campaign that leaves its clusters to the grid goes to those that become eligible for it, too.
"""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection

from cigri.eligibility.pools import judge_pools
from cigri.flow.newly_eligible_clusters import add_eligible_clusters
from cigri.flow.submit_pools import StalePool, has_stale, list_campaigns_of, postpone_pool, put_judged, take_stale
from cigri.flow.views.queues import see_queues
from cigri.runtime.failure_isolation import FAULTS, FailureIsolation
from cigri.runtime.pass_context import PassContext, PassReport

MATCHER = "matcher"
POOLS_AT_ONCE = 100  # pools in a transaction


def run_once(tools: PassContext) -> PassReport:
    """Compute all pools that are stale, some at a time."""
    period = tools.settings.resources.refresh
    report: PassReport = Counter()
    with tools.database.begin() as conn:
        if not has_stale(conn, period):
            return report
    while True:
        with tools.database.begin() as conn:
            pools = take_stale(conn, period, POOLS_AT_ONCE)
            report["changed queues of pools"] += _compute(conn, pools) if pools else 0
            report["pools computed"] += len(pools)
        if len(pools) < POOLS_AT_ONCE:
            break
    if report["changed queues of pools"]:
        with tools.database.begin() as conn:
            report["clusters found for campaigns"] = add_eligible_clusters(conn)
    return +report


def _compute(conn: Connection, pools: Sequence[StalePool]) -> int:
    """All as one; if that raises, one by one, so that a pool that raises keeps its queues, and blames its campaigns.

    Give how many queues of pools have changed.
    """
    isolation = FailureIsolation(conn, MATCHER)
    try:
        with conn.begin_nested():
            changed = _judge(conn, pools)
    except FAULTS:
        changed = sum(_compute_one(conn, stale, isolation) for stale in pools)
    isolation.settle(list_campaigns_of(conn, [stale.id for stale in pools]))
    return changed


def _compute_one(conn: Connection, stale: StalePool, isolation: FailureIsolation) -> int:
    try:
        with conn.begin_nested():
            return _judge(conn, [stale])
    except FAULTS as error:
        postpone_pool(conn, stale.id)
        for campaign_id in list_campaigns_of(conn, [stale.id]):
            isolation.fail(campaign_id, error)
    return 0


def _judge(conn: Connection, stale: Sequence[StalePool]) -> int:
    pools = [stale_pool.pool for stale_pool in stale]
    seen = see_queues(conn, {pool.project for pool in pools})
    return put_judged(conn, judge_pools(pools, seen.queues, seen.kinds), seen.version)
