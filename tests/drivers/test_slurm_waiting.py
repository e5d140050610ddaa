"""What squeue says of jobs that wait, in words, and whether it passes by itself."""

import pytest

from cigri.drivers import RemoteJobState
from cigri.drivers.slurm import SlurmDriver
from cigri.drivers.slurm.waiting_reasons import interpret
from cigri.shell.results import ShellResult

HEADER = "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|EXIT_CODE|RESTART_COUNT|START_TIME|END_TIME|NODELIST|REASON|NAME|"
IN_VAIN = [
    *("AssocGrpCPUMinutesLimit", "AssocGrpBillingMinutes", "QOSGrpGRESMinutes", "AssocGrpWallLimit"),
    *("AssocMaxWallDurationPerJobLimit", "QOSMaxCpuPerJobLimit", "QOSMaxCpuPerNode", "QOSMinCpuNotSatisfied"),
    *("PartitionTimeLimit", "PartitionNodeLimit", "PartitionDown", "BadConstraints", "InvalidAccount", "InvalidQOS"),
    *("JobHeldAdmin", "QOSUsageThreshold", "launch failed requeued held"),
]
PASSES = [
    *("Priority", "Resources", "Licenses", "AssocGrpCpuLimit", "AssocGrpCPURunMinutesLimit", "AssocMaxJobsLimit"),
    *("QOSMaxCpuPerUserLimit", "QOSMaxJobsPerUserLimit", "QOSGrpBillingRunMinutes", "JobHeldUser"),
    *("ReqNodeNotAvail, UnavailableNodes:n1", "Nodes required for job are DOWN, DRAINED or reserved for jobs in"),
]


@pytest.mark.parametrize("word", IN_VAIN)
def test_limits_on_what_was_used_and_on_one_job_do_not_pass(word: str) -> None:
    assert interpret(word).is_stuck
    assert interpret(word).meaning


@pytest.mark.parametrize("word", PASSES)
def test_limits_on_what_is_in_use_pass(word: str) -> None:
    assert not interpret(word).is_stuck
    assert interpret(word).meaning


def test_a_word_that_nobody_knows_is_thought_to_pass() -> None:
    assert interpret("SiteIsAsleep") == ("", False)


def test_an_administrators_hold_and_an_expected_start_are_told() -> None:
    """An estimate is no start; of a job that runs nothing is expected."""
    rows = [
        "7|1-2|PENDING|0|0|1795913040|N/A||Resources|cigri.a.1|",
        "7|3|PENDING|0|0|N/A|N/A||JobHeldAdmin|cigri.a.1|",
        "7|4|RUNNING|0|0|1795912537|N/A|n1|None|cigri.a.1|",
    ]
    answer = ShellResult(0, "\n".join([HEADER, *rows, "cigri-end", ""]), "")
    first, second, held, running = SlurmDriver({}).parse_status(answer, "cigri.")
    assert (first.state, first.reason, first.expected) == (RemoteJobState.WAITING, "Resources", 1795913040.0)
    assert (second.started, second.is_stuck) == (None, False)
    assert (held.state, held.is_stuck, held.expected) == (RemoteJobState.HELD, True, None)
    assert (running.started, running.expected, running.meaning) == (1795912537.0, None, "")
