"""What the tasks of a campaign use on each cluster, and what that says of what they ask for."""

import math
from collections.abc import Iterator, Sequence

from cigri.api_models.campaigns import CampaignClusterView
from cigri.cli.table_printing import print_fields, print_table
from cigri.presentation.formatting import format_duration, format_size

PROFILE_COLUMNS = ("Cluster", "Tasks", "CPU", "most", "Cores busy", "Read", "most", "Written", "most")
SHORTEST_PROFILED = 5.0  # seconds on the mean: what shorter tasks use is mostly to begin and to end
FEWEST_PROFILED = 5  # tasks, before anything is said of them all


def print_profiles(parts: Sequence[CampaignClusterView], headerless: bool) -> None:
    """A line for each cluster where tasks have told what they used; nothing where none has, or they are too short."""
    told = [part for part in parts if part.profiled and (part.mean or 0.0) >= SHORTEST_PROFILED]
    if told:
        print()
        print_table(PROFILE_COLUMNS, [*map(_row, told)], headerless=headerless)
    if advice := [(part.cluster, text) for part in told for text in _advice(part)]:
        print_fields(advice)


def _row(part: CampaignClusterView) -> tuple[object, ...]:
    busy = "" if part.busy is None else f"{part.busy:.1f} of {part.width}"
    amounts = (part.bytes_read, part.most_read, part.bytes_written, part.most_written)
    sizes = [None if amount is None else format_size(amount) for amount in amounts]
    return (part.cluster, part.profiled, format_duration(part.cpu), format_duration(part.most_cpu), busy, *sizes)


def _advice(part: CampaignClusterView) -> Iterator[str]:
    """Where half of the cores would do; a tenth of one more is the system's."""
    if part.busy is None or part.profiled < FEWEST_PROFILED:
        return
    enough = max(1, math.ceil(part.busy - 0.1))
    if 2 * enough <= part.width:
        yield (
            f"a task asks for {part.width} cores and keeps {part.busy:.1f} busy: with fewer in `resources`, "
            f"as {enough}, more of them run at a time"
        )
