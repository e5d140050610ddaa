"""How many jobs it is useful to have waiting in a cluster's queue: those that can start, and some behind them; pure."""

from math import ceil

from cigri.flow.views.unwanted_jobs import QueueLoad
from cigri.settings.cluster_config import ClusterConfig

PLAIN_FACTOR = 2  # times what is useful
JOBS_OVER = 10  # jobs


def most_useful(queue: QueueLoad, config: ClusterConfig) -> int:
    """Down to so many jobs a queue is to be emptied; never so few that it has to be filled again at once.

    The excess must be plain: what was sent for cores that others have taken since, not what one cycle sends too much.
    """
    width = queue.waiting_cores / queue.waiting if queue.waiting else 1.0
    useful = ceil(queue.free / width) + max(config.keep_waiting, queue.keep)
    return min(config.max_waiting, useful if queue.waiting > PLAIN_FACTOR * useful + JOBS_OVER else config.max_waiting)
