"""What the Grid Engine driver makes of answers, recorded and made up."""

import re
import time
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, Capacity, RemoteJob, RemoteJobState, load
from cigri.drivers.gridengine import END
from cigri.errors import ArrayTooLarge, QueueFull, SubmissionFailed, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.recorded import STALE_PRELOAD

REPLIES = Path(__file__).parents[1] / "replies" / "gridengine"
GRID_ENGINE = load("gridengine", {})
TAG = "cigri-recorded-many"
REQUEST = BatchRequest(TAG, 30, 600)


def reply(name: str) -> ShellResult:
    found = re.fullmatch(
        r"exit status (\d+)\n== out ==\n(.*)== err ==\n(.*)", (REPLIES / f"8.1.9-{name}.txt").read_text(), re.DOTALL
    )
    assert found
    return ShellResult(int(found[1]), found[2], found[3])


def listed(state: str, tasks: str = "1", name: str = TAG, kind: str = "running") -> str:
    return (
        f'<job_list state="{kind}"><JB_job_number>5</JB_job_number><JB_name>{name}</JB_name><state>{state}</state>'
        f"<JAT_start_time>2026-11-20T13:24:37</JAT_start_time><queue_name>all.q@node7</queue_name>"
        f"<tasks>{tasks}</tasks></job_list>"
    )


def qstat(*jobs: str) -> ShellResult:
    return ShellResult(0, f"<job_info><queue_info>{''.join(jobs)}</queue_info><job_info></job_info></job_info>\n", "")


def history(*rows: str, live: ShellResult | None = None) -> ShellResult:
    lines = "".join(f"{row}\n" for row in rows)
    return ShellResult(0, f"{TAG}\n{(live or qstat()).out}{END}\n{lines}{END}\n", "")


def ended(failed: int, exit_status: int, start: int = 1795182000, end: int = 1795182010) -> RemoteJob:
    row = f"node7:{TAG}:5:{start}:{end}:{failed}:{exit_status}:1:-l h_rt=60,h_vmem=300M"
    [job] = GRID_ENGINE.parse_history(history(row))
    return job


def test_an_accepted_array_has_an_id_for_each_index() -> None:
    ids = GRID_ENGINE.parse_submit(ShellResult(0, "7.1-30:1\n", ""), REQUEST)
    assert (list(ids), ids[30]) == (list(range(1, 31)), "7.30")
    for out in ("7.1-3:1\n", "7.1-30:1", "7\n", "7.1-30:2\n"):
        with pytest.raises(UnreadableOutput):
            GRID_ENGINE.parse_submit(ShellResult(0, out, ""), REQUEST)


@pytest.mark.parametrize("name", ["submit-refused", "submit-refused-impossible", "submit-refused-resource"])
def test_a_refusal_carries_the_words_of_grid_engine(name: str) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        GRID_ENGINE.parse_submit(reply(name), REQUEST)
    assert str(refused.value) == reply(name).err.strip()


def test_the_largest_array_is_told() -> None:
    with pytest.raises(ArrayTooLarge) as refused:
        GRID_ENGINE.parse_submit(reply("submit-refused-large"), REQUEST)
    assert refused.value.largest == 75_000


@pytest.mark.parametrize(
    "err",
    [
        'Unable to run job: unable to send message to qmaster using port 1 on host "x": got send error\nExiting.\n',
        "Unable to run job: failed receiving gdi request response for mid=1 (got timeout error).\nExiting.\n",
        "Unable to run job: error: no suitable",
        "critical error: Please set the environment variable SGE_ROOT.\n",
        'qsub: invalid option argument "-foo"\n',
    ],
)
def test_a_submission_without_a_clear_answer_is_no_refusal(err: str) -> None:
    with pytest.raises(UnreadableOutput):
        GRID_ENGINE.parse_submit(ShellResult(1, "", err), REQUEST)


def test_the_words_of_a_sites_own_qsub_are_kept_and_the_queue_is_asked() -> None:
    with pytest.raises(SubmissionFailed) as failed:
        GRID_ENGINE.parse_submit(ShellResult(1, "Welcome.\n", "arrays are switched off here\n"), REQUEST)
    assert failed.value.said == "Welcome.\narrays are switched off here"


