"""The Slurm driver against recorded answers, and what it makes of broken ones."""

import shlex
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.drivers import BatchRequest, Capacity, JobControl, RemoteJob, RemoteJobState, ResourceRequest, load
from cigri.drivers.slurm import END_OF_ALL
from cigri.drivers.slurm.output_parsing import END_OF_ANSWER, SACCT_HEADER, SLURM_STATES, SQUEUE_HEADER
from cigri.errors import ArrayTooLarge, ConfigError, QueueFull, SubmissionFailed, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.recorded import REPLIES, STALE_PRELOAD, read_answer

SLURM = load("slurm", {})
TAG = "cigri-7-1"
REQUEST = BatchRequest(TAG, 30, 600)


def reply(name: str) -> ShellResult:
    found = read_answer(REPLIES / "slurm" / f"22.05.8-{name}.txt")
    assert found
    return found


def squeue(*rows: str) -> ShellResult:
    return ShellResult(0, "\n".join([SQUEUE_HEADER, *rows, END_OF_ANSWER, ""]), "")


def history(*rows: str) -> ShellResult:
    return ShellResult(0, "\n".join([SQUEUE_HEADER, *rows, END_OF_ANSWER, END_OF_ALL]), "")


def sacct(*rows: str) -> ShellResult:
    return ShellResult(0, "\n".join([SQUEUE_HEADER, END_OF_ANSWER, SACCT_HEADER, *rows, END_OF_ANSWER, END_OF_ALL]), "")


def by_index(jobs: list[RemoteJob], tag: str = TAG) -> dict[int, RemoteJob]:
    return {job.index: job for job in jobs if job.tag == tag}


def words(script: str) -> list[str]:
    """The words of the submission in a script."""
    return shlex.split(script[script.index("sbatch ") : script.index(" 2>&1 >&3")])


def test_a_submission_asks_for_what_is_wished() -> None:
    wish = ResourceRequest(cpu=4, nodes=2, mem=1500, others={"gpu": 2, "none": 0}, tmp=700)
    asked = words(SLURM.submit(BatchRequest(TAG, 7, 3661, wish, notice=45)))
    assert asked[0] == "sbatch"
    assert asked[-2:] == ["$PWD/job", "$PWD"]
    expected = "--array=1-7 --job-name=cigri-7-1 --no-requeue --time=1:01:01 --nodes=2 --cpus-per-task=4"
    assert set(asked) >= {
        *expected.split(),
        "--mem=1500M",
        "--tmp=700M",
        "--gres=gpu:2",
        "--signal=B:XCPU@45",
        "--output=/dev/null",
    }


def test_besteffort_takes_its_own_partition_and_qos() -> None:
    options = {"partition": "day", "besteffort_partition": "night", "qos": "high", "besteffort_qos": "scavenger"}
    driver = load("slurm", options | {"account": "grid", "nice": 7, "reservation": "r"})
    assert set(words(driver.submit(REQUEST))) >= {"--partition=night", "--qos=scavenger", "--account=grid", "--nice=7"}
    normal = BatchRequest(TAG, 1, 60, besteffort=False, project="mine")
    assert set(words(driver.submit(normal))) >= {"--partition=day", "--qos=high", "--account=mine", "--reservation=r"}
    assert "--partition=own" in words(driver.submit(BatchRequest(TAG, 1, 60, queue="own")))


def test_site_and_user_constraints_both_hold() -> None:
    request = BatchRequest(TAG, 1, 60, properties="a|b")
    assert "--constraint=a|b" in words(SLURM.submit(request))
    assert "--constraint=(fast)&(a|b)" in words(load("slurm", {"constraint": "fast"}).submit(request))


def test_no_user_text_reaches_a_shell() -> None:
    nasty = "$(touch /tmp/x)`id`';\"\n& *"
    script = SLURM.submit(BatchRequest(TAG, 1, 60, queue=nasty, project=nasty, properties=nasty))
    asked = words(script)
    assert {f"--partition={nasty}", f"--account={nasty}", f"--constraint={nasty}"} <= set(asked)


