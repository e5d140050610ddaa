"""What every driver must do with its real batch system: the tests, and what a site must tell them.

A test file of a driver subclasses `Conformance` and gives the fixture `site`; nothing here knows any batch system.
"""

import shlex
import time
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import pytest

from cigri.drivers import BatchRequest, Driver, JobControl, RemoteJob, RemoteJobState, ResourceRequest
from cigri.errors import SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.recorded import cores_by_queue
from tests.waiting import PATIENCE, looks

PREFIX = f"cigri-{uuid.uuid4().hex[:8]}"
USER, RIVAL = "alice", "bob"
UNDISTURBED = "cigri"  # whose jobs go on from test to test

WAITS = """trap 'echo warned >"$1/warned"' XCPU
for part in 1 2 3 4 5 6 7 8 9; do
    sleep 30 &
    wait $!
done
"""
EXITS = """case $CIGRI_INDEX in
    1) exit 0 ;;
    2) exit 3 ;;
    3) exit 66 ;;
    4) kill -9 $$ ;;
    5) printf '%s|' "$HOME" "$CIGRI_REMOTE_ID" "$CIGRI_NODE" "${PATH:+path}" "${SSH_CLIENT-no session}" >"$1/said" ;;
esac
"""

T = TypeVar("T")


def until(fact: Callable[[], T | Literal[False]], seconds: float = PATIENCE) -> T:
    """Wait for a fact that is not false; commands that list jobs cost too much to be asked more often."""
    for _ in looks(seconds, longest=1.0):
        if value := fact():
            return value
    raise AssertionError


@dataclass
class Site(ABC):
    """A real cluster of 16 cores, and what only its own kind knows."""

    driver: Driver
    version: str  # what its probe says
    unknown_id: str  # well formed, and no job's
    refusal: str  # a part of what it says to a queue that does not exist
    home: str = field(default=f"/home/{USER}", kw_only=True)
    rival: str = field(default=RIVAL, kw_only=True)  # "" where there can be no second user
    operator: str = field(default=USER, kw_only=True)  # who may suspend the user's jobs
    never_preempts: str = field(default="", kw_only=True)  # why not
    nodes: str = field(default="", kw_only=True)  # as jobs there name them
    condition: str = field(default="", kw_only=True)  # the commands that show its operator all nodes and jobs
    batches: "list[Batch]" = field(default_factory=list, init=False)  # that a test submitted

    @abstractmethod
    def run(self, user: str, script: str) -> ShellResult: ...

    @abstractmethod
    def stop_controller(self) -> None: ...

    @abstractmethod
    def start_controller(self) -> None:
        """Returns when it answers again."""

    def control(self, verb: JobControl, remote_ids: list[str], user: str = USER) -> None:
        self.driver.parse_control(self.run(user, self.driver.control(verb, remote_ids)))

    def submit(self, request: BatchRequest, body: str = WAITS, user: str = USER) -> "Batch":
        """Put the job into a directory of its own and submit it as an array."""
        request = replace(request, tag=f"{PREFIX}-{request.tag}")
        directory = f"work/{request.tag}"
        job = shlex.quote(f"#!/bin/sh\n{self.driver.prelude}{body}")
        prepare = f"mkdir -p {directory} && cd {directory} && printf %s {job} >job && chmod 755 job || exit\n"
        answer = self.run(user, prepare + self.driver.submit(request))
        batch = Batch(self, request, user, directory, self.driver.parse_submit(answer, request))
        self.batches.append(batch)
        return batch


@dataclass
class Batch:
    """An array that was submitted."""

    site: Site
    request: BatchRequest
    user: str
    directory: str
    ids: dict[int, str]

    def live(self) -> dict[int, RemoteJob]:
        driver = self.site.driver
        jobs = driver.parse_status(self.site.run(self.user, driver.status(PREFIX)), PREFIX)
        return {job.index: job for job in jobs if job.tag == self.request.tag}

    def history(self, *, by_tag: bool = False) -> dict[int, RemoteJob]:
        tag, driver = self.request.tag, self.site.driver
        asked = [(tag, index, "" if by_tag else remote_id) for index, remote_id in self.ids.items()]
        jobs = driver.parse_history(self.site.run(self.user, driver.history(asked)))
        return {job.index: job for job in jobs if job.tag == tag}

    def until_ended(self, seconds: float = PATIENCE) -> dict[int, RemoteJob]:
        """What is known of the jobs, when none is live any more and their records are complete."""
        until(lambda: not self.live(), seconds)
        return until(lambda: (found := self.history()) and all(job.state.is_final for job in found.values()) and found)

    def until_seen(self, *states: RemoteJobState) -> dict[int, RemoteJob]:
        """The live jobs, when all of these states and no other are among them."""
        return until(lambda: (jobs := self.live()) and {job.state for job in jobs.values()} == set(states) and jobs)

    def cancel(self, indexes: list[int]) -> None:
        driver = self.site.driver
        driver.parse_cancel(self.site.run(self.user, driver.cancel([self.ids[index] for index in indexes])))

    def said(self, name: str) -> str:
        return self.site.run(self.user, f"cat {self.directory}/{name}").out


