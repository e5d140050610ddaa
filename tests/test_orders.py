"""Orders in sh: each has words, and several go in one remote command without harming each other."""

import getpass
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cigri.drivers import BatchRequest, Driver, JobControl
from cigri.drivers.local import DRIVER
from cigri.drivers.slurm import DRIVER as SLURM
from cigri.errors import SubmissionRefused, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.gateway import requests
from cigri.gateway.requests import ClusterRequest
from cigri.gateway.shell_rendering import RenderedRequest, render, render_all
from cigri.gateway.transport_gateway import TransportGateway
from cigri.settings.cluster_config import ClusterConfig
from cigri.shell.results import ShellResult
from cigri.shell.words import ShellWord
from cigri.wrapper import BatchSpec, CheckpointRequestFile, JobKey, JobSpec, OutboxReceipt, TaskSpec
from cigri.wrapper.input_cache import CachedFile
from cigri.wrapper.output_fetching import OutputDirectory, RemoteOutputFile
from cigri.wrapper.stream_fetching import StreamLocation

OPTIONS = {"spool": "/spool", "pools": {"cpu": 4}}
CLUSTER = ClusterRow(1, "dahu", ClusterConfig(driver="local", directory="/grids", options=OPTIONS), True)
KEY = JobKey(12, 34, 1)
LOCAL = DRIVER(OPTIONS)
PLAN = BatchSpec(
    "abcd",
    12,
    "c",
    34,
    "dahu",
    "ann",
    ShellWord(""),
    {},
    "/core=1",
    60,
    [JobSpec(1, 9, (TaskSpec(1, 1, 1, (ShellWord("x"),)),))],
)
SUBMIT = requests.SubmitBatch(PLAN, BatchRequest("cigri.abcd.34", 1, 60))
ALL: list[ClusterRequest[Any]] = [
    requests.ProbeBatchSystem(),
    requests.ReadFrontEndLoad(),
    requests.ReadFrontEndClock(),
    requests.ReadCapacity(),
    requests.ListNodes(),
    requests.ListJobs("cigri.abcd."),
    requests.ReadJobHistory([("cigri.abcd.34", 1, "7_1")]),
    SUBMIT,
    requests.CancelJobs(["7_1"]),
    requests.ControlJobs(JobControl.HOLD, ["7_1"]),
    requests.CollectRecords("abcd", OutboxReceipt()),
    requests.ReadJournals("abcd", [KEY]),
    requests.RevokeJobs("abcd", [KEY]),
    requests.VoidBatch("abcd", 12, 34),
    requests.ReadStreamTail("abcd", KEY, 1, "err", 100),
    requests.FetchStreams("abcd", [StreamLocation(KEY, 1, "out")], 0, 100),
    requests.FetchOutputFiles("abcd", [OutputDirectory(KEY, 1)], None, 100),
    requests.FetchOutputFilePart("abcd", RemoteOutputFile(OutputDirectory(KEY, 1), b"a"), 0, 100),
    requests.ReadCacheState("abcd", [CachedFile("a" * 64)]),
    requests.AppendToCache("abcd", CachedFile("a" * 64), 0, b"content"),
    requests.SendFiles("abcd", ["a" * 64], b"archive"),
    requests.VerifyCachedFile("abcd", CachedFile("a" * 64)),
    requests.DropParcels("abcd", [OutputDirectory(KEY, 1)]),
    requests.DropCachedFiles("abcd", [CachedFile("a" * 64)]),
    requests.RequestCheckpoints("abcd", [CheckpointRequestFile(KEY, True)]),
    requests.ReadJobStatus("abcd", [KEY]),
    requests.AnnounceShutdown("abcd", [KEY], 1),
    requests.RetractShutdown("abcd", [KEY]),
    requests.PurgeCampaign("abcd", 12, [34]),
    requests.ListBatches("abcd"),
    requests.ReadBatchManifests("abcd", [(12, 34)]),
]


def test_the_list_above_is_complete() -> None:
    assert {type(order) for order in ALL} == set(ClusterRequest.__subclasses__()) - {RenderedRequest}


@pytest.mark.parametrize("order", ALL, ids=lambda order: type(order).__name__)
def test_each_order_has_words(order: ClusterRequest[Any]) -> None:
    said = render(order, CLUSTER, SLURM({}))
    assert said.text
    assert render(said, CLUSTER, SLURM({})) is said
    assert ("/grids/abcd" in said.text) == (hasattr(order, "grid") or order is SUBMIT)


def test_capacity_and_jobs_are_one_question_where_that_costs_less() -> None:
    capacity, queue, jobs = requests.ReadCapacity(), requests.ReadCapacity("night"), requests.ListJobs("cigri.")
    together = render_all([requests.ReadFrontEndLoad(), capacity, jobs], CLUSTER, LOCAL).text
    assert LOCAL.overview("cigri.") in together
    assert together.count("printf '\\n%s %s %s\\n'") == 2
    assert render_all([queue, jobs], CLUSTER, LOCAL).text.count("printf '\\n%s %s %s\\n'") == 2
    assert render_all([capacity, jobs], CLUSTER, SLURM({})).text.count("printf '\\n%s %s %s\\n'") == 2


@pytest.mark.process
def test_an_answer_without_sense_harms_no_other_that_came_with_it(tmp_path: Path) -> None:
    (tmp_path / "abcd").touch()  # where the directory of the grid should be
    cluster = CLUSTER._replace(config=CLUSTER.config.model_copy(update={"directory": str(tmp_path)}))
    void, tail = requests.VoidBatch("abcd", 12, 34), requests.ReadStreamTail("abcd", KEY, 1, "err", 9)
    with closing(TransportGateway()) as gateway:
        answers = gateway.request_all(cluster, getpass.getuser(), [void, tail])
        assert gateway.commands.total() == 1
    assert answers.of(tail) is None
    with pytest.raises(UnreadableOutput, match="not voided"):
        answers.of(void)


def test_what_is_wrong_with_an_order_is_known_before_anything_is_sent() -> None:
    two = replace(PLAN, jobs=[*PLAN.jobs, *PLAN.jobs])
    asked = replace(SUBMIT.request, types=("deploy",))
    with closing(TransportGateway()) as gateway:
        with pytest.raises(ValueError, match="two jobs of one index"):
            gateway.prepare(CLUSTER, requests.SubmitBatch(two, SUBMIT.request))
        with pytest.raises(ValueError, match="deploy"):
            gateway.prepare(CLUSTER, requests.SubmitBatch(PLAN, asked))
        gateway.prepare(CLUSTER, SUBMIT)
        assert gateway.commands.total() == 0


def test_a_batch_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(SubmissionRefused, match="written to the cluster: no room"):
        render(SUBMIT, CLUSTER, LOCAL).read(ShellResult(74, "", "no room\n"))


class Mute(TransportGateway):
    """Its clusters cannot tell what nodes they have; nothing may be sent to them."""

    def driver(self, cluster: ClusterRow) -> Driver:
        return SLURM({})


def test_where_there_is_nothing_to_ask_no_command_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLURM, "nodes", Driver.nodes)
    with closing(Mute()) as gateway:
        assert gateway.request(CLUSTER, "nobody", requests.ListNodes()) is None
        assert gateway.commands.total() == 0
