"""The engine on a host of paper, where anything may happen in any order: the sums never overshoot the pools."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cigri.errors import SubmissionRefused
from cigri.localbatch import engine, processes
from cigri.localbatch.backfill_queue import JobArray
from cigri.localbatch.engine import JobEngine, mark_of
from cigri.localbatch.job_owner import JobOwner
from cigri.localbatch.job_process import JobProcess
from cigri.localbatch.pools import ResourcePools
from cigri.localbatch.processes import InheritedFiles, RootProcess
from cigri.localbatch.store import JobStore

TOTALS = {"cpu": 4, "mem": 1000, "tmp": 50, "gnat": 3}
NEEDS = st.fixed_dictionaries(
    {"cpu": st.integers(1, 5)},
    optional={"mem": st.integers(1, 1100), "tmp": st.integers(1, 60), "gnat": st.integers(1, 4)},
)
POOLS = st.just(TOTALS) | st.fixed_dictionaries({name: st.integers(1, total) for name, total in TOTALS.items()})
VERBS = ("cancel", "hold", "release", "suspend", "resume")
WHICH = st.integers(0, 10**6)
UID = os.geteuid()


class Paper:
    """A host that only notes what runs: the mark of each process, and of each that was ever started its number."""

    def __init__(self) -> None:
        self.alive: dict[int, str] = {}
        self.started: dict[str, int] = {}
        self.is_full = False

    def start(
        self, argv: Sequence[str], environment: Mapping[str, str], owner: JobOwner, given: InheritedFiles
    ) -> RootProcess:
        pid, mark = len(self.started) + 1, environment[processes.MARK]
        if self.is_full:
            raise OSError("no process may be started")
        assert mark not in self.started, "a start is done once"
        self.started[mark] = pid
        self.alive[pid] = mark
        return RootProcess(pid, pid, mark, popen=mock.Mock())

    def adopt(self, pid: int, ticks: int | None, mark: str) -> RootProcess | None:
        return RootProcess(pid, pid, mark) if self.alive.get(pid) == mark else None

    def kill(self, process: RootProcess) -> None:
        self.alive.pop(process.pid, None)

    def sweep(self, mark: str, session: int = 0, number: int = 9) -> None:
        if number == 9:
            self.alive = {pid: own for pid, own in self.alive.items() if own != mark}

    def stand_in(self) -> ExitStack:
        """What the engine asks of Linux is asked of this; nobody gets a directory."""
        stack = ExitStack()
        instead = {"start": self.start, "adopt": self.adopt, "kill_group": self.kill, "sweep": self.sweep}
        for name, own in {**instead, "children": list, "send": lambda *_: None}.items():
            stack.enter_context(mock.patch.object(processes, name, own))
        for name in ("ScratchDirectories", "FeatureDirectories"):
            stack.enter_context(mock.patch.object(engine, name)).return_value.take.return_value = "/nowhere"
        return stack


class Charging(RuleBasedStateMachine):
    """`needs`: what the jobs of each array were promised, by its id; `most`: what may be in use of each resource."""

    @initialize()
    def begin(self) -> None:
        self.paper, self.boots, self.now = Paper(), 1, 0.0
        self.stack = self.paper.stand_in()
        self.directory = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.totals, self.most, self.needs, self.arrays = TOTALS, dict(TOTALS), dict[int, Mapping[str, int]](), 0
        self.daemon(TOTALS)

    def teardown(self) -> None:
        self.store.close()
        self.stack.close()

    def daemon(self, totals: Mapping[str, int]) -> None:
        """Begin one; what runs already beyond new pools may run on."""
        used = self.used()
        self.totals = dict(totals)
        self.most = {name: max(totals[name], used.get(name, 0)) for name in TOTALS}
        self.store = JobStore(f"{self.directory}/state.db")
        self.engine = JobEngine(self.store, ResourcePools(totals), InheritedFiles(0, 0, 0))
        self.engine.restore(str(self.boots), self.paper.started)
        self.store.commit()

    @rule(need=NEEDS, size=st.integers(1, 5))
    def submit(self, need: dict[str, int], size: int) -> None:
        self.arrays += 1
        array = JobArray(0, UID, f"a{self.arrays}", size, need, 60, 10, ("/bin/true",))
        fits = all(amount <= self.totals[name] for name, amount in need.items())
        if fits:
            self.needs[self.engine.submit(array).id] = need
        else:
            with suppress(SubmissionRefused):
                raise AssertionError(self.engine.submit(array))
        self.store.commit()

    @rule()
    def turn(self) -> None:
        planned = self.engine.plan(self.now)
        self.store.commit()
        self.engine.launch(planned)
        self.store.commit()

    @rule()
    def refuse_to_start(self) -> None:
        """For a turn the host has no room for processes."""
        self.paper.is_full = True
        self.turn()
        self.paper.is_full = False

    @rule(started=st.integers(0, 5), is_told=st.booleans())
    def die_in_a_turn(self, started: int, is_told: bool) -> None:
        """The daemon is killed after so many starts, before or after it has noted them."""
        planned = self.engine.plan(self.now)
        self.store.commit()
        self.engine.launch(planned[:started])
        if is_told:
            self.store.commit()
        self.restart(self.totals)

    @rule(
        totals=st.fixed_dictionaries({name: st.integers(1, total) for name, total in TOTALS.items()}) | st.just(TOTALS)
    )
    def restart(self, totals: Mapping[str, int]) -> None:
        self.store.close()
        self.daemon(totals)

    @rule()
    def reboot(self) -> None:
        self.paper.alive.clear()
        self.boots += 1
        self.restart(self.totals)

    @rule(which=WHICH)
    def die_unseen(self, which: int) -> None:
        """A process ends, and nobody has looked yet."""
        if alive := sorted(self.paper.alive):
            del self.paper.alive[alive[which % len(alive)]]

    @rule()
    def reap(self) -> None:
        for running in self.running():
            if running.process.pid not in self.paper.alive:
                self.engine.end(running, 0)
        self.store.commit()

    @rule(
        which=WHICH,
        position=st.integers(1, 5),
        verb=st.sampled_from(["cancel", "hold", "release", "suspend", "resume"]),
    )
    def control(self, which: int, position: int, verb: str) -> None:
        jobs = [(sorted(self.needs)[which % len(self.needs)], position)] if self.needs else []
        act = getattr(self.engine, verb)
        act(UID, jobs) if verb in ("hold", "release") else act(UID, jobs, self.now)
        self.store.commit()

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds: int) -> None:
        """Smaller jobs may pass for a minute, and walltimes are over after one."""
        self.now += seconds
        self.engine.enforce(self.now)
        self.store.commit()

    def running(self) -> list[JobProcess]:
        return [running for _, under_way, _ in self.engine.live() for running in under_way]

    def used(self) -> dict[str, int]:
        """By what runs on the host, whatever the daemon knows of it."""
        used = dict.fromkeys(TOTALS, 0)
        for mark in self.paper.alive.values():
            for name, amount in self.needs[int(mark.partition("_")[0])].items():
                used[name] += amount
        return used

    @invariant()
    def sums_never_overshoot(self) -> None:
        for name, amount in self.used().items():
            assert amount <= self.most[name], name
            self.most[name] = max(self.totals[name], amount)

    @invariant()
    def every_job_under_way_is_charged_exactly(self) -> None:
        charged = dict.fromkeys(TOTALS, 0)
        for running in self.running():
            assert running.process.mark == mark_of(running.job)
            for name, amount in self.needs[running.array.id].items():
                charged[name] += amount
        assert {name: self.totals[name] - self.engine.pools.free(name) for name in TOTALS} == charged
        assert {running.process.pid for running in self.running()} >= self.paper.alive.keys()


TestCharging = Charging.TestCase
TestCharging.settings = settings(max_examples=40, stateful_step_count=40)
