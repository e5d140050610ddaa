"""The last step of `cigri cluster test`: a real job through the wrapper and back, in a directory of its own."""

import secrets
import time
from contextlib import suppress
from typing import NamedTuple

from cigri.drivers import BatchRequest, Driver, RemoteJob
from cigri.errors import CigriError
from cigri.shell.results import ScriptBundle
from cigri.shell.words import ShellWord
from cigri.wrapper import (
    BatchSpec,
    JobSpec,
    OutboxReceipt,
    OutboxRecord,
    TaskSpec,
    collect_script,
    parse_collect,
    parse_tail,
    tail,
    write_batch,
)
from modules.operator.cluster.check_steps import ClusterUnderTest, StepFailed

TRIAL_WALLTIME = 300  # seconds
SHORTEST_LOOK, LONGEST_LOOK = 0.1, 5.0  # seconds between two looks
GRACE_FOR_RECORD = 15.0  # seconds for the record of a job that is no longer listed
GREETING = "hello from a job"


class CheckJob(NamedTuple):
    """One test job: its batch, which no table knows, and its place on the cluster."""

    patient: ClusterUnderTest
    driver: Driver
    batch_id: int
    tag: str
    base: str


def run_job(patient: ClusterUnderTest) -> str:
    """Submit a job of one task, wait for its record and output, and remove all of it again."""
    mark = secrets.token_hex(4)
    driver = patient.gateway.driver(patient.cluster)
    tag = f"cigri.{patient.grid_key}.test{mark}"
    trial = CheckJob(patient, driver, int(mark, 16), tag, f"{patient.base}/test-{mark}")
    try:
        remote_id = _submit(trial)
        return _verdict(trial, remote_id, _wait(trial, remote_id))
    finally:
        _clean_up(trial)


def _submit(trial: CheckJob) -> str:
    options = trial.patient.options
    plan = BatchSpec(
        grid_key=trial.patient.grid_key,
        campaign_id=0,
        campaign_name="cigri cluster test",
        batch_id=trial.batch_id,
        cluster=trial.patient.cluster.name,
        user=trial.patient.user,
        directory=ShellWord("", at_home=True),
        environment={},
        resources="/nodes=1/core=1",
        walltime=TRIAL_WALLTIME,
        jobs=[JobSpec(1, 0, (TaskSpec(0, 0, 1, (ShellWord("echo"), ShellWord(GREETING))),))],
    )
    request = BatchRequest(
        trial.tag, 1, TRIAL_WALLTIME, besteffort=not options.normal, queue=options.queue, project=options.project
    )
    answer = trial.patient.run(write_batch(plan, trial.base, trial.driver.prelude) + trial.driver.submit(request))
    return trial.driver.parse_submit(answer, request)[1]


def _wait(trial: CheckJob, remote_id: str) -> OutboxRecord:
    """The job's record, which the wrapper puts into the outbox."""
    deadline = time.monotonic() + trial.patient.options.patience
    pause, gone_at = SHORTEST_LOOK, 0.0
    while True:
        bundle = ScriptBundle(
            {"status": trial.driver.status(trial.tag), "collect": collect_script(trial.base, OutboxReceipt())}
        )
        answers = bundle.unpack(trial.patient.run(bundle.script))
        if records := parse_collect(answers["collect"]).records:
            return records[0]
        live = [job for job in trial.driver.parse_status(answers["status"], trial.tag) if job.tag == trial.tag]
        gone_at = 0.0 if live else gone_at or time.monotonic()
        if gone_at and time.monotonic() - gone_at > GRACE_FOR_RECORD:
            raise StepFailed(_fate(trial, remote_id), "look at the batch system's own log for this job")
        if time.monotonic() > deadline:
            raise _too_long(trial, live, remote_id)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_LOOK)


def _verdict(trial: CheckJob, remote_id: str, posted: OutboxRecord) -> str:
    record = posted.record
    script = tail(trial.base, 0, trial.batch_id, 1, record.position, "out", 1000)
    output = (parse_tail(trial.patient.run(script)) or "").strip()
    if record.exit_code != 0 or output != GREETING:
        raise StepFailed(f"job {remote_id} on {record.node} ended with {record.exit_code} and wrote {output!r}")
    return f"{remote_id} ran on {record.node} and its record and output came back"


def _fate(trial: CheckJob, remote_id: str) -> str:
    jobs: list[RemoteJob] = []
    with suppress(CigriError):
        jobs = trial.driver.parse_history(trial.patient.run(trial.driver.history([(trial.tag, 1, remote_id)])))
    state = ", ".join(f"{job.state} {job.reason}".strip() for job in jobs) or "it knows nothing of it"
    return f"job {remote_id} is gone without a record; the batch system says: {state}"


def _too_long(trial: CheckJob, live: list[RemoteJob], remote_id: str) -> StepFailed:
    state = ", ".join(f"{job.state} {job.reason}".strip() for job in live) or "gone"
    patience = trial.patient.options.patience
    return StepFailed(
        f"job {remote_id} has not ended in {patience:g} s and is cancelled; it is {state}",
        "give it more --patience, or another --queue",
    )


def _clean_up(trial: CheckJob) -> None:
    """Leave nothing behind, whatever became of the submission; what is wrong has been told already."""
    patient, driver = trial.patient, trial.driver
    with suppress(CigriError):
        live = driver.parse_status(patient.run(driver.status(trial.tag)), trial.tag)
        if ids := [job.remote_id for job in live if job.tag == trial.tag]:
            driver.parse_cancel(patient.run(driver.cancel(ids)))
    with suppress(CigriError):
        patient.run(f"rm -rf -- {trial.base}")