def test_resources_have_the_names_that_the_operator_gave_them() -> None:
    driver = load("slurm", {"resources": {"fpga": "gres/fpga:u280", "maple": "license/maple@flex"}})
    wish = ResourceRequest(others={"fpga": 1, "maple": 2, "gpu": 3})
    request = BatchRequest(TAG, 1, 60, wish)
    assert driver.problems(request) == []
    assert set(words(driver.submit(request))) >= {"--gres=fpga:u280:1,gpu:3", "--licenses=maple@flex:2"}


@pytest.mark.process
@pytest.mark.parametrize(
    ("others", "backend", "asked"),
    [
        ({"matlab": 3}, (), ["--licenses=matlab:3"]),
        ({"matlab": 3, "mat": 1, "gpu": 2}, (), ["--gres=gpu:2,mat:1", "--licenses=matlab:3"]),
        ({"matlab": 3, "disk": 1}, ("--gres=gpu:1",), ["--gres=gpu:1", "--licenses=matlab:3"]),
        ({"matlab": 3, "disk": 1}, ("--licenses=other:1",), ["--gres=disk:1", "--licenses=other:1"]),
    ],
)
def test_what_slurm_declares_is_a_licence_and_all_else_a_gres(
    tmp_path: Path, others: dict[str, int], backend: tuple[str, ...], asked: list[str]
) -> None:
    """The answer is Slurm's own; sbatch only tells what it is asked."""
    declared = "LicenseName=matlab Total=4 Used=0 Free=4 Reserved=0 Remote=no"
    programs = {"scontrol": f"echo '{declared}'", "sbatch": 'printf "%s\\n" "$@"'}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    script = SLURM.submit(BatchRequest(TAG, 1, 60, ResourceRequest(others=others), backend=backend))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    said = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=True).stdout
    assert sorted(word for word in said.splitlines() if word.startswith(("--gres", "--lic"))) == asked


@pytest.mark.process
def test_nothing_is_submitted_while_slurm_does_not_tell_its_licences() -> None:
    script = SLURM.submit(BatchRequest(TAG, 1, 60, ResourceRequest(others={"disk": 1})))
    done = subprocess.run(
        ["sh", "-c", f"scontrol() {{ false; }}; sbatch() {{ echo 7; }}\n{script}"], capture_output=True
    )
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize("name", ["gres/disk", "a,b", "a b", "$(id)"])
def test_what_can_be_no_name_of_a_resource_is_refused(name: str) -> None:
    [problem] = SLURM.problems(BatchRequest(TAG, 1, 60, ResourceRequest(others={name: 1})))
    assert problem == f"{name!r} cannot be the name of a resource of Slurm; write letters, digits and _"


def test_what_slurm_never_takes_is_told_with_what_to_write_instead() -> None:
    wish = ResourceRequest(native=("ntasks=1 : gres=gpu:1",))
    problems = SLURM.problems(BatchRequest(TAG, 1, 60, wish, types=("deploy",)))
    assert ["write a campaign for each shape" in problems[0], "write a queue" in problems[1]] == [True, True]
    assert len(problems) == 2


