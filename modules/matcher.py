"""Keeps submit pools fresh: which queues satisfy what jobs demand, again every so often and whenever resources change.

A campaign that leaves its clusters to the grid goes to those that become eligible for it, too.
"""

from collections import Counter
from datetime import datetime

from cigri.flow.anyone_to_matcher import has_stale, put_verdicts, take_stale
from cigri.flow.matcher_to_metascheduler import put_places
from cigri.program import Report, Tools

AT_ONCE = 100  # pools in a transaction


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """Compute all pools that are stale, some at a time."""
    period = tools.settings.resources.refresh
    report: Report = Counter()
    with tools.database.begin() as conn:
        if not has_stale(conn, period, now):
            return report
    while True:
        with tools.database.begin() as conn:
            pools = take_stale(conn, period, AT_ONCE, now)
            report["changed queues of pools"] += put_verdicts(conn, pools, now)
            report["pools computed"] += len(pools)
        if len(pools) < AT_ONCE:
            break
    if report["changed queues of pools"]:
        with tools.database.begin() as conn:
            report["clusters found for campaigns"] = put_places(conn, now)
    return +report