@pytest.mark.parametrize(
    "limit", ["3 jobs are allowed per user (current job count: 3)", "2 jobs are allowed per cluster"]
)
def test_a_limit_of_jobs_is_a_queue_that_is_full_of_arrays(limit: str) -> None:
    said = f"Unable to run job: job rejected: only {limit}\nExiting.\n"
    with pytest.raises(QueueFull, match=r"only \d jobs are allowed") as full:
        GRID_ENGINE.parse_submit(ShellResult(25, "", said), REQUEST)
    assert full.value.counts_arrays


def test_words_without_an_array_are_kept_whatever_the_exit_status() -> None:
    with pytest.raises(SubmissionFailed, match="your project is suspended"):
        GRID_ENGINE.parse_submit(ShellResult(0, "your project is suspended\n", ""), REQUEST)


def test_what_a_site_says_through_qsub_is_a_refusal_whatever_its_words() -> None:
    said = "Unable to run job: your project is in a timeout, and unable to contact you.\nExiting.\n"
    with pytest.raises(SubmissionRefused, match="timeout"):
        GRID_ENGINE.parse_submit(ShellResult(1, "", said), REQUEST)


def test_of_commands_that_fail_for_what_is_gone_only_grid_engines_own_words_count() -> None:
    gone = 'denied: job "7777777" does not exist\n'
    done = "alice has registered the job-array task 62.1 for deletion\n"
    GRID_ENGINE.parse_cancel(ShellResult(0, f"{done}{END}\n", STALE_PRELOAD))
    GRID_ENGINE.parse_cancel(ShellResult(1, f"{gone}{END}\n", STALE_PRELOAD))
    GRID_ENGINE.parse_cancel(ShellResult(1, f"{END}\n", STALE_PRELOAD + gone))
    GRID_ENGINE.parse_control(ShellResult(0, f"modified hold of job-array task 62.40\n{END}\n", STALE_PRELOAD))
    lost = "error: commlib error: got select error (Connection refused)\n"
    for out, said in ((f"{END}\n", STALE_PRELOAD), (f"{done}{END}\n", lost), (f"what?\n{END}\n", ""), (done, "")):
        with pytest.raises(UnreadableOutput):
            GRID_ENGINE.parse_cancel(ShellResult(1, out, said))


STATES = {
    RemoteJobState.WAITING: "qw Rq dqw Rwq",
    RemoteJobState.HELD: "hqw hRwq Eqw Ehqw EhRqw dEqw",
    RemoteJobState.RUNNING: "r t hr Rr Rt dr dt dRr dRt hRr",
    RemoteJobState.SUSPENDED: "s S T ts tS tT St Rs RS RT Rts RtS ds dS dT dRs sS",
    RemoteJobState.UNKNOWN: "z X new R d",
}


@pytest.mark.parametrize(("state", "letters"), [(state, one) for state, some in STATES.items() for one in some.split()])
def test_each_combination_of_letters_is_understood(state: RemoteJobState, letters: str) -> None:
    [job] = GRID_ENGINE.parse_status(qstat(listed(letters)), "cigri-")
    assert (job.state, job.restarts) == (state, int("R" in letters))
    assert bool(job.reason) == (state == RemoteJobState.UNKNOWN or "E" in letters)


def test_a_running_job_has_a_node_and_a_start_in_any_zone() -> None:
    [job] = GRID_ENGINE.parse_status(qstat(listed("r", "7")), "cigri-")
    assert job == RemoteJob(TAG, 7, "5.7", RemoteJobState.RUNNING, node="node7", started=1795181077.0)
    assert "TZ=UTC" in GRID_ENGINE.status("cigri-")


def test_waiting_jobs_are_one_element_with_ranges() -> None:
    jobs = GRID_ENGINE.parse_status(qstat(listed("qw", "1,3,17-20:1,30-40:5", kind="pending")), "cigri-")
    assert [job.index for job in jobs] == [1, 3, 17, 18, 19, 20, 30, 35, 40]
    assert {job.remote_id for job in jobs} == {f"5.{job.index}" for job in jobs}
    assert {job.started for job in jobs} == {None}


def test_only_names_with_the_prefix_are_ours_and_what_is_no_array_is_not() -> None:
    answer = qstat(listed("r", name="cigri-1"), listed("r", name="x-cigri-1"), listed("r", "", name="cigri-2"))
    assert [job.tag for job in GRID_ENGINE.parse_status(answer, "cigri-")] == ["cigri-1"]