@pytest.mark.parametrize(
    "options", [{"partitoin": "x"}, {"nice": "5"}, {"partition": ""}, {"requeue": True}, {"resources": {"a": "b"}}]
)
def test_wrong_options_are_named(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        load("slurm", options)


VERBS = {
    "submit": lambda driver: driver.submit(REQUEST),
    "status": lambda driver: driver.status("cigri"),
    "history": lambda driver: driver.history([(TAG, 1, "7_1"), (TAG, 2, "")]),
    "cancel": lambda driver: driver.cancel(["7_1"]),
    "control": lambda driver: driver.control(JobControl.HOLD, ["7_1"]),
    "capacity": lambda driver: driver.capacity(""),
    "nodes": lambda driver: driver.nodes(),
    "probe": lambda driver: driver.probe(),
}


def configurations(script: str, folder: Path, environment: dict[str, str]) -> set[str]:
    """What the commands of Slurm in a script see as theirs."""
    for command in ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo"):
        (folder / command).write_text(f'#!/bin/sh\necho "$SLURM_CONF" >>"{folder}/seen"\necho UP\n')
        (folder / command).chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    subprocess.run(["sh"], input=script, text=True, env=path | environment, stdout=subprocess.DEVNULL, check=False)
    return set((folder / "seen").read_text().splitlines())


@pytest.mark.process
@pytest.mark.parametrize("verb", VERBS)
def test_a_cluster_may_have_a_configuration_of_its_own(verb: str, tmp_path: Path) -> None:
    script = VERBS[verb](load("slurm", {"config": "/etc/slurm east/slurm.conf"}))
    assert configurations(script, tmp_path, {"SLURM_CONF": "/other"}) == {"/etc/slurm east/slurm.conf"}


@pytest.mark.process
@pytest.mark.parametrize("verb", VERBS)
def test_without_one_slurm_finds_its_configuration_itself(verb: str, tmp_path: Path) -> None:
    assert configurations(VERBS[verb](SLURM), tmp_path, {"SLURM_CONF": "/other"}) == {"/other"}


def test_an_accepted_array_has_an_id_for_each_index() -> None:
    ids = SLURM.parse_submit(ShellResult(0, f"23;alpha\n{END_OF_ANSWER}\n", ""), REQUEST)
    assert list(ids) == list(range(1, 31))
    assert ids[30] == "23_30"


@pytest.mark.parametrize("name", ["submit-refused-alpha", "submit-too-much-memory-beta"])
def test_a_refusal_carries_the_words_of_slurm(name: str) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        SLURM.parse_submit(reply(name), REQUEST)
    assert str(refused.value) == reply(name).err.strip()


def test_a_refused_array_tells_the_largest_one() -> None:
    large = BatchRequest(TAG, 60_000, 600)
    with pytest.raises(ArrayTooLarge) as refused:
        SLURM.parse_submit(reply("submit-too-large-beta"), large)
    assert refused.value.largest == 100
    for request, out in (
        (BatchRequest(TAG, 100, 600), "MaxArraySize = 101\n"),
        (large, ""),
        (large, "MaxArraySize = 0\n"),
    ):
        with pytest.raises(SubmissionRefused) as plain:
            SLURM.parse_submit(reply("submit-too-large-beta")._replace(out=out), request)
        assert not isinstance(plain.value, ArrayTooLarge)


@pytest.mark.parametrize(
    "answer",
    [
        reply("down-submit-alpha"),
        ShellResult(0, "", ""),
        ShellResult(0, "Submitted batch job 12\n", ""),
        ShellResult(0, "12\n", ""),
        ShellResult(1, "", "sbatch: error: Batch job submission failed: Unable to"),
        ShellResult(127, "", "sh: 1: sbatch: not found\n"),
        ShellResult(1, "", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n"),
    ],
)
def test_a_submission_without_a_clear_answer_is_no_refusal(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        SLURM.parse_submit(answer, REQUEST)


def test_the_words_of_a_sites_own_sbatch_are_kept_and_the_queue_is_asked() -> None:
    with pytest.raises(SubmissionFailed) as failed:
        SLURM.parse_submit(ShellResult(1, "Welcome to dahu.\n", "arrays are switched off here\n"), REQUEST)
    assert failed.value.said == "Welcome to dahu.\narrays are switched off here"
    assert str(failed.value) == f"sbatch (exit status 1): {failed.value.said}"


@pytest.mark.parametrize(
    "name",
    [
        *("AssocMaxSubmitJobLimit", "AssocGrpSubmitJobsLimit", "QOSGrpSubmitJobsLimit"),
        *("QOSMaxSubmitJobPerUserLimit", "QOSMaxSubmitJobPerAccountLimit"),
    ],
)
def test_a_limit_of_submitted_jobs_is_a_full_queue(name: str) -> None:
    policy = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
    said = f"sbatch: error: {name}\nsbatch: error: Batch job submission failed: {policy}\n"
    with pytest.raises(QueueFull, match=name) as full:
        SLURM.parse_submit(ShellResult(1, "", said), REQUEST)
    assert not full.value.counts_arrays
    for other in (said.replace(name, "QOSMaxWallDurationPerJobLimit"), said.replace(f"sbatch: error: {name}\n", "")):
        with pytest.raises(SubmissionRefused) as refused:
            SLURM.parse_submit(ShellResult(1, "", other), REQUEST)
        assert not isinstance(refused.value, QueueFull)


WAITING_SBATCH = """\
#!/bin/sh
echo "ERROR: ld.so: object '/opt/gone.so' from LD_PRELOAD cannot be preloaded: ignored." >&2
echo "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying" >&2
exec sleep 1000
"""
LIMITS_OF_SLURM = (
    "echo MaxArraySize = 1001; echo 'MaxJobCount   = 12'; echo 'MinJobAge   = 300 sec'; echo MaxStepCount = 9"
)


@pytest.mark.process
@pytest.mark.parametrize("shell", ["sh", "bash", "busybox"])
def test_an_sbatch_that_waits_for_room_is_ended_and_the_limit_is_named(tmp_path: Path, shell: str) -> None:
    for name, text in {"sbatch": WAITING_SBATCH, "scontrol": f"#!/bin/sh\n{LIMITS_OF_SLURM}\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    command = ["busybox", "sh"] if shell == "busybox" else [shell]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        command, input=SLURM.submit(REQUEST), env=environment, capture_output=True, text=True, timeout=120
    )
    with pytest.raises(SubmissionFailed) as failed:
        SLURM.parse_submit(ShellResult(done.returncode, done.stdout, done.stderr), REQUEST)
    assert str(failed.value.full) == (
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"
        " (MaxJobCount = 12, MinJobAge = 300 sec)"
    )


@pytest.mark.process
def test_the_words_of_sbatch_its_status_and_its_job_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho first >&2\necho 23\nprintf 'no end' >&2\nexit ${GIVEN:-0}\n")
    (tmp_path / "sbatch").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for status, out in (("0", f"23\n{END_OF_ANSWER}\n"), ("7", "23\n")):
        own = environment | {"GIVEN": status}
        done = subprocess.run(["sh"], input=SLURM.submit(REQUEST), env=own, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (int(status), out, "first\nno end\n")


def test_what_was_taken_after_some_waiting_is_taken() -> None:
    waited = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
    assert SLURM.parse_submit(ShellResult(0, f"23\n{END_OF_ANSWER}\n", waited), REQUEST)[1] == "23_1"


def test_words_without_a_job_are_kept_whatever_the_exit_status() -> None:
    with pytest.raises(SubmissionFailed) as failed:
        SLURM.parse_submit(ShellResult(0, f"Welcome.\n{END_OF_ANSWER}\n", "your project is suspended\n"), REQUEST)
    assert failed.value.said == "Welcome.\nyour project is suspended"


@pytest.mark.parametrize(
    "words",
    [
        "Your project is temporarily suspended",
        "We cannot receive your communication",
        "the transport of samples timed out, ask the office",
    ],
)
def test_what_a_site_says_through_sbatch_is_a_refusal_whatever_its_words(words: str) -> None:
    failure = "sbatch: error: Batch job submission failed: Unspecified error"
    with pytest.raises(SubmissionRefused, match=words):
        SLURM.parse_submit(ShellResult(1, "", f"sbatch: error: {words}\n{failure}\n"), REQUEST)


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_live_jobs_are_listed_with_their_states(name: str) -> None:
    jobs = by_index(SLURM.parse_status(reply(f"status-{name}"), "cigri-"), "cigri-recorded-many")
    assert sorted(jobs) == list(range(1, 41))
    assert jobs[40].state == RemoteJobState.HELD
    running, waiting = jobs[8], jobs[39]
    assert running.state == RemoteJobState.RUNNING
    assert running.node in (f"{name}-n1", f"{name}-n2")
    assert running.started is not None
    assert (waiting.reason, waiting.started, waiting.ended) == ("Resources", None, None)


def test_only_names_with_the_prefix_are_ours() -> None:
    assert SLURM.parse_status(reply("status-beside-a-nasty-name-alpha"), "cigri-") == []
    assert SLURM.parse_status(reply("status-alpha"), "cigri-8-") == []


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_a_job_that_slurm_begins_again_says_so(name: str) -> None:
    [job] = SLURM.parse_status(reply(f"status-begun-again-{name}"), "cigri-")
    assert (job.state, job.restarts) == (RemoteJobState.WAITING, 1)


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_a_cut_list_is_no_list(name: str) -> None:
    whole = reply(f"status-{name}").out
    for length in range(len(whole) - 1):
        with pytest.raises(UnreadableOutput):
            SLURM.parse_status(ShellResult(0, whole[:length], ""), "cigri-")


@pytest.mark.parametrize(
    "answer",
    [
        reply("down-status-alpha"),
        ShellResult(1, reply("status-alpha").out, ""),
        ShellResult(0, f"JOBID PARTITION NAME USER ST\n{END_OF_ANSWER}\n", ""),
        ShellResult(0, f"{END_OF_ANSWER}\n", ""),
        squeue(f"5|1-9,11-13...|PENDING|0|0|N/A|N/A||Priority|{TAG}|"),
    ],
)
def test_an_unreadable_list_is_no_list(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        SLURM.parse_status(answer, "cigri-")


def test_task_lists_have_ranges_steps_and_a_limit() -> None:
    [*jobs] = SLURM.parse_status(squeue(f"5|1,3,7-9,20-30:5%4|PENDING|0|0|N/A|N/A||A|B \\| c|{TAG}|"), "cigri-")
    assert [job.index for job in jobs] == [1, 3, 7, 8, 9, 20, 25, 30]
    assert {job.reason for job in jobs} == {r"A|B \| c"}


@pytest.mark.parametrize("word", [*SLURM_STATES, "SOMETHING_NEW"])
def test_each_state_word_is_understood_by_squeue_and_sacct(word: str) -> None:
    state = SLURM_STATES.get(word, RemoteJobState.UNKNOWN)
    row = f"5|1|{word}|0|0|1795171064|1795171065|n1|None|{TAG}|"
    live = [] if state.is_final else [state]
    assert [job.state for job in SLURM.parse_status(squeue(row), "cigri-")] == live
    assert [job.state for job in SLURM.parse_history(history(row))] == [state]
    remembered = SLURM.parse_history(sacct(f"5_1|{word}|0:0|1795171060|1795171064|1795171065|n1|{TAG}"))
    assert [job.state for job in remembered] == [state if state.is_final else RemoteJobState.UNKNOWN]


def test_accounting_alone_tells_the_same_as_squeue() -> None:
    whole = reply("history-codes-beta")
    _, table = whole.out.split(f"{END_OF_ANSWER}\n", 1)
    both, alone = (
        by_index(SLURM.parse_history(one), "cigri-recorded-codes") for one in (whole, whole._replace(out=table))
    )
    assert both == {index: replace(job, reason=both[index].reason) for index, job in alone.items()}
    killed = reply("history-killed-beta")
    alone = by_index(
        SLURM.parse_history(killed._replace(out=killed.out.split(f"{END_OF_ANSWER}\n", 1)[1])), "cigri-recorded-many"
    )
    assert alone[1].reason == "CANCELLED by 1001"
    assert alone[40].node == ""


def test_a_task_of_its_own_is_believed_more_than_the_rest_of_its_array() -> None:
    """sacct still counts a task that ran among those that were cancelled before they began."""
    rows = (f"5_{tasks}|{word}|0:0|1|1|2|n1|{TAG}" for tasks, word in [("3", "COMPLETED"), ("[3-5]", "CANCELLED by 1")])
    jobs = by_index(SLURM.parse_history(sacct(*rows)))
    assert [jobs[index].state for index in (3, 4, 5)] == [RemoteJobState.SUCCEEDED] + [RemoteJobState.KILLED] * 2


def test_of_a_requeued_job_the_last_line_counts() -> None:
    ended = [("PREEMPTED", "0:0", 20), ("COMPLETED", "0:0", 30), ("FAILED", "1:0", 10)]
    rows = (f"5_1|{state}|{code}|{submitted}|40|50|n[07-09,12]x|{TAG}" for state, code, submitted in ended)
    [job] = SLURM.parse_history(sacct(*rows))
    assert (job.state, job.node) == (RemoteJobState.SUCCEEDED, "n07x")


def test_of_an_id_that_was_given_anew_each_job_has_its_own_end() -> None:
    """A controller that came back with older state begins to count where it was then."""
    later = TAG + "9"
    rows = (f"5_1|CANCELLED by 1|0:0|10|20|30|n1|{TAG}", f"5_1|COMPLETED|0:0|40|50|60|n1|{later}")
    found = {job.tag: job.state for job in SLURM.parse_history(sacct(*rows))}
    assert found == {TAG: RemoteJobState.KILLED, later: RemoteJobState.SUCCEEDED}
    assert "--duplicates" in SLURM.history([(TAG, 1, "5_1")])


@pytest.mark.parametrize("name", ["refused-array-alpha", "refused-array-beta"])
def test_a_refused_array_left_no_jobs(name: str) -> None:
    assert SLURM.parse_history(reply(f"history-of-a-{name}")) == []


def test_a_line_that_does_not_say_which_tasks_it_means_is_left_out() -> None:
    """22.05 writes it when the owner cancels a waiting array by user or name."""
    assert SLURM.parse_history(history(f"2|N/A|CANCELLED|0|0|1795171067|1795171067||Resources|{TAG}|")) == []


@pytest.mark.parametrize(
    "answer",
    [
        reply("down-history-alpha"),
        reply("dbd-down-history-beta"),
        ShellResult(0, "", ""),
        ShellResult(0, reply("history-codes-beta").out.removesuffix(END_OF_ALL), ""),
        ShellResult(0, reply("history-codes-beta").out[:-5], ""),
        ShellResult(1, "", "Slurm accounting storage is disabled\n"),
    ],
)
def test_a_failed_history_is_no_oblivion(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        SLURM.parse_history(answer)


def test_a_cancel_is_taken_or_an_error() -> None:
    SLURM.parse_cancel(reply("cancel-alpha"))
    SLURM.parse_cancel(
        ShellResult(1, f"{END_OF_ANSWER}\n", "scancel: error: Kill job error on job id 7: Invalid job id specified\n")
    )
    for answer in (
        reply("cancel-denied-alpha"),
        reply("down-cancel-alpha"),
        ShellResult(127, "", ""),
        ShellResult(0, "", ""),
    ):
        with pytest.raises(UnreadableOutput):
            SLURM.parse_cancel(answer)


def test_of_commands_that_fail_for_what_is_gone_only_slurms_own_words_count() -> None:
    gone = "scancel: error: Kill job error on job id 7: Invalid job id specified\n"
    SLURM.parse_cancel(ShellResult(1, f"{END_OF_ANSWER}\n", STALE_PRELOAD + gone))
    SLURM.parse_control(ShellResult(1, f"{END_OF_ANSWER}\n", f"{STALE_PRELOAD}7_1: Invalid job id specified\n"))
    for said in (STALE_PRELOAD, f"{STALE_PRELOAD}{gone}scancel: error: Unable to contact slurm controller\n"):
        with pytest.raises(UnreadableOutput):
            SLURM.parse_cancel(ShellResult(1, f"{END_OF_ANSWER}\n", said))


def test_a_control_is_taken_or_a_clear_error() -> None:
    for line in ("7_1: Job is pending execution", "7_1: Job has already finished", "7_1: Job is not suspended"):
        SLURM.parse_control(ShellResult(1, f"{END_OF_ANSWER}\n", f"{line}\n"))
    with pytest.raises(UnreadableOutput, match="only operators of Slurm may suspend"):
        SLURM.parse_control(ShellResult(1, f"{END_OF_ANSWER}\n", "Access/permission denied for job 3_2\n"))
    with pytest.raises(UnreadableOutput, match="Slurm"):
        SLURM.parse_control(reply("control-denied-alpha"))


def test_a_control_names_one_array_at_a_time() -> None:
    script = SLURM.control(JobControl.HOLD, ["5_1", "6_2", "5_2"])
    lines = [line for line in script.splitlines() if line.startswith("scontrol ")]
    assert [shlex.split(line)[:3] for line in lines[:2]] == [
        ["scontrol", "hold", "5_[1-2]"],
        ["scontrol", "hold", "6_[2]"],
    ]


def run_cancel(ids: list[str], folder: Path, fails_on: str = "nothing") -> tuple[int, list[str]]:
    """Run the script with a scancel that writes down its words, and fails when it sees one of them."""
    body = f'#!/bin/sh\nfor word; do echo "$word" >>"{folder}/said"; done\ncase "$*" in *{fails_on}*) exit 9 ;; esac\n'
    (folder / "scancel").write_text(body)
    (folder / "scancel").chmod(0o755)
    (folder / "said").write_text("")
    status = subprocess.run(
        ["sh"], input=SLURM.cancel(ids), text=True, env={"PATH": f"{folder}:/usr/bin:/bin"}
    ).returncode
    return status, (folder / "said").read_text().split()


@given(st.sets(st.tuples(st.integers(1, 3), st.integers(1, 30)), min_size=1))
def test_a_cancel_names_exactly_the_jobs(jobs: set[tuple[int, int]]) -> None:
    named = set()
    command = next(
        line for line in SLURM.cancel([f"{a}_{i}" for a, i in jobs]).splitlines() if line.startswith("scancel")
    )
    for word in shlex.split(command.removesuffix(" || status=$?"))[1:]:
        array, ranges = word.rstrip("]").split("_[")
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            named |= {(int(array), index) for index in range(int(first), int(last or first) + 1)}
    assert named == jobs


@pytest.mark.process
def test_many_cancels_fit_a_command_and_no_failure_is_hidden(tmp_path: Path) -> None:
    ids = [f"12_{index}" for index in range(1, 60_000, 2)]
    status, said = run_cancel(ids, tmp_path, fails_on="[1,3,")
    assert status == 9
    assert sum(word.count(",") + 1 for word in said) == 30_000
    assert max(map(len, said)) < 100_000


def test_the_capacity_of_the_cluster_is_that_of_its_partitions() -> None:
    assert SLURM.parse_capacity(reply("capacity-alpha")) == Capacity(total=16, free=16, used=0, unavailable=0)
    assert SLURM.parse_capacity(ShellResult(0, f"4/8/2/14\n{END_OF_ANSWER}\n", "")) == Capacity(14, 8, 4, 2)
    driver = load("slurm", {"partition": "day", "besteffort_partition": "night"})
    assert "-p day,night" in driver.capacity("")
    assert "-p own" in driver.capacity("own")
    for name in ("capacity-unknown-queue-alpha", "down-capacity-alpha"):
        with pytest.raises(UnreadableOutput):
            SLURM.parse_capacity(reply(name))


def test_a_probe_says_the_version_when_a_controller_answers() -> None:
    assert SLURM.parse_probe(reply("probe-alpha")) == "Slurm 22.05.8"
    with pytest.raises(UnreadableOutput, match="DOWN"):
        SLURM.parse_probe(reply("down-probe-alpha"))


@pytest.mark.process
def test_the_names_of_the_nodes_need_no_command_when_there_is_one() -> None:
    script = f"SLURM_JOB_NODELIST=n7 SLURM_ARRAY_JOB_ID=5 SLURM_ARRAY_TASK_ID=2\n{SLURM.prelude}"
    done = subprocess.run(
        ["/bin/sh", "-c", f"PATH=/nowhere\n{script}cigri_nodes; echo $CIGRI_REMOTE_ID"], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("n7\n5_2\n", "")


def test_ten_thousand_live_jobs_are_read_at_once() -> None:
    running = [f"5|{index}|RUNNING|0|0|1795171064|1795171664|n{index % 90}|None|{TAG}|" for index in range(1, 5001)]
    answer = squeue(*running, f"5|5001-10000|PENDING|0|0|N/A|N/A||Priority|{TAG}|")
    begun = time.process_time()
    jobs = SLURM.parse_status(answer, "cigri-")
    assert time.process_time() - begun < 2
    assert len(jobs) == 10_000


def test_sick_nodes_are_left_out_beside_the_users_own_wishes() -> None:
    asked = SLURM.submit(BatchRequest(TAG, 1, 60, properties="fast", exclude=("n1", "n2.site")))
    assert " --constraint=fast " in asked
    assert " --exclude=n1,n2.site " in asked
    assert "--exclude" not in SLURM.submit(BatchRequest(TAG, 1, 60))
