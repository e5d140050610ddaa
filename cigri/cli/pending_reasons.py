"""`gridstat --why`: what keeps a campaign from more jobs on each of its clusters, and from each queue of the grid."""

from collections.abc import Sequence

from cigri.api_models.pending_reasons import ClusterExplanation, QueueExplanation
from cigri.cli.table_printing import print_table
from cigri.formats.units import localised
from cigri.presentation.formatting import format_time

QUEUES = ("Queue", "Eligible", "Since", "Why not")
REASON_HEADINGS = ("Cluster", "State", "To launch", "Waiting", "Running", "Since", "Why no more")


def print_reasons(reasons: Sequence[ClusterExplanation], headerless: bool) -> None:
    """Two tables: the clusters of the campaign, and all queues of the grid."""
    lines = [
        (row.cluster, row.state, row.to_launch, row.waiting, row.running, format_time(row.since), localised(row.why))
        for row in reasons
        if row.is_used
    ]
    print_table(REASON_HEADINGS, lines, prose=("Why no more",), headerless=headerless)
    print()
    by_name = sorted(reasons, key=_name)
    queues = [
        (queue.place, _verdict(queue), format_time(queue.since), queue.why) for row in by_name for queue in row.queues
    ]
    print_table(QUEUES, queues, prose=("Queue", "Why not"), headerless=headerless)


def _verdict(queue: QueueExplanation) -> str:
    if not queue.buckets:
        return "unknown"
    if 0 < queue.eligible < queue.buckets:
        return f"{queue.eligible} of {queue.buckets} buckets"
    return "yes" if queue.eligible else "no"


def _name(reason: ClusterExplanation) -> str:
    return reason.cluster
