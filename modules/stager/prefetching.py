"""How many tasks are given a place on each cluster, ahead of need: as many as it will soon start; pure.

The files of a task go to one cluster. With too few there cores stay idle; with too many, files lie where no task runs.
"""

from collections.abc import Sequence
from math import ceil

from cigri.flow.task_places import PlacementWindow

FEWEST = 10  # tasks; a cluster of one core has some, too
MOST = 20_000  # tasks
AHEAD = 300.0  # seconds of computing for which there is something, if it is known how long tasks take


def size_of(window: PlacementWindow, tasks_a_core: float) -> int:
    """Tasks that are to wait there, as many for each job that has room."""
    rounds = max(tasks_a_core, AHEAD / window.mean if window.mean else 0.0)
    return min(MOST, max(FEWEST, ceil(rounds * window.cores / window.width)))


def shares_of(windows: Sequence[PlacementWindow], tasks_a_core: float) -> dict[int, int]:
    """Of one campaign, how many more tasks each cluster gets; where too few are left, each gets a part of them."""
    wanted = {window.cluster_id: max(0, size_of(window, tasks_a_core) - window.placed) for window in windows}
    total, left = sum(wanted.values()), max(0, windows[0].unplaced)
    if total <= left:
        return wanted
    shares = {}
    for cluster_id, number in wanted.items():
        shares[cluster_id] = min(left, ceil(number * left / total)) if total else 0
        left, total = left - shares[cluster_id], total - number
    return shares
