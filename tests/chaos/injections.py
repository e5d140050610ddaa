"""What can be done to a grid and its clusters at a moment; each is healed before the next one."""

import os
import random
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from tests.chaos.clocks import put_clock_off, put_clock_right
from tests.chaos.world import World, forge_record, kill_job, restart_database
from tests.faults.memories import MEMORIES, fall_back, family, pid_of, remember
from tests.faults.test_everywhere import RIVALS
from tests.grid import Site
from tests.waiting import MissedDeadline, looks

SERVERS = {
    "alpha": ("slurmctld",),
    "beta": ("slurmctld", "slurmdbd"),
    "gamma": ("sge_qmaster",),
    "delta": ("almighty",),
}
NODES = {"alpha": ("slurmd-1", "slurmd-2"), "beta": ("slurmd-1", "slurmd-2"), "gamma": ("sge_execd",)}
SUBMITTED_WITHIN, SUBMISSION = 60.0, 0.2  # seconds until one is begun, and that it takes
PAUSES = (0.5, 6.0)  # seconds that something is away
STOPPED = (2.0, 30.0)  # seconds that an almighty is stopped, and a clock wrong
HOUR_OFF = ("1 hour", "-1 hour")  # as `date -d` takes them
FORGOTTEN = (1.0, 15.0)  # seconds of its past that a batch system loses

Deed = Callable[[World, random.Random], None]


class Injection(NamedTuple):
    """`cluster` is empty where the whole grid is hit."""

    name: str
    cluster: str
    do: Deed

    def __str__(self) -> str:
        return f"{self.name} on {self.cluster}" if self.cluster else self.name


def choose(dice: random.Random, world: World, kinds: Collection[str] = ()) -> Injection:
    """A kind, of these or else of all, each with the same chance, and then where."""
    kind = dice.choice(sorted(kinds or KINDS))
    return dice.choice(list(KINDS[kind](world)))


def _almighty(world: World) -> Iterator[Injection]:
    def do(world: World, dice: random.Random) -> None:
        world.kill_almighty()
        world.start_almighty()

    yield Injection("almighty killed", "", do)


def _stopped_almighty(world: World) -> Iterator[Injection]:
    """With all its workers, which keep their locks and their sessions."""

    def do(world: World, dice: random.Random) -> None:
        os.killpg(world.almighty.pid, signal.SIGSTOP)
        time.sleep(dice.uniform(*STOPPED))  # how long it is stopped is the input of the experiment
        os.killpg(world.almighty.pid, signal.SIGCONT)

    yield Injection("almighty stopped", "", do)


def _database(world: World) -> Iterator[Injection]:
    yield Injection("database killed", "", lambda world, dice: restart_database(world))


def _server(world: World) -> Iterator[Injection]:
    """OAR's server is killed with what it has started, or that keeps its port."""
    for cluster, daemons in SERVERS.items():
        for daemon in daemons:
            yield Injection(f"{daemon} killed", cluster, _with_family(cluster, daemon))


def _submission(world: World) -> Iterator[Injection]:
    """Grid Engine leaves jobs in transfer for ever where its qmaster goes just then."""

    def do(world: World, dice: random.Random) -> None:
        doomed = family(pid_of(world.sites["gamma"], "sge_qmaster"))
        with suppress(MissedDeadline):  # where nothing is submitted in time it is killed then
            for _ in looks(SUBMITTED_WITHIN, longest=SUBMISSION / 10):
                if world.is_submitting("gamma"):
                    break
        _kill_for_a_while(world.sites["gamma"], "sge_qmaster", doomed, dice)

    yield Injection("sge_qmaster killed at a submission", "gamma", do)


def _clock(world: World) -> Iterator[Injection]:
    """What `date` says on a front-end and its nodes."""

    def do(cluster: str) -> Deed:
        def do(world: World, dice: random.Random) -> None:
            put_clock_off(world.sites[cluster], dice.choice(HOUR_OFF))
            time.sleep(dice.uniform(*STOPPED))  # how long it is wrong is the input of the experiment
            put_clock_right(world.sites[cluster])

        return do

    for cluster in world.sites:
        yield Injection("clock an hour off", cluster, do(cluster))


def _forged_record(world: World) -> Iterator[Injection]:
    """A user writes of a task that has ended once more, with times that cannot be."""

    def do(cluster: str) -> Deed:
        return lambda world, dice: forge_record(world, cluster, dice.random())

    for cluster in world.sites:
        yield Injection("record forged", cluster, do(cluster))


def _memory(world: World) -> Iterator[Injection]:
    """The server is killed and comes back with the state of some seconds ago."""

    def do(cluster: str) -> Deed:
        def do(world: World, dice: random.Random) -> None:
            remember(world.sites[cluster])
            time.sleep(dice.uniform(*FORGOTTEN))  # how much it forgets is the input of the experiment
            fall_back(world.sites[cluster])

        return do

    for cluster in MEMORIES:
        yield Injection("batch system put back to older state", cluster, do(cluster))


def _front_end(world: World) -> Iterator[Injection]:
    for cluster in world.sites:
        yield Injection("front-end hangs", cluster, _away(cluster, "sshd", "pause", "cont"))
        yield Injection("front-end killed", cluster, _away(cluster, "sshd", "kill", "start"))


def _node(world: World) -> Iterator[Injection]:
    for cluster, daemons in NODES.items():
        for daemon in daemons:
            yield Injection(f"{daemon} killed", cluster, _away(cluster, daemon, "kill", "start"))


def _job(world: World) -> Iterator[Injection]:
    def do(world: World, dice: random.Random) -> None:
        if groups := world.grid.running_groups():
            kill_job(world, dice.choice(groups))

    yield Injection("job killed", "", do)


def _local_user(world: World) -> Iterator[Injection]:
    for cluster, command in RIVALS.items():
        yield Injection("local user comes", cluster, _come(cluster, command))


KINDS: Mapping[str, Callable[[World], Iterator[Injection]]] = {
    "almighty": _almighty,
    "stopped almighty": _stopped_almighty,
    "database": _database,
    "server": _server,
    "submission": _submission,
    "clock": _clock,
    "forged record": _forged_record,
    "memory": _memory,
    "front-end": _front_end,
    "node": _node,
    "job": _job,
    "local user": _local_user,
}


def _away(cluster: str, daemon: str, leave: str, come_back: str) -> Deed:
    def do(world: World, dice: random.Random) -> None:
        world.sites[cluster].daemon(leave, daemon)
        time.sleep(dice.uniform(*PAUSES))  # how long it is away is the input of the experiment
        world.sites[cluster].daemon(come_back, daemon)

    return do


def _with_family(cluster: str, daemon: str) -> Deed:
    def do(world: World, dice: random.Random) -> None:
        _kill_for_a_while(world.sites[cluster], daemon, family(pid_of(world.sites[cluster], daemon)), dice)

    return do


def _kill_for_a_while(site: Site, daemon: str, doomed: list[int], dice: random.Random) -> None:
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    time.sleep(dice.uniform(*PAUSES))  # how long it is away is the input of the experiment
    site.daemon("start", daemon)


def _come(cluster: str, command: str) -> Deed:
    def do(world: World, dice: random.Random) -> None:
        world.sites[cluster].sh(command, user="bob")

    return do