@pytest.mark.parametrize("tasks", ["1-3", "1-", "a", "1,,2", "1-9:x"])
def test_a_list_of_tasks_that_cannot_be_read_is_no_list(tasks: str) -> None:
    with pytest.raises(UnreadableOutput):
        GRID_ENGINE.parse_status(qstat(listed("qw", tasks)), "cigri-")


def test_jobs_in_error_wait_and_say_so() -> None:
    jobs = GRID_ENGINE.parse_status(reply("status-of-errors"), "cigri-recorded-error")
    assert [(job.state, job.reason) for job in jobs] == [(RemoteJobState.HELD, "state Eqw")] * 2
    assert all(job.is_stuck and "qmod -cj" in job.meaning for job in jobs)


def test_jobs_in_deletion_on_a_lost_node_still_live() -> None:
    jobs = GRID_ENGINE.parse_status(reply("status-of-deleted-jobs"), "cigri-recorded-lost")
    assert {job.index: job.state for job in jobs} == dict.fromkeys((1, 2, 3), RemoteJobState.RUNNING)


@pytest.mark.parametrize(
    ("failed", "exit_status", "state", "exit_code"),
    [
        (0, 0, RemoteJobState.SUCCEEDED, 0),
        (0, 3, RemoteJobState.FAILED, 3),
        (0, 143, RemoteJobState.PREEMPTED, 143),
        (30, 100, RemoteJobState.FAILED, 100),
        (25, 99, RemoteJobState.UNKNOWN, None),
        (37, 137, RemoteJobState.OUT_OF_MEMORY, 137),
        (100, 137, RemoteJobState.KILLED, 137),
        (100, 138, RemoteJobState.TIMEOUT, 138),
        (100, 139, RemoteJobState.FAILED, 139),
        (100, 143, RemoteJobState.PREEMPTED, 143),
        (100, 0, RemoteJobState.NODE_FAILED, None),
        (19, 0, RemoteJobState.NODE_FAILED, None),
        (28, 0, RemoteJobState.NODE_FAILED, None),
    ],
)
def test_how_a_job_failed_tells_its_end(failed: int, exit_status: int, state: RemoteJobState, exit_code: int) -> None:
    job = ended(failed, exit_status)
    assert (job.state, job.exit_code, bool(job.reason)) == (state, exit_code, failed != 0)


def test_the_time_tells_which_limit_was_exceeded() -> None:
    assert ended(37, 137, end=1795182059).state == RemoteJobState.OUT_OF_MEMORY
    assert ended(37, 137, end=1795182060).state == RemoteJobState.TIMEOUT
    assert GRID_ENGINE.parse_history(reply("history-of-a-greedy-job"))[0].state == RemoteJobState.OUT_OF_MEMORY


def test_a_job_that_lives_again_is_not_at_its_end() -> None:
    row = f"node7:{TAG}:5:1795182000:1795182010:25:99:1:NONE"
    for letters, state in (("Rq", RemoteJobState.WAITING), ("Rr", RemoteJobState.RUNNING)):
        [job] = GRID_ENGINE.parse_history(history(row, live=qstat(listed(letters))))
        assert (job.state, job.restarts) == (state, 1)


def test_jobs_of_a_lost_node_have_failed_with_it() -> None:
    jobs = GRID_ENGINE.parse_history(reply("history-of-a-lost-node"))
    assert {(job.state, job.exit_code, job.node) for job in jobs} == {(RemoteJobState.NODE_FAILED, None, "gamma")}


def test_live_jobs_that_were_not_asked_for_are_not_in_the_history() -> None:
    assert GRID_ENGINE.parse_history(history(live=qstat(listed("r", name="cigri-other")))) == []


@pytest.mark.parametrize("row", ["x", "a:b:c:d:e:f:g:h:i", f"node7:{TAG}:5:1:2:0::1:"])
def test_a_record_that_cannot_be_read_is_no_oblivion(row: str) -> None:
    with pytest.raises(UnreadableOutput):
        GRID_ENGINE.parse_history(history(row))


