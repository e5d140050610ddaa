"""Gives tasks that have inputs of their own a cluster: their files go there, and they run there."""

from collections import Counter
from itertools import groupby

from sqlalchemy import Connection

from cigri.flow.task_places import forget_places, has_tasks_with_inputs, list_windows, move_places, put_places
from cigri.runtime.pass_context import PassReport
from cigri.settings.sections import Settings
from modules.stager.prefetching import shares_of, size_of

STANDSTILL = 60.0  # seconds that a task waits where its files are, before an idle cluster gets it


def place_tasks(conn: Connection, settings: Settings) -> PassReport:
    """As many as each cluster will soon start; where none is left, some that others have not started."""
    report: PassReport = Counter()
    if not has_tasks_with_inputs(conn):
        return report
    forget_places(conn)
    ahead, still = settings.inputs.ahead, settings.jobs.same_cluster
    for campaign_id, windows in groupby(list_windows(conn), key=lambda window: window.campaign_id):
        together = list(windows)
        shares = shares_of(together, ahead)
        for window in together:
            placed = put_places(conn, campaign_id, window.cluster_id, shares[window.cluster_id])
            report["tasks placed"] += placed
            if not placed and not window.placed:
                most = size_of(window, ahead)
                moved = move_places(conn, campaign_id, window.cluster_id, most, STANDSTILL, still)
                report["tasks moved"] += moved
    return report
