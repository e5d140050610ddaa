"""The life of a job: queued, started, watched, ended, remembered.

Each method leaves the store with an open transaction; the loop commits it before anybody is answered and before
anything is started.
"""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from cigri.errors import NotFound, SubmissionRefused
from cigri.localbatch import processes
from cigri.localbatch.backfill_queue import BackfillQueue, JobArray
from cigri.localbatch.features import FeatureDirectories
from cigri.localbatch.job_owner import owner_of
from cigri.localbatch.job_process import EndReason, JobProcess, JobResult
from cigri.localbatch.pools import ResourcePools
from cigri.localbatch.scratch import ScratchDirectories
from cigri.localbatch.store import JobStore, LocalJobRow, LocalJobState

KEPT_SECONDS = 86_400.0
KEPT_JOBS = 100_000
STARTS_PER_TURN = 50
FORGET_PERIOD = 60.0

logger = logging.getLogger(__name__)


class JobEngine:
    """All arrays with a job that has not ended."""

    def __init__(self, store: JobStore, pools: ResourcePools, given: processes.InheritedFiles) -> None:
        self.pools = pools
        self._store = store
        self._given = given
        self._scratch = ScratchDirectories()
        self._features = FeatureDirectories()
        self._waiting = BackfillQueue(pools)
        self._arrays: dict[int, JobArray] = {}
        self._running: dict[tuple[int, int], JobProcess] = {}
        self._children: dict[int, JobProcess] = {}
        self._resuming: deque[JobProcess] = deque()  # suspended ones that go on when their cores are free
        self._forgotten_at = -math.inf

    def restore(self, boot: str, marks: Mapping[str, int]) -> list[JobProcess]:
        """Find the jobs of an earlier daemon; `marks` are the starts that got as far as a process."""
        rebooted = self._store.boot(boot)
        self._arrays = {array.id: array for array in self._store.live_arrays()}
        jobs = [(self._arrays[job.array], job) for job in self._store.live_jobs()]
        for array, job in jobs:
            if job.state is LocalJobState.HELD:
                array.held.add(job.position)
            else:
                array.running += 1
        for array, job in jobs:
            if job.state is LocalJobState.HELD:
                continue
            if rebooted:
                self._finish(array, job, JobResult(LocalJobState.NODE_FAILED, None, "the host went down"))
            else:
                self._find_again(array, job, marks)
        for array in self._arrays.values():
            self._waiting.add(array)
        if not self._running:
            self._scratch.place.clear()
            self._features.place.clear()
        return list(self._running.values())

    def submit(self, array: JobArray) -> JobArray:
        """Queue an array; the same one again, as after a lost answer, is the one that is there already."""
        stored = self._store.find_array(array.uid, array.name)
        if stored:
            array.id = stored.id
            if stored != array:
                raise SubmissionRefused(f"the name {array.name} is taken by the different array {stored.id}")
            return stored
        if problem := self.pools.impossible(array.need):
            raise SubmissionRefused(problem)
        array.id = self._store.add_array(array)
        array.left.extend(range(1, array.size + 1))
        self._arrays[array.id] = array
        self._waiting.add(array)
        return array

    def cancel(self, uid: int, jobs: list[tuple[int, int]], now: float) -> int:
        """End jobs, waiting or running, all or none; how many were alive."""
        wanted: dict[int, list[int]] = {}
        count = 0
        for array, index in self._own(uid, jobs):
            running = self._running.get((array.id, index))
            if running is None:
                wanted.setdefault(array.id, []).append(index)
            else:
                count += 1
                self._end_resuming(running)
                self._take_cores(running)
                self._keep_doom(running, running.cancel(now))
        return count + sum(self._drop(self._arrays[array_id], indexes) for array_id, indexes in wanted.items())

    def hold(self, uid: int, jobs: list[tuple[int, int]]) -> int:
        """Let waiting jobs wait until they are released; how many did not before."""
        wanted: dict[int, list[int]] = {}
        for array, index in self._own(uid, jobs):
            wanted.setdefault(array.id, []).append(index)
        count = 0
        for array_id, indexes in wanted.items():
            array = self._arrays[array_id]
            held = self._waiting.remove(array, indexes)
            array.held.update(held)
            self._store.put_jobs(LocalJobRow(array.id, index, LocalJobState.HELD) for index in held)
            count += len(held)
        return count

    def release(self, uid: int, jobs: list[tuple[int, int]]) -> int:
        """Put held jobs back into the queue; how many were held."""
        released = {(array.id, index) for array, index in self._own(uid, jobs) if index in array.held}
        for array_id, index in released:
            array = self._arrays[array_id]
            array.held.discard(index)
            self._store.unstart(LocalJobRow(array_id, index, LocalJobState.HELD))
            array.left.append(index)
        for array_id in {array_id for array_id, _ in released}:
            array = self._arrays[array_id]
            array.left = deque(sorted(array.left))
            self._waiting.add(array)
        return len(released)

    def suspend(self, uid: int, jobs: list[tuple[int, int]], now: float) -> int:
        """Stop running jobs, which keep their memory and lend their cores; how many were not before."""

        def stop(running: JobProcess) -> bool:
            if not running.suspend(now) and running not in self._resuming:
                return False
            self._end_resuming(running)
            self._lend_cores(running)
            return True

        return self._change(uid, jobs, stop)

    def resume(self, uid: int, jobs: list[tuple[int, int]], now: float) -> int:
        """Let suspended jobs go on, each as soon as its cores are free; how many were suspended."""

        def queue(running: JobProcess) -> bool:
            if running.job.state is not LocalJobState.SUSPENDED or running in self._resuming:
                return False
            self._take_cores(running)  # nothing else is started before it goes on
            self._resuming.append(running)
            return True

        changed = self._change(uid, jobs, queue)
        self._go_on(now)
        return changed

    def plan(self, now: float) -> list[tuple[JobArray, LocalJobRow]]:
        """Jobs to start now, recorded as an intention; launch() them once this is committed."""
        self._go_on(now)
        planned = [
            (array, LocalJobRow(array.id, index, LocalJobState.STARTING, os.urandom(8).hex(), now, time.time()))
            for array, index in self._waiting.choose(now, STARTS_PER_TURN)
        ]
        if planned:
            self._store.put_jobs(job for _, job in planned)
        return planned

    def launch(self, planned: list[tuple[JobArray, LocalJobRow]]) -> None:
        """Start what plan() gave and the store has committed; what the host cannot start ends as node_failed."""
        for array, job in planned:
            try:
                running = self._start(array, job)
            except (OSError, LookupError) as error:
                logger.warning("job %d_%d could not be started: %s", array.id, job.position, error)
                self.pools.give(array.need)
                self._finish(array, job, JobResult(LocalJobState.NODE_FAILED, None, f"could not be started: {error}"))
                continue
            self._running[array.id, job.position] = self._children[running.process.pid] = running
            self._store.put_jobs([running.job])

    def close(self) -> None:
        """The daemon ends; jobs under way go on."""
        if not self._running:
            self._scratch.place.close()
            self._features.place.close()

    def child(self, pid: int) -> JobProcess | None:
        """The job whose first process is this child of ours."""
        return self._children.get(pid)

    def end(self, running: JobProcess, exit_code: int | None) -> None:
        """Record the end of a first process; call it while a child's pid is still its own."""
        self._sweep(running)
        array, job = running.array, running.job
        del self._running[array.id, job.position]
        self._children.pop(running.process.pid, None)
        self._end_resuming(running)
        self._take_cores(running)
        self.pools.give(array.need)
        self._scratch.give_back(array.uid, running.scratch)
        self._features.give_back(array.uid, running.features)
        self._finish(array, job, running.end(exit_code))

    def enforce(self, now: float) -> None:
        """SIGXCPU to jobs at their notice, SIGKILL at their walltime or after the grace; `now` is monotonic."""
        for running in self._running.values():
            if running.due <= now:
                self._keep_doom(running, running.enforce(now))

    def look_at_memory(self, now: float) -> None:
        """SIGKILL to jobs that have more than they asked for."""
        due = [running for running in self._running.values() if running.look_due <= now]
        orphans = [pid for pid in processes.children() if pid not in self._children] if due else []
        for running in due:
            self._keep_doom(running, running.look(now, orphans))

    def next_due(self) -> float:
        """When enforce() or look_at_memory() has work, on the monotonic clock."""
        return min((min(running.due, running.look_due) for running in self._running.values()), default=math.inf)

    def live(self) -> Iterator[tuple[JobArray, list[JobProcess], str]]:
        """Each live array, its jobs under way, and why its next job waits."""
        under_way: dict[int, list[JobProcess]] = {}
        for running in self._running.values():
            under_way.setdefault(running.array.id, []).append(running)
        for array in self._arrays.values():
            yield array, under_way.get(array.id, []), self._waiting.reason(array) if array.left else ""

    def find(self, uid: int, name: str) -> JobArray | None:
        """An array of this user, live or remembered."""
        stored = self._store.find_array(uid, name)
        return stored and self._arrays.get(stored.id, stored)

    def job(self, array: JobArray, index: int) -> LocalJobRow | None:
        """A job that has left the queue; None: it still waits."""
        return self._store.get_job(array.id, index)

    def _own(self, uid: int, jobs: list[tuple[int, int]]) -> list[tuple[JobArray, int]]:
        """The jobs whose array lives; raise NotFound when one is not for this user to touch."""
        alive = [(array, index) for array_id, index in jobs if (array := self._arrays.get(array_id))]
        foreign = [f"{array.id}_{index}" for array, index in alive if uid not in (0, array.uid)]
        if foreign:
            raise NotFound(f"job {foreign[0]} belongs to somebody else")
        return alive

    def _change(self, uid: int, jobs: list[tuple[int, int]], change: Callable[[JobProcess], bool]) -> int:
        started = [self._running.get((array.id, index)) for array, index in self._own(uid, jobs)]
        changed = [running for running in started if running and change(running)]
        self._store.put_jobs(running.job for running in changed)
        return len(changed)

    def _go_on(self, now: float) -> None:
        """Let jobs that are to go on do so in turn, while the cores that they need are not in use."""
        while self._resuming:
            first = self._resuming[0]
            idle = self.pools.free("cpu") + sum(_cores(running) for running in self._resuming)
            if idle < min(_cores(first), self.pools.totals["cpu"]):
                return
            self._resuming.popleft()
            first.resume(now)
            self._store.put_jobs([first.job])

    def _lend_cores(self, running: JobProcess) -> None:
        if running.has_cores:
            self.pools.give({"cpu": _cores(running)})
            running.has_cores = False

    def _take_cores(self, running: JobProcess) -> None:
        if not running.has_cores:
            self.pools.take({"cpu": _cores(running)})
            running.has_cores = True

    def _end_resuming(self, running: JobProcess) -> None:
        if running in self._resuming:
            self._resuming.remove(running)

    def _find_again(self, array: JobArray, job: LocalJobRow, marks: Mapping[str, int]) -> None:
        mark = mark_of(job)
        pid = marks.get(mark) if job.state is LocalJobState.STARTING else job.pid
        if pid is None:
            self._store.unstart(job)
            array.left.appendleft(job.position)
            array.running -= 1
            return
        process = processes.adopt(pid, job.ticks, mark)
        if process is None:
            processes.sweep(mark)
            self._finish(array, job, JobResult(LocalJobState.VANISHED, None, "ended while the daemon was away"))
            return
        self.pools.take(array.need)
        state = LocalJobState.RUNNING if job.state is LocalJobState.STARTING else job.state
        job = job._replace(state=state, pid=pid, ticks=process.ticks)
        running = JobProcess(array, job, process, EndReason(job.doom), scratch=self._scratch.find(mark))
        self._running[array.id, job.position] = running
        if job.state is LocalJobState.SUSPENDED:
            self._lend_cores(running)
        self._store.put_jobs([job])

    def _start(self, array: JobArray, job: LocalJobRow) -> JobProcess:
        owner = owner_of(array.uid)
        scratch, features = self._scratch.take(owner, mark_of(job)), self._features.take(owner)
        environment = {
            **owner.environment,
            "CIGRI_ARRAY_INDEX": str(job.position),
            "CIGRI_LOCAL_ID": f"{array.id}_{job.position}",
            "CIGRI_LOCAL_WALLTIME": str(array.walltime),
            "CIGRI_LOCAL_STARTED": str(int(time.time() * 1000)),
            "CIGRI_LOCAL_SCRATCH": scratch,
            "CIGRI_LOCAL_FEATURES": features,
            "CIGRI_LOCAL_SPACE": _free_bytes(scratch),
            processes.MARK: mark_of(job),
        }
        try:
            process = processes.start(array.argv, environment, owner, self._given)
        except OSError:
            self._scratch.give_back(array.uid, scratch)
            self._features.give_back(array.uid, features)
            raise
        job = job._replace(state=LocalJobState.RUNNING, pid=process.pid, ticks=process.ticks)
        return JobProcess(array, job, process, scratch=scratch, features=features)

    def _sweep(self, running: JobProcess) -> None:
        """Kill what the job left behind; a search of all processes only when there is a sign of one."""
        process = running.process
        if process.popen is None:
            processes.sweep(process.mark, process.pid)
            return
        processes.kill_group(process)
        orphans = (pid for pid in processes.children() if pid not in self._children)
        if any(processes.belongs(pid, process.mark, process.pid) for pid in orphans):
            processes.sweep(process.mark, process.pid)

    def _keep_doom(self, running: JobProcess, changed: bool) -> None:
        if changed:
            running.job = running.job._replace(doom=running.doom)
            self._store.put_jobs([running.job])

    def _drop(self, array: JobArray, indexes: list[int]) -> int:
        held = array.held.intersection(indexes)
        array.held -= held
        removed = [*self._waiting.remove(array, indexes), *held]
        now = time.time()
        end = JobResult(LocalJobState.KILLED, None, "cancelled before it started")
        self._store.put_jobs(
            LocalJobRow(array.id, index, end.state, began=0.0, ended=now, reason=end.reason) for index in removed
        )
        self._close(array, now)
        return len(removed)

    def _finish(self, array: JobArray, job: LocalJobRow, end: JobResult) -> None:
        now = time.time()
        state, exit_code, reason = end
        self._store.put_jobs([job._replace(state=state, exit_code=exit_code, reason=reason, ended=now)])
        array.running -= 1
        self._close(array, now)

    def _close(self, array: JobArray, now: float) -> None:
        """Remember an array that is over, and forget old ones now and then."""
        if array.left or array.held or array.running:
            return
        self._store.end_array(array.id, now)
        self._arrays.pop(array.id, None)
        if now - self._forgotten_at > FORGET_PERIOD:
            self._forgotten_at = now
            self._store.forget(now - KEPT_SECONDS, KEPT_JOBS)


def _free_bytes(scratch: str) -> str:
    """Where a job leaves its temporary files; "" when nobody knows."""
    try:
        volume = os.statvfs(scratch)
    except OSError:
        return ""
    return str(volume.f_bavail * volume.f_frsize)


def _cores(running: JobProcess) -> int:
    return running.array.need.get("cpu", 0)


def mark_of(job: LocalJobRow) -> str:
    """ARRAY_INDEX-TOKEN, in the environment of all its processes; each start has another token."""
    return f"{job.array}_{job.position}-{job.token}"