def test_a_cancel_is_taken_or_an_error() -> None:
    for name in ("cancel", "cancel-gone"):
        GRID_ENGINE.parse_cancel(reply(name))
    lines = (
        "alice has deleted job 40",
        "alice has deleted job-array task 40.2000",
        "alice has deleted job-array tasks 20-24:2 of job 30",
        "alice has registered the job-array task 30.9 for deletion",
        'job "30" task "77" does not exist',
        "job 37 is already in deletion",
    )
    GRID_ENGINE.parse_cancel(ShellResult(0, "".join(f"{line}\n" for line in lines) + f"{END}\n", ""))
    denied = 'bob - you do not have the necessary privileges to delete the job "30"'
    for out in (f"{lines[0]}\n{denied}\n{END}\n", f"{lines[0]}\n", f"sh: 1: qdel: not found\n{END}\n"):
        with pytest.raises(UnreadableOutput):
            GRID_ENGINE.parse_cancel(ShellResult(0, out, ""))


def test_a_control_is_taken_or_an_error() -> None:
    lines = (
        "modified hold of job-array task 30.40",
        "alice - suspended job-array task 30.3",
        "alice - job-array task 41.2 is already unsuspended",
        'invalid queue or job "99999"',
        'denied: job "99999" does not exist',
        "Modify operation can not be applied on job-array task 41.17 in pending/hold state",
    )
    GRID_ENGINE.parse_control(ShellResult(0, "".join(f"{line}\n" for line in lines) + f"{END}\n", ""))
    for denied in (
        'denied: "bob" must be at least owner of job 30 to change job attributes',
        'bob - you have no permission to modify job "30"',
    ):
        with pytest.raises(UnreadableOutput):
            GRID_ENGINE.parse_control(ShellResult(0, f"{denied}\n{END}\n", ""))


def qhost(names: str, *hosts: dict[str, tuple[int, int, str]]) -> ShellResult:
    """Each host has queues with slots, used ones, and states."""
    body = ""
    for host in hosts:
        queues = ""
        for name, (slots, used, states) in host.items():
            values = {"slots_used": used, "slots": slots, "state_string": states}
            texts = "".join(f"<queuevalue name='{key}'>{value}</queuevalue>" for key, value in values.items())
            queues += f"<queue name='{name}'>{texts}</queue>"
        body += f"<host name='n'>{queues}</host>"
    return ShellResult(0, f"{names}\n<qhost>{body}</qhost>\n", "")


def test_a_core_that_several_queues_share_counts_once() -> None:
    hosts = ({"all.q": (16, 3, ""), "be.q": (8, 2, ""), "x.q": (99, 1, "")}, {"x.q": (7, 7, "")}, {"be.q": (4, 9, "")})
    assert GRID_ENGINE.parse_capacity(qhost("all.q be.q", *hosts)) == Capacity(20, 2, 10, 8)
    assert GRID_ENGINE.parse_capacity(qhost("all.q", *hosts)) == Capacity(16, 10, 6, 0)
    assert GRID_ENGINE.parse_capacity(qhost("", *hosts)) == Capacity(110, 93, 17, 0)


@pytest.mark.parametrize("states", ["d", "au", "u", "a", "E", "S", "s", "D", "C", "o", "dE"])
def test_a_queue_that_starts_no_jobs_is_unavailable(states: str) -> None:
    used = 0 if "u" in states else 3
    assert GRID_ENGINE.parse_capacity(qhost("all.q", {"all.q": (8, 3, states)})) == Capacity(8, 0, used, 8 - used)


@pytest.mark.parametrize("states", ["", "c", "A"])
def test_a_queue_in_another_state_starts_jobs(states: str) -> None:
    assert GRID_ENGINE.parse_capacity(qhost("all.q", {"all.q": (8, 3, states)})) == Capacity(8, 5, 3, 0)


def test_recorded_capacities() -> None:
    driver = load("gridengine", {})
    found = {name: driver.parse_capacity(reply(f"capacity-{name}")) for name in ("suspended", "disabled", "lost")}
    assert found["suspended"].free == found["disabled"].free == found["lost"].free == 0
    assert found["lost"] == Capacity(16, 0, 0, 16)
    for name in ("capacity-unknown-queue", "down-capacity"):
        with pytest.raises(UnreadableOutput):
            driver.parse_capacity(reply(name))


def test_a_probe_says_the_version_when_a_qmaster_answers() -> None:
    assert GRID_ENGINE.parse_probe(reply("probe")) == "Grid Engine 8.1.9"
    assert GRID_ENGINE.parse_probe(ShellResult(0, f"OGS/GE 2011.11p1\n{END}\n", "")) == "Grid Engine OGS/GE 2011.11p1"
    with pytest.raises(UnreadableOutput):
        GRID_ENGINE.parse_probe(reply("down-probe"))


