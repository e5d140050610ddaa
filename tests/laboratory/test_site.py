"""A simulated cluster obeys orders as they are."""

from collections.abc import Callable

import pytest

from cigri.drivers import BatchRequest, RemoteJobState
from cigri.errors import ArrayTooLarge, ClusterUnreachable, SubmissionRefused
from cigri.gateway import requests
from cigri.gateway.requests import ClusterRequest
from cigri.shell.words import ShellWord
from cigri.wrapper import BatchSpec, JobKey, JobSpec, JournalState, OutboxReceipt, TaskSpec
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.faults import FaultRates, FaultWindow
from modules.laboratory.cluster.front_end import SimulatedFrontEnd
from modules.laboratory.cluster.simulated_jobs import SimulatedTask
from tests.laboratory.clusters import EXACT, a_cluster

EPOCH, SECONDS = 1_700_000_000.0, 10.0
TAG = "cigri.abcd.34"


def a_site(system: SimulatedBatchSystem | None = None) -> SimulatedFrontEnd:
    return SimulatedFrontEnd(system or a_cluster(), lambda campaign_id, number: SimulatedTask(SECONDS, number), EPOCH)


def submission(size: int = 2, batch_id: int = 34, side: int = 1) -> requests.SubmitBatch:
    """Job i is number 100 + i, and carries the tasks i and 0."""
    jobs = [
        JobSpec(index, 100 + index, tuple(TaskSpec(10 + n, n, 1, (ShellWord("x"),)) for n in (index, 0)), side=side)
        for index in range(1, size + 1)
    ]
    plan = BatchSpec("abcd", 12, "c", batch_id, "dahu", "ann", ShellWord(""), {}, "/core=1", 600, jobs)
    return requests.SubmitBatch(plan, BatchRequest(f"cigri.abcd.{batch_id}", size, 600))


def test_what_is_submitted_runs_and_its_records_lie_in_the_outbox() -> None:
    site = a_site()
    remote_ids = site.ask("ann", submission())
    assert list(remote_ids) == [1, 2]
    site.system.advance(5.0)
    (first, _) = site.ask("ann", requests.ListJobs("cigri.abcd."))
    assert (first.tag, first.index, first.remote_id, first.state) == (TAG, 1, remote_ids[1], RemoteJobState.RUNNING)
    assert first.started == EPOCH + site.system.past([remote_ids[1]])[0].started  # type: ignore[operator]
    site.system.advance(60.0)
    assert site.ask("ann", requests.ListJobs("cigri.abcd.")) == []
    collected = site.ask("ann", requests.CollectRecords("abcd", OutboxReceipt()))
    assert collected.lines == {"34-1": 2, "34-2": 2}
    ends = [(posted.index, posted.record.task_id, posted.record.exit_code) for posted in collected.records]
    assert ends == [(1, 11, 1), (1, 10, 0), (2, 12, 2), (2, 10, 0)]
    assert {posted.record.seconds for posted in collected.records} == {SECONDS}
    assert site.ask("ann", requests.CollectRecords("abcd", OutboxReceipt({"34-1": 1, "34-2": 2}))).lines == {"34-1": 2}
    over = OutboxReceipt({"34-2": 1}, frozenset({"34-1"}))
    assert [posted.record.position for posted in site.ask("ann", requests.CollectRecords("abcd", over)).records] == [2]
    assert site.ask("bob", requests.CollectRecords("abcd", OutboxReceipt())).records == ()


def test_tasks_side_by_side_last_as_long_as_they_do() -> None:
    site = a_site()
    site.ask("ann", submission(1, side=2))
    site.system.advance(60.0)
    assert sum(end.seconds for end in site.system.ended_tasks("ann")) == SECONDS
    records = site.ask("ann", requests.CollectRecords("abcd", OutboxReceipt())).records
    assert [posted.record.seconds for posted in records] == [SECONDS, SECONDS]


def test_a_batch_is_written_once_and_never_once_it_is_void() -> None:
    site = a_site()
    site.ask("ann", submission())
    with pytest.raises(SubmissionRefused, match="could not be written"):
        site.ask("ann", submission())
    assert site.ask("ann", requests.VoidBatch("abcd", 12, 35))
    with pytest.raises(SubmissionRefused, match="could not be written"):
        site.ask("ann", submission(batch_id=35))
    keys = [JobKey(12, 34, 1), JobKey(12, 35, 1)]
    states = [one.state for one in site.ask("ann", requests.ReadJournals("abcd", keys)).values()]
    assert states == [JournalState.ABSENT, JournalState.VOIDED]
    site.system.advance(60.0)
    started = site.ask("ann", requests.ReadJournals("abcd", keys))[keys[0]]
    assert (started.state, len(started.records)) == (JournalState.STARTED, 2)
    assert not site.ask("ann", requests.VoidBatch("abcd", 12, 34))
    assert site.ask("ann", requests.RevokeJobs("abcd", keys)) == {keys[1]}


def test_what_one_order_is_refused_harms_no_other_that_went_with_it() -> None:
    site = a_site(a_cluster(EXACT._replace(largest_array=2)))
    good, large = submission(), submission(3, batch_id=35)
    answers = site.ask_all("ann", [large, good])
    assert answers.of(good).keys() == {1, 2}
    with pytest.raises(ArrayTooLarge, match="at most 2"):
        answers.of(large)


@pytest.mark.parametrize("ask", [SimulatedFrontEnd.ask, lambda site, user, order: site.ask_all(user, [order])])
def test_a_front_end_that_is_away_answers_nothing(
    ask: Callable[[SimulatedFrontEnd, str, ClusterRequest[object]], object],
) -> None:
    site = a_site(a_cluster(faults=FaultRates(outages=(FaultWindow(0.0, 20.0),))))
    with pytest.raises(ClusterUnreachable):
        ask(site, "ann", requests.ProbeBatchSystem())  # type: ignore[arg-type]


def test_an_order_that_is_not_simulated_ends_the_simulation() -> None:
    with pytest.raises(TypeError, match="PurgeCampaign"):
        a_site().ask("ann", requests.PurgeCampaign("abcd", 1, [2]))
