"""What of the jobs to launch of an account has room in a queue with a limit; pure."""

from collections.abc import Sequence

from cigri.flow.launches import LaunchGroup
from cigri.flow.queue_limits import AccountRoom


def fit(launches: Sequence[LaunchGroup], room: AccountRoom | None) -> list[LaunchGroup]:
    """The first ones, the last of them perhaps in part; what is left out waits for another pass."""
    if room is None:
        return list(launches)
    if room.counts_arrays:
        return list(launches[: room.left])
    left, chosen = room.left, []
    for launch in launches:
        if left <= 0:
            break
        chosen.append(launch._replace(jobs=launch.jobs[:left]))
        left -= len(chosen[-1].jobs)
    return chosen