class Conformance:
    """The tests; a subclass in a test file gives the fixtures `site` and `overtime`, a batch of 60 s begun long ago."""

    @pytest.fixture(autouse=True)
    def alone(self, site: Site) -> Iterator[None]:
        """What a test leaves is shown, if it failed, and ended: the next one finds a free cluster."""
        site.batches.clear()
        yield
        print(site.run(site.operator, site.condition).out)
        for batch in site.batches:
            batch.cancel(list(batch.ids))
        until(lambda: not any(batch.live() for batch in site.batches))

    def test_probe_names_the_version(self, site: Site) -> None:
        driver = site.driver
        assert driver.parse_probe(site.run(USER, driver.probe())) == site.version

    def test_capacity_counts_each_core_once(self, site: Site) -> None:
        driver = site.driver
        capacity = driver.parse_capacity(site.run(USER, driver.capacity("")))
        assert capacity.total == 16 == capacity.free + capacity.used + capacity.unavailable

    def test_an_unknown_queue_has_no_capacity(self, site: Site) -> None:
        with pytest.raises(UnreadableOutput):
            site.driver.parse_capacity(site.run(USER, site.driver.capacity("nowhere")))

    def test_each_queue_has_the_nodes_and_cores_that_are_there(self, site: Site) -> None:
        found = site.driver.parse_nodes(site.run(USER, site.driver.nodes()))
        assert cores_by_queue(found) == {16}
        nodes = Counter[str | None]()
        for one in found:
            nodes[one.queue] += one.nodes
        assert {number for queue, number in nodes.items() if queue != ""} == {max(1, len(site.nodes.split()))}

    def test_exit_codes_nodes_and_times_are_known(self, site: Site) -> None:
        batch = site.submit(BatchRequest("codes", 5, 600), EXITS)
        jobs = batch.until_ended()
        assert {index: job.exit_code for index, job in jobs.items()} == {1: 0, 2: 3, 3: 66, 4: 137, 5: 0}
        assert [jobs[index].state for index in (1, 2)] == [RemoteJobState.SUCCEEDED, RemoteJobState.FAILED]
        assert {index: job.remote_id for index, job in jobs.items()} == batch.ids
        assert all(job.node and job.started and job.ended for job in jobs.values())
        assert all(0 <= time.time() - (job.ended or 0) < 120 for job in jobs.values())
        home, remote_id, node, rest = batch.said("said").split("|", 3)
        assert (home, remote_id, node, rest) == (site.home, batch.ids[5], jobs[5].node, "path|no session|")
        assert until(lambda: batch.history(by_tag=True)).keys() == jobs.keys()

    def test_waiting_running_held_and_cancelled(self, site: Site) -> None:
        batch = site.submit(BatchRequest("many", 40, 600))
        jobs = batch.until_seen(RemoteJobState.WAITING, RemoteJobState.RUNNING)
        assert {index: job.remote_id for index, job in jobs.items()} == batch.ids
        running = {index for index, job in jobs.items() if job.state == RemoteJobState.RUNNING}
        assert all(jobs[index].node and jobs[index].started for index in running)
        assert all(jobs[index].started is None for index in jobs.keys() - running)
        if site.rival:
            seen_by_rival = site.run(site.rival, site.driver.status(PREFIX))
            assert site.driver.parse_status(seen_by_rival, PREFIX) == []
        self.try_controls(site, batch)
        odd = list(range(1, 41, 2))
        batch.cancel(odd)
        until(lambda: batch.live().keys() == set(batch.ids) - set(odd))
        batch.cancel(list(batch.ids))
        ended = batch.until_ended()
        assert running <= ended.keys()
        assert {job.state for job in ended.values()} == {RemoteJobState.KILLED}

    def try_controls(self, site: Site, batch: Batch) -> None:
        """Job 1 runs and job 40 waits; both go on as they were."""
        for first, second, index, state, user in (
            (JobControl.HOLD, JobControl.RELEASE, 40, RemoteJobState.HELD, USER),
            (JobControl.SUSPEND, JobControl.RESUME, 1, RemoteJobState.SUSPENDED, site.operator),
        ):
            if not {first, second} <= site.driver.controls:
                continue
            live = batch.live()
            before, job = live[index].state, [batch.ids[index]]
            lends = first == JobControl.SUSPEND and site.driver.lends_cores
            others = [job.remote_id for job in live.values() if lends and job.state == RemoteJobState.WAITING]
            if others:  # one of them would have the core for as long as it lasts
                site.control(JobControl.HOLD, others, USER)
            if site.rival:
                with pytest.raises(UnreadableOutput):
                    site.control(first, job, site.rival)
            site.control(first, job, user)
            until(lambda index=index, state=state: batch.live()[index].state == state)  # type: ignore[misc]
            site.control(first, [*job, site.unknown_id], user)
            site.control(second, [*job, site.unknown_id], user)
            until(lambda index=index, state=before: batch.live()[index].state == state)  # type: ignore[misc]
            if others:
                site.control(JobControl.RELEASE, others, USER)

    def test_besteffort_jobs_give_way(self, site: Site) -> None:
        victims = site.submit(BatchRequest("victims", 2, 600, ResourceRequest(cpu=6)))
        victims.until_seen(RemoteJobState.RUNNING)
        rival = site.submit(BatchRequest("rival", 1, 600, ResourceRequest(cpu=6), besteffort=False), user=RIVAL)
        rival.until_seen(RemoteJobState.RUNNING)
        until(lambda: RemoteJobState.PREEMPTED in {job.state for job in victims.history().values()})
        rival.cancel([1])
        victims.cancel([1, 2])
        rival.until_ended()
        victims.until_ended()

    def test_an_unknown_queue_is_refused_with_the_own_words_of_the_batch_system(self, site: Site) -> None:
        with pytest.raises(SubmissionRefused, match=site.refusal):
            site.submit(BatchRequest("refused", 2, 600, besteffort=False, queue="nowhere"))
        asked = site.driver.history([(f"{PREFIX}-refused", 1, "")])
        assert site.driver.parse_history(site.run(USER, asked)) == []

    def test_a_job_that_never_was_is_not_in_the_list(self, site: Site) -> None:
        asked = site.driver.history([(f"{PREFIX}-never", 1, site.unknown_id)])
        assert site.driver.parse_history(site.run(USER, asked)) == []

    def test_cancelling_what_is_gone_is_no_error(self, site: Site) -> None:
        site.driver.parse_cancel(site.run(USER, site.driver.cancel([site.unknown_id])))

    def test_nothing_is_concluded_while_the_controller_is_down(self, site: Site) -> None:
        driver, request = site.driver, BatchRequest(f"{PREFIX}-down", 1, 60)
        asked: list[tuple[str, Callable[[ShellResult], object]]] = [
            (driver.status(PREFIX), lambda answer: driver.parse_status(answer, PREFIX)),
            (driver.history([(f"{PREFIX}-codes", 1, site.unknown_id)]), driver.parse_history),
            (driver.cancel([site.unknown_id]), driver.parse_cancel),
            (driver.capacity(""), driver.parse_capacity),
            (driver.nodes(), driver.parse_nodes),
            (driver.probe(), driver.parse_probe),
            (
                "printf '#!/bin/sh\\n' >job\n" + driver.submit(request),
                lambda answer: driver.parse_submit(answer, request),
            ),
        ]
        site.stop_controller()
        try:
            with ThreadPoolExecutor(len(asked)) as pool:
                answers = list(pool.map(lambda question: site.run(USER, question[0]), asked))
        finally:
            site.start_controller()
        concluded = []
        for (_, parse), answer in zip(asked, answers, strict=True):
            with suppress(UnreadableOutput):
                concluded.append((parse(answer), answer))
        assert concluded == []

    def test_the_walltime_is_kept_with_notice(self, site: Site, overtime: Batch) -> None:
        """The last one: it was begun before all others."""
        [job] = overtime.until_ended(150).values()
        assert job.state == RemoteJobState.TIMEOUT
        assert overtime.said("warned") == "warned\n"

    def test_no_job_runs_on_a_node_that_is_left_out(self, site: Site) -> None:
        """Of the last node none is made; of a host that is its own cluster there is none to leave out."""
        says = 'printf "%s\\n" "$CIGRI_NODE" >>"$1/said"\n'
        nodes = site.nodes.split()
        for sick in nodes[:1]:
            out = sick if len(nodes) > 1 else "not-there"
            batch = site.submit(BatchRequest("left-out", 2, 60, exclude=(out,)), says)
            assert {job.exit_code for job in batch.until_ended().values()} == {0}
            assert set(batch.said("said").split()) <= set(nodes) - {out}
            with pytest.raises(SubmissionRefused):
                site.submit(BatchRequest("nowhere", 1, 60, exclude=tuple(nodes)))
