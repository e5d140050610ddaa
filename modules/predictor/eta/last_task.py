"""When the last of many tasks ends; pure.

The chance that all have ended is the product of the chances that each has: tasks are thought to last independently of
each other, by the same lifetimes, divided by the speed of their cluster. Of those that run it is known for how long
they have. The others begin one after the other where those end, at a steady rate, until the last has begun: those of
them that have not ended are a Poisson number, of which none is left with probability e^-mean.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modules.predictor.lifetimes import TaskLifetimes

RARE = 1e-6  # part of the tasks of which nothing is known
NEVER_IN_LOGS = -9.0  # logarithm of a chance that counts as none
NEARLY_SURE = 0.03  # to this part of it an end is looked for
SOONEST = 1e-3  # seconds
HALVINGS = 64  # at most, to find it: some ends are farther than any number tells


class RunningTasks(NamedTuple):
    """So many tasks run for `age` seconds (None: unknown), on a cluster so many times as fast as the mean."""

    tasks: int
    speed: float = 1.0
    age: float | None = None


class TaskBag(NamedTuple):
    """Tasks of a campaign: how long they last at the mean speed, what runs, and seconds until the last has begun.

    `replicas`: the speed at which the last tasks are begun a second time, if they are.
    """

    lifetimes: TaskLifetimes
    running: Sequence[RunningTasks]
    starting: float
    replicas: float | None = None


def last_end(bag: TaskBag, chance: float) -> float:
    """Seconds after which all have ended with this chance: a doubling search, and bisection, to NEARLY_SURE of it."""
    places = Counter[float]()
    for tasks in bag.running:
        places[tasks.speed] += tasks.tasks
    early, late = bag.starting, bag.starting + max(bag.lifetimes.mean, SOONEST)
    for _ in range(HALVINGS):
        if _all_ended(bag, places, late) >= chance:
            break
        early, late = late, bag.starting + 2 * (late - bag.starting)
    for _ in range(HALVINGS):
        if late - early <= max(NEARLY_SURE * (late - bag.starting), SOONEST):
            break
        middle = (early + late) / 2
        early, late = (early, middle) if _all_ended(bag, places, middle) >= chance else (middle, late)
    return late


def _all_ended(bag: TaskBag, places: Mapping[float, int], seconds: float) -> float:
    """The chance that all have; `places`: so many run side by side at each speed.

    On each place tasks begin at speed / mean a second until `starting`. One begun x seconds ago goes on with
    probability U(speed x) (Lifetimes.unfinished), so that of all of them (beyond(speed after) - beyond(speed seconds))
    / mean go on, after = seconds - starting. A replica begins at `starting` and has done `replica` of the same work by
    now: a task goes on if it is longer than what either attempt has done; up to an age of `until` that is the replica.
    """
    lifetimes, after = bag.lifetimes, seconds - bag.starting
    replica = bag.replicas * after if bag.replicas else 0.0
    logarithm = 0.0
    for speed, tasks in places.items() if bag.starting else ():
        until = min(max(replica / speed, after), seconds)
        new = (until - after) * speed * lifetimes.unfinished(replica) if until > after else 0.0
        new += lifetimes.beyond(speed * until) - lifetimes.beyond(speed * seconds)
        logarithm -= tasks * max(new, 0.0) / lifetimes.mean
    for tasks, speed, age in bag.running:
        if logarithm < NEVER_IN_LOGS:
            return 0.0
        logarithm += tasks * math.log1p(-min(_still(bag, speed, age, seconds, replica), 1.0 - 1e-12))
    return math.exp(logarithm)


def _still(bag: TaskBag, speed: float, age: float | None, seconds: float, replica: float) -> float:
    """The chance that one that runs now has not ended `seconds` from now; S: outlasting, the part that lasts longer.

    Begun nobody knows when (None): as of a task met at a random moment, beyond(t) / beyond(0) (renewal theory). Of age
    a: S(a + t) / S(a); and if its attempt is in vain (`again`), it begins anew one mean duration from now, and its
    work is still known to be longer than a.
    """
    lifetimes = bag.lifetimes
    if age is None:
        return lifetimes.beyond(max(speed * seconds, replica)) / lifetimes.beyond(0.0)
    outlasting = lifetimes.outlasting(age * speed)
    if outlasting < RARE:  # longer than all that was seen: Gott's delta-t argument, as in predictor/freed_cores.py
        return age / (age + seconds)
    first = min(lifetimes.outlasting(max(speed * (age + seconds), replica)) / outlasting, 1.0)
    once_more = min(lifetimes.unfinished(max(speed * seconds - lifetimes.mean, 0.0)) / outlasting, 1.0)
    return first + (1.0 - first) * lifetimes.again * once_more