def test_ten_thousand_live_jobs_are_read_at_once() -> None:
    running = [listed("r", str(index)) for index in range(1, 5001)]
    answer = qstat(*running, listed("qw", "5001-10000:1", kind="pending"))
    begun = time.process_time()
    jobs = GRID_ENGINE.parse_status(answer, "cigri-")
    assert time.process_time() - begun < 5
    assert len(jobs) == 10_000


# As 8.1.9 writes them: the number of the first job is in another element than those of the others.
MESSAGES = """\
  <messages>
    <element>
      <SME_message_list>
        <element>
          <MES_job_number_list><ulong_sublist><ULNG_value>5</ULNG_value></ulong_sublist></MES_job_number_list>
          <MES_message_number>14</MES_message_number>
          <MES_message>does not request &apos;forced&apos; resource &quot;low&quot; of queue instance l@n1</MES_message>
        </element>
        <element>
          <MES_job_number_list><element><ULNG_value>5</ULNG_value></element></MES_job_number_list>
          <MES_message_number>0</MES_message_number>
          <MES_message>{said}</MES_message>
        </element>
      </SME_message_list>
      <SME_global_message_list>{of_all}</SME_global_message_list>
    </element>
  </messages>
"""
DISABLED = 'queue instance "low.q@n1" dropped because it is disabled'
FULL = 'queue instance "all.q@n1" dropped because it is full'
NO_SUCH_ARCH = '(-l arch=sparc) cannot run at host "n1" because it offers only hl:arch=lx-amd64'


def waiting(said: str, *of_all: str, state: str = "qw") -> RemoteJob:
    messages = "".join(f"<element><MES_message>{one}</MES_message></element>" for one in of_all)
    told = MESSAGES.format(said=said, of_all=messages)
    jobs = qstat(listed(state, kind="pending"))
    [job] = GRID_ENGINE.parse_status(ShellResult(0, f"{jobs.out}{END}\n{told}", ""), TAG)
    return job


@pytest.mark.parametrize(
    "said",
    [
        NO_SUCH_ARCH,
        '(-l h_rt=600) cannot run in queue "all.q@n1" because it offers only qf:h_rt=00:00:10',
        '(-l h_rt=600) cannot run in queue "all.q" because of cluster queue',
        'has no permission for cluster queue "all.q"',
        '(project none) does not have the correct project to run in cluster queue "all.q"',
        'cannot run in queue "all.q@n1" because PE "smp" is not in pe list',
    ],
)
def test_a_job_that_no_queue_allows_waits_in_vain(said: str) -> None:
    for of_all in ((), (DISABLED,)):
        job = waiting(said, *of_all)
        assert (job.state, job.reason, job.is_stuck) == (RemoteJobState.WAITING, said, True)
        assert "has no host with what it asks for" in job.meaning
    assert not waiting(said, FULL).is_stuck
    assert waiting(said, FULL).reason == FULL


@pytest.mark.parametrize(
    "said",
    [
        '(-l licence=50) cannot run at host "n1" because it offers only hc:licence=2.000000',
        '(-l mem_free=4G) cannot run at host "n1" because it offers only hl:mem_free=2.0G',
        'cannot run in PE "smp" because it only offers 1 slots',
        'cannot run because it exceeds limit "alice/////" in rule "few/1"',
        "words of another version",
    ],
)
def test_what_comes_back_or_is_not_known_passes(said: str) -> None:
    job = waiting(said, DISABLED)
    assert (job.reason, job.meaning, job.is_stuck) == (said, "", False)


def test_messages_tell_nothing_of_other_jobs_of_jobs_that_are_held_and_when_they_are_cut() -> None:
    assert waiting("cannot run", state="hqw").reason == ""
    told = MESSAGES.format(said=NO_SUCH_ARCH, of_all="").replace("<ULNG_value>5<", "<ULNG_value>6<")
    for text in (told, MESSAGES.format(said=NO_SUCH_ARCH, of_all="")[:700], "", "error: commlib error\n"):
        answer = ShellResult(0, f"{qstat(listed('qw', kind='pending')).out}{END}\n{text}", "")
        [job] = GRID_ENGINE.parse_status(answer, TAG)
        assert (job.state, job.reason, job.is_stuck) == (RemoteJobState.WAITING, "", False)
