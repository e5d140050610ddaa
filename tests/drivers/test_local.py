"""The driver `local` against the real batch system of this host, and against answers that are none."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cigri import drivers
from cigri.drivers import BatchRequest, Driver, RemoteJob, RemoteJobState, ResourceRequest, load
from cigri.errors import ConfigError, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.localbatch.host import Host

JOB = """#!/bin/sh
{prelude}
echo "$CIGRI_INDEX $CIGRI_REMOTE_ID $CIGRI_NODE" >>"$1/ran"
case $CIGRI_INDEX in
1) exit 0 ;;
2) exit 3 ;;
*) sleep 1000 & wait ;;
esac
"""


class Cluster:
    """A driver, its host, and the directory of one batch with quotes and blanks in its name."""

    def __init__(self, directory: Path) -> None:
        self.host = Host(directory)
        options = {"spool": str(self.host.spool), "pools": {"cpu": 3, "mem": 500}}
        self.driver = drivers.load("local", options)
        self.batch = directory / "it's a $batch"
        self.batch.mkdir()
        (self.batch / "job").write_text(JOB.format(prelude=self.driver.prelude))
        (self.batch / "job").chmod(0o755)

    def run(self, script: str) -> ShellResult:
        done = subprocess.run(["sh"], cwd=self.batch, input=script, capture_output=True, text=True, timeout=60)
        return ShellResult(done.returncode, done.stdout, done.stderr)

    def submit(self, tag: str, size: int, **wishes: Any) -> dict[int, str]:
        request = BatchRequest(tag, size, 60, **wishes)
        return self.driver.parse_submit(self.run(self.driver.submit(request)), request)

    def live(self, prefix: str = "") -> list[RemoteJob]:
        return self.driver.parse_status(self.run(self.driver.status(prefix)), prefix)

    def history(self, *keys: tuple[str, int, str]) -> list[RemoteJob]:
        return self.driver.parse_history(self.run(self.driver.history(keys)))

    def cancel(self, *ids: str) -> None:
        self.driver.parse_cancel(self.run(self.driver.cancel(ids)))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.host.clear()


@pytest.fixture
def driver() -> Driver:
    return drivers.load("local", {"spool": "/nowhere"})


@pytest.mark.process
def test_a_batch_lives_from_submission_to_history(cluster: Cluster) -> None:
    ids = cluster.submit("cigri.1.b7", 6)
    assert ids == {index: f"1_{index}" for index in range(1, 7)}
    cluster.host.wait_for(lambda: len(cluster.live()) == 4)
    cluster.host.wait_for(lambda: len((cluster.batch / "ran").read_text().splitlines()) == 5)
    live = {job.index: job for job in cluster.live("cigri.1")}
    assert [live[index].state for index in (3, 4, 5, 6)] == [RemoteJobState.RUNNING] * 3 + [RemoteJobState.WAITING]
    assert live[3].started is not None
    assert live[6].reason == "needs cpu=1, free 0"
    assert {job.tag for job in live.values()} == {"cigri.1.b7"}
    done, failed, running, waiting = cluster.history(*(("cigri.1.b7", index, ids[index]) for index in (1, 2, 3, 6)))
    assert (done.state, done.exit_code, done.remote_id) == (RemoteJobState.SUCCEEDED, 0, "1_1")
    assert (failed.state, failed.exit_code) == (RemoteJobState.FAILED, 3)
    assert (running.state, waiting.state) == (RemoteJobState.RUNNING, RemoteJobState.WAITING)
    assert done.started is not None
    assert done.ended is not None
    assert done.started <= done.ended
    cluster.cancel(*ids.values(), "77_1")
    cluster.host.wait_for(lambda: not cluster.live())
    assert {job.state for job in cluster.history(("cigri.1.b7", 3, ""), ("cigri.1.b7", 6, "1_6"))} == {
        RemoteJobState.KILLED
    }


@pytest.mark.process
def test_the_prelude_tells_a_job_who_and_where_it_is(cluster: Cluster) -> None:
    cluster.submit("prelude", 1)
    cluster.host.wait_for(lambda: not cluster.live())
    node = Path("/proc/sys/kernel/hostname").read_text().strip()
    assert (cluster.batch / "ran").read_text() == f"1 1_1 {node}\n"


@pytest.mark.process
def test_resources_are_charged_as_they_are_asked_for(cluster: Cluster) -> None:
    cluster.submit("wide", 3, resources=ResourceRequest(cpu=2))
    cluster.host.wait_for(lambda: [job.index for job in cluster.live()] == [3])
    capacity = cluster.driver.parse_capacity(cluster.run(cluster.driver.capacity("")))
    assert capacity == (3, 1, 2, 0)
    with pytest.raises(SubmissionRefused, match="mem=501, the cluster has 500"):
        cluster.submit("fat", 1, resources=ResourceRequest(mem=501))
    for wish, name in ((ResourceRequest(others={"gpu": 1}), "gpu"), (ResourceRequest(tmp=1), "tmp")):
        with pytest.raises(SubmissionRefused, match=f"{name}=1, the cluster has 0"):
            cluster.submit(name, 1, resources=wish)


@pytest.mark.process
def test_how_full_it_is_and_what_it_lists_are_told_at_once(cluster: Cluster) -> None:
    cluster.submit("cigri.1.b7", 3)
    cluster.host.wait_for(lambda: len(cluster.live()) == 1)
    capacity, status = cluster.driver.split_overview(cluster.run(cluster.driver.overview("cigri.")))
    assert cluster.driver.parse_capacity(capacity).total == 3
    assert {job.tag for job in cluster.driver.parse_status(status, "cigri.")} == {"cigri.1.b7"}


@pytest.mark.parametrize(
    "answer", [ShellResult(3, "", "no daemon"), ShellResult(0, "", ""), ShellResult(0, '{"end":0}\n', "")]
)
def test_half_an_overview_is_no_empty_queue(driver: Driver, answer: ShellResult) -> None:
    capacity, status = driver.split_overview(answer)
    with pytest.raises(UnreadableOutput):
        driver.parse_capacity(capacity)
    with pytest.raises(UnreadableOutput):
        driver.parse_status(status, "cigri.")


@pytest.mark.process
@pytest.mark.parametrize("wish", [{"queue": "it's a queue"}, {"properties": "mem > 5; $(reboot)"}])
def test_what_this_cluster_cannot_offer_is_refused_in_words(cluster: Cluster, wish: dict[str, str]) -> None:
    with pytest.raises(SubmissionRefused) as refusal:
        cluster.submit("choosy", 1, **wish)
    assert repr(next(iter(wish.values()))) in str(refusal.value)
    assert cluster.live() == []


def test_what_this_cluster_never_offers_is_known_beforehand(driver: Driver) -> None:
    wish = BatchRequest("a", 1, 60, ResourceRequest(native=("/switch=1",)), queue="night", properties="big")
    assert driver.problems(BatchRequest("a", 1, 60)) == []
    assert driver.problems(wish) == [
        "Local does not understand the resources '/switch=1'",
        "the local cluster has no queue; leave 'night' out",
        "the local cluster has no properties; leave 'big' out",
    ]


@pytest.mark.process
def test_a_queue_has_no_capacity(cluster: Cluster) -> None:
    with pytest.raises(UnreadableOutput, match="has no queue"):
        cluster.driver.parse_capacity(cluster.run(cluster.driver.capacity("night")))


@pytest.mark.process
def test_the_probe_tells_the_pools(cluster: Cluster) -> None:
    told = cluster.driver.parse_probe(cluster.run(cluster.driver.probe()))
    assert told.startswith("local batch system with cpu=3, mem=500 (")


def test_a_vanished_job_is_over_though_nobody_saw_how(driver: Driver) -> None:
    line = '{"name":"a","index":1,"id":"1_1","state":"%s","exit_code":null,"started":1.5,"ended":2.5,"reason":""}\n'
    words = ("vanished", "timeout", "node_failed", "starting", "melted")
    answer = ShellResult(0, "".join(line % word for word in words) + '{"end":5}\n', "")
    assert [job.state.name for job in driver.parse_history(answer)] == [
        "FAILED",
        "TIMEOUT",
        "NODE_FAILED",
        "RUNNING",
        "UNKNOWN",
    ]


@pytest.mark.process
def test_asking_nothing_is_answered_with_nothing(cluster: Cluster) -> None:
    assert cluster.history() == []
    cluster.cancel()


@pytest.mark.process
def test_a_job_that_is_already_gone_is_cancelled_without_error(cluster: Cluster) -> None:
    cluster.cancel("5_5")


LINE = '{"array":1,"size":2,"cancelled":0,"pid":1,"uid":1,"pools":{"cpu":{"total":2,"free":2}}}\n'
PARSERS: list[Callable[[Driver, ShellResult], object]] = [
    lambda driver, answer: driver.parse_submit(answer, BatchRequest("a", 2, 60)),
    lambda driver, answer: driver.parse_status(answer, ""),
    lambda driver, answer: driver.parse_history(answer),
    lambda driver, answer: driver.parse_cancel(answer),
    lambda driver, answer: driver.parse_capacity(answer),
    lambda driver, answer: driver.parse_probe(answer),
]


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "answer",
    [
        ShellResult(0, "", ""),
        ShellResult(0, "\n", ""),
        ShellResult(0, LINE, ""),
        ShellResult(0, LINE + '{"end":1}', ""),
        ShellResult(0, LINE + '{"end":2}\n', ""),
        ShellResult(0, LINE + LINE[:20], ""),
        ShellResult(0, "[]\n" + '{"end":1}\n', ""),
        ShellResult(0, '{"array":"1","name":2,"cancelled":-1,"pools":3}\n{"end":1}\n', ""),
        ShellResult(0, "[" * 100_000 + "\n", ""),
        ShellResult(1, LINE + '{"end":1}\n', "Traceback (most recent call last)"),
        ShellResult(127, "", "sh: python: not found"),
        ShellResult(3, "", "local batch system: the answer was cut off"),
    ],
)
def test_what_is_no_answer_is_never_taken_for_one(
    driver: Driver, answer: ShellResult, parse: Callable[[Driver, ShellResult], object]
) -> None:
    with pytest.raises(UnreadableOutput):
        parse(driver, answer)


def test_an_array_of_another_size_is_not_ours(driver: Driver) -> None:
    with pytest.raises(UnreadableOutput, match="an array of 3 jobs"):
        driver.parse_submit(ShellResult(0, '{"array":1,"size":2}\n{"end":1}\n', ""), BatchRequest("a", 3, 60))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spool": "relative"},
        {"spool": 3},
        {"spool": "/spool", "pool": {"cpu": 2}},
        {"spool": "/spool", "pools": {"cpu": 0}},
        {"spool": "/spool", "pools": {"cpu": "2"}},
        {"spool": "/spool", "pools": {"a b": 2}},
        {"spool": "/spool", "pools": ["cpu"]},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        drivers.load("local", options)


def test_what_can_never_fit_is_known_beforehand_with_the_line_that_would_change_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    local = load("local", {"spool": "/s", "pools": {"cpu": 4, "mem": 500, "gnat": 2}})
    assert local.problems(BatchRequest("a", 1, 60, ResourceRequest(2, 2, 250, {"gnat": 2}))) == []
    assert local.problems(BatchRequest("a", 1, 60, ResourceRequest(5, 1, 501, {"gnat": 9}, tmp=1))) == [
        f"a job asks for {asked}, and the cluster has {there}; "
        f"`cigri cluster change NAME --option pools.{asked}` would change that"
        for asked, there in (("cpu=5", 4), ("mem=501", 500), ("tmp=1", "none"), ("gnat=9", 2))
    ]
    [beyond] = local.problems(BatchRequest("a", 1, 60, ResourceRequest(9, 1, 0)))
    assert beyond == "a job asks for cpu=9, and the cluster has 4; this host itself has 8"
    assert local.largest()["mem"] == 500
    assert load("local", {"spool": "/s"}).largest().keys() == {"cpu", "mem"}


def test_a_process_that_may_use_few_cores_refuses_nothing_that_the_host_could_take() -> None:
    here = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(here)})
    try:
        local = load("local", {"spool": "/s"})
        assert local.problems(BatchRequest("a", 1, 60, ResourceRequest(cpu=len(here)))) == []
    finally:
        os.sched_setaffinity(0, here)
