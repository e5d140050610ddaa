"""One campaign under random injections, the same from the same seed, and what came of each of its tasks."""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import NamedTuple

from tests.chaos.injections import Injection, choose
from tests.chaos.world import World, world
from tests.grid import until
from tests.last_words import done_twice, never_said, saying
from tests.waiting import MissedDeadline

BETWEEN = (0.5, 4.0)  # seconds from one recovery to the next injection
RECOVERY = 240.0  # seconds in which a task is done again, or the grid has not recovered
ENDS_WITHIN = 600.0  # seconds after the last injection
DURATIONS = (4, 20)  # seconds of tasks
WALLTIME = 120  # seconds, for which tasks are waited of which nobody knows whether they run


class Account(NamedTuple):
    """Tasks: `lost` are done and never ran, `undone` are not done, `doubled` ran to their end more than once.

    `resubmitted` had failed, as at their walltime on a busy machine, and were done again as their user asked. `hung`
    are injections after which no task was done where they hit, for RECOVERY seconds, though tasks waited.
    """

    tasks: int
    lost: list[int]
    undone: int
    doubled: list[int]
    resubmitted: list[int]
    hung: list[str]
    stories: list[str]
    injections: Counter[str]
    longest_recovery: float
    seconds: float

    @property
    def is_right(self) -> bool:
        return not self.lost and not self.undone and not self.doubled and not self.hung


def play(
    seed: int,
    injections: int,
    tasks: int,
    tell: Callable[[str], None] = lambda line: None,
    kinds: Collection[str] = (),
) -> Account:
    """Inject so many times while tasks wait, of these kinds or of all, then let the campaign end."""
    done, recoveries, hung = Counter[str](), [0.0], list[str]()
    started = time.monotonic()
    with world() as attacked:
        _submit(attacked, tasks, random.Random(seed))
        until(lambda: attacked.done() > 0, RECOVERY, "the first task is done")
        while done.total() < injections and attacked.waiting():
            dice = random.Random(f"{seed}/{done.total()}")  # whatever the ones before did with theirs
            time.sleep(dice.uniform(*BETWEEN))  # the moment is the input of the experiment
            injection = choose(dice, attacked, kinds)
            injection.do(attacked, dice)
            done[injection.name] += 1
            try:
                recoveries.append(_recovery(attacked, injection))
                tell(f"{injection}: {recoveries[-1]:.1f} s to the next task done; {attacked.done()} done")
            except MissedDeadline as error:
                hung.append(str(injection))
                tell(str(error))
        with suppress(MissedDeadline):  # what is not done then is told as such
            until(lambda: _has_ended(attacked), ENDS_WITHIN, attacked.grid.describe)
        attacked.grid.assert_sane()
        said = attacked.said()
        finished = {row["number"] for row in attacked.grid.rows("SELECT number FROM tasks WHERE state = 'done'")}
        lost = sorted({word.number for word in never_said(attacked.grid, said)})
        doubled = sorted({word.number for word in done_twice(attacked.grid, said)})
        stories = [story for number in (*lost, *doubled, *attacked.resubmitted) for story in attacked.story(number)]
    seconds = time.monotonic() - started
    undone, longest = tasks - len(finished), max(recoveries)
    return Account(tasks, lost, undone, doubled, attacked.resubmitted, hung, stories, done, longest, seconds)


def _submit(attacked: World, tasks: int, dice: random.Random) -> None:
    """The last thing that a task does is to say that it was done; it does not where its sleep was killed first."""
    program = f'sh -c "sleep $1 && trap : TERM && {saying(f"{attacked.grid.place}/ran")}" task'
    params = [str(dice.randint(*DURATIONS)) for _ in range(tasks)]
    clusters = {name: {"max_jobs": 8} if name == "delta" else {} for name in attacked.sites}  # OAR costs much CPU
    attacked.campaign_id = attacked.grid.submit(
        params, exec_file=program.replace('"', "'"), clusters=clusters, walltime=WALLTIME
    )


def _has_ended(attacked: World) -> bool:
    attacked.repair()
    attacked.resubmit()
    return attacked.is_over()


def _recovery(attacked: World, injection: Injection) -> float:
    """Seconds from the end of the injection until a task is done where it hit; 0 where nothing is left to do."""
    begun, before = time.monotonic(), attacked.done(injection.cluster)

    def has_recovered() -> bool:
        attacked.repair()
        return attacked.done(injection.cluster) > before or not attacked.waiting()

    until(has_recovered, RECOVERY, lambda: f"{injection}: {attacked.grid.describe()}")
    return time.monotonic() - begun if attacked.waiting() else 0.0
