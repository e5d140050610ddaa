"""The OAR driver: what it asks for, what it makes of OAR's events, and of the JSON of OAR 3."""

import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cigri.drivers import BatchRequest, Capacity, JobControl, RemoteJob, RemoteJobState, ResourceRequest, load
from cigri.drivers.oar.output_parsing import END_OF_OAR_ANSWER
from cigri.errors import ConfigError, SubmissionFailed, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.recorded import STALE_PRELOAD

OAR = load("oar", {})
TAG = "cigri-7-1"
REQUEST = BatchRequest(TAG, 3, 600)
CHECKPOINT = "User oar ({}) requested a checkpoint on the job 12 on n1"


def words(script: str) -> list[str]:
    """The words of oarsub."""
    [line] = [line for line in script.splitlines() if line.startswith("oarsub ")]
    return shlex.split(line)


def job(number: int = 12, **values: Any) -> dict[str, Any]:
    """A job as oarstat -J -f of 2.5 has it."""
    plain = {"name": TAG, "array_index": 1, "Job_Id": number, "state": "Error", "exit_code": None, "events": []}
    times = {"startTime": 1795180000, "stopTime": 1795180060, "assigned_network_address": ["n1", "n2"]}
    return {**plain, **times, "resubmit_job_id": 0, "message": "", **values}


def events(*types: str, **texts: str) -> list[dict[str, str]]:
    return [{"type": name, "description": "some words"} for name in types] + [
        {"type": name, "description": text} for name, text in texts.items()
    ]


def listed(*jobs: dict[str, Any]) -> ShellResult:
    return ShellResult(0, f"{json.dumps({str(one['Job_Id']): one for one in jobs})}\n{END_OF_OAR_ANSWER}\n", "")


def history(*jobs: dict[str, Any]) -> RemoteJob:
    [found] = OAR.parse_history(listed(*jobs))
    return found


def test_a_submission_asks_for_what_is_wished() -> None:
    options = {
        "project": "grid",
        "properties": "a='1'",
        "memory": "memnode",
        "disk": "tmp",
        "core": "cpucore",
        "queue": "day",
    }
    request = BatchRequest(TAG, 7, 3661, ResourceRequest(cpu=4, nodes=2, mem=1500, tmp=7), 45, properties="b or c")
    asked = words(load("oar", options).submit(request))
    assert set(asked) >= {"--array=7", f"--name={TAG}", "--resource=/nodes=2/cpucore=4,walltime=1:01:01"}
    assert set(asked) >= {"--project=grid", "--property=(a='1') AND (b or c) AND (memnode >= 1500) AND (tmp >= 7)"}
    assert set(asked) >= {"--type=besteffort", "--checkpoint=45", "--signal=14"}
    assert 'exec ./job "$OAR_WORKDIR" 45 45' in asked
    assert not [word for word in asked if word.startswith("--queue")]


def test_a_normal_job_has_its_own_queue_and_alternatives_their_walltimes() -> None:
    shapes = ResourceRequest(native=("/nodes=2", "{x=1}/core=3+/core=1"))
    request = BatchRequest(TAG, 1, 60, shapes, notice=0, besteffort=False, types=("container", "inner=3"))
    asked = words(load("oar", {"queue": "day"}).submit(request))
    assert {"--resource=/nodes=2,walltime=0:01:00", "--resource={x=1}/core=3+/core=1,walltime=0:01:00"} <= set(asked)
    assert {"--queue=day", "--type=container", "--type=inner=3"} <= set(asked)
    assert not {"--type=besteffort", "--type=idempotent"} & set(asked)
    assert not [word for word in asked if word.startswith(("--checkpoint", "--signal"))]


def test_a_grace_is_longer_than_the_notice_for_besteffort_jobs_only() -> None:
    driver = load("oar", {"grace": 300})
    assert "--checkpoint=300" in words(driver.submit(REQUEST))
    assert "--checkpoint=30" in words(driver.submit(BatchRequest(TAG, 1, 60, besteffort=False)))


def test_no_user_text_reaches_a_shell() -> None:
    nasty = "$(touch /tmp/x)`id`';\"\n& *"
    request = BatchRequest(TAG, 1, 60, ResourceRequest(native=(nasty,)), queue=nasty, project=nasty, types=(nasty,))
    script = OAR.submit(request)
    asked = shlex.split(script[script.index("oarsub ") :])
    assert {f"--queue={nasty}", f"--project={nasty}", f"--type={nasty}", f"--resource={nasty},walltime=0:01:00"} <= set(
        asked
    )
    assert "'no''where'" in "".join(shlex.split(OAR.capacity("no'where")))


@pytest.mark.parametrize(
    "options",
    [{"queu": "x"}, {"grace": -1}, {"grace": "5"}, {"core": "a b"}, {"types": ["idempotent"]}, {"queue": ""}],
)
def test_wrong_options_are_named(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        load("oar", options)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (BatchRequest(TAG, 1, 60, types=("idempotent",)), "CiGri does; leave it out"),
        (BatchRequest(TAG, 1, 60, types=("timesharing",)), "allowed are: .*timesharing=\\*,\\*"),
        (
            BatchRequest(TAG, 1, 60, types=("day",)),
            "no type of jobs 'day' .* allowed are: besteffort, .*, night, token",
        ),
        (BatchRequest(TAG, 1, 60, ResourceRequest(mem=5)), "leave mem out"),
        (BatchRequest(TAG, 1, 60, ResourceRequest(tmp=5)), "leave tmp out"),
        (BatchRequest(TAG, 1, 60, ResourceRequest(others={"gpu": 2})), "/nodes=1/gpu=2"),
        (BatchRequest(TAG, 1, 60, queue="day"), 'leave the queue out, or write "type": "normal"'),
        (BatchRequest(TAG, 1, 60, types=("inner=3",)), 'besteffort job in a container.*write "type": "normal"'),
    ],
)
def test_what_can_never_be_is_said_with_what_to_write(request_: BatchRequest, problem: str) -> None:
    [said] = load("oar", {"types": ["night", "token"]}).problems(request_)
    assert re.search(problem, said)


def test_the_types_of_oar_and_of_the_site_are_allowed() -> None:
    own = "container container=a inner=3 timesharing=*,* timesharing=user,name cosystem=standby deploy noop besteffort"
    request = BatchRequest(TAG, 1, 60, besteffort=False, types=(*own.split(), "night", "token:x=2"))
    assert load("oar", {"types": ["night", "token"]}).problems(request) == []


@pytest.mark.parametrize(
    "out",
    [
        "OAR_JOB_ID=5\nOAR_JOB_ID=6\n",
        f"OAR_JOB_ID=5\nOAR_JOB_ID=6\n{END_OF_OAR_ANSWER} 0\n",
        f"OAR_JOB_ID=5\nOAR_JOB_ID=6\nOAR_JOB_ID=6\n{END_OF_OAR_ANSWER} 0\n",
        f"OAR_JOB_ID=5\nOAR_JOB_ID=6\nOAR_JOB_ID=7\n[ERROR] Cannot connect to executor\n{END_OF_OAR_ANSWER} 9\n",
        f"OAR_JOB_ID=5\n/!\\ something odd\n{END_OF_OAR_ANSWER} 8\n",
        f"[IOlib] Cannot connect to database (type=Pg\n{END_OF_OAR_ANSWER} 255\n",
        f"oarsub: not found\n{END_OF_OAR_ANSWER} 127\n",
    ],
)
def test_a_submission_without_a_clear_answer_is_no_refusal(out: str) -> None:
    with pytest.raises(UnreadableOutput):
        OAR.parse_submit(ShellResult(0, out, ""), REQUEST)


def test_a_refusal_carries_the_words_of_oar_alone() -> None:
    said = "[ADMISSION RULE] Set default walltime to 7200.\nOAR_JOB_ID=-5\nThere are not enough resources\n"
    with pytest.raises(SubmissionRefused) as refused:
        OAR.parse_submit(ShellResult(0, f"{said}{END_OF_OAR_ANSWER} 8\n", ""), REQUEST)
    assert str(refused.value) == "There are not enough resources"
    with pytest.raises(SubmissionRefused, match="unknown job type: foo"):
        OAR.parse_submit(
            ShellResult(0, f"[ADMISSION RULE] Error: unknown job type: foo\n\n{END_OF_OAR_ANSWER} 254\n", ""), REQUEST
        )


def test_the_words_of_a_sites_own_rule_are_kept_and_the_queue_is_asked() -> None:
    told = "[ADMISSION RULE] Set default walltime to 7200."
    said = f"{told}\n[ADMISSION RULE] 'core' resource is not allowed with a deploy job\n"
    with pytest.raises(SubmissionFailed) as failed:
        OAR.parse_submit(ShellResult(0, f"{said}{END_OF_OAR_ANSWER} 254\n", ""), REQUEST)
    assert failed.value.said == said.strip()
    assert str(failed.value) == f"oarsub (exit status 254): {said.strip()}"


def test_words_without_a_job_are_kept_whatever_the_exit_status() -> None:
    with pytest.raises(SubmissionFailed, match="your project is suspended"):
        OAR.parse_submit(ShellResult(0, f"your project is suspended\n{END_OF_OAR_ANSWER} 0\n", ""), REQUEST)


def test_a_rule_that_speaks_of_a_database_is_a_refusal_as_any_other() -> None:
    said = f"You must connect to the database of projects first\n{END_OF_OAR_ANSWER} 254\n"
    with pytest.raises(SubmissionRefused, match="connect to the database of projects first"):
        OAR.parse_submit(ShellResult(0, said, ""), REQUEST)


def test_what_is_said_of_a_stale_library_does_not_hide_the_words_of_a_rule() -> None:
    said = f"{STALE_PRELOAD}[ADMISSION RULE] not with a deploy job\n"
    with pytest.raises(SubmissionFailed, match="not with a deploy job"):
        OAR.parse_submit(ShellResult(0, f"{said}{END_OF_OAR_ANSWER} 254\n", ""), REQUEST)


def test_of_a_control_only_oars_own_complaints_count_on_standard_error() -> None:
    sent = f"[5] Hold request was sent to the OAR server.\n{END_OF_OAR_ANSWER}\n"
    OAR.parse_control(ShellResult(0, sent, STALE_PRELOAD))
    OAR.parse_control(ShellResult(0, f"{END_OF_OAR_ANSWER}\n", "/!\\ Cannot hold 5 : this job does not exist.\n"))
    for out, said in (
        (f"{END_OF_OAR_ANSWER}\n", STALE_PRELOAD),
        (sent, "/!\\ Cannot hold 6 : you are not the right user.\n"),
        (sent, "DB connection error, exiting.\n"),
    ):
        with pytest.raises(UnreadableOutput):
            OAR.parse_control(ShellResult(0, out, said))


KILL = ("FRAG_JOB_REQUEST", "SEND_KILL_JOB", "SWITCH_INTO_ERROR_STATE")


@pytest.mark.parametrize(
    ("types", "state", "reason"),
    [
        (("BESTEFFORT_KILL", *KILL), RemoteJobState.PREEMPTED, "some words"),
        (("CHECKPOINT", "BESTEFFORT_KILL", *KILL, "EXTERMINATE_JOB"), RemoteJobState.PREEMPTED, "some words"),
        (("WALLTIME", *KILL), RemoteJobState.TIMEOUT, "some words"),
        (KILL, RemoteJobState.KILLED, "some words"),
        ((*KILL, "EXTERMINATE_JOB"), RemoteJobState.KILLED, "some words"),
        (("EXTERMINATE_JOB",), RemoteJobState.NODE_FAILED, "EXTERMINATE_JOB: some words"),
        (("PING_CHECKER_NODE_SUSPECTED",), RemoteJobState.NODE_FAILED, "PING_CHECKER_NODE_SUSPECTED: some words"),
        (("LAUNCHING_OAREXEC_TIMEOUT",), RemoteJobState.NODE_FAILED, "LAUNCHING_OAREXEC_TIMEOUT: some words"),
        (("WORKING_DIRECTORY", "SWITCH_INTO_ERROR_STATE"), RemoteJobState.NODE_FAILED, "WORKING_DIRECTORY: some words"),
        ((), RemoteJobState.NODE_FAILED, "OAR does not say why it failed"),
        (("RESUBMIT_JOB_AUTOMATICALLY", "CPUSET_ERROR"), RemoteJobState.UNKNOWN, "some words"),
    ],
)
def test_the_events_of_a_job_say_whose_fault_it_was(types: tuple[str, ...], state: RemoteJobState, reason: str) -> None:
    found = history(job(events=events(*types)))
    assert (found.state, found.reason, found.exit_code) == (state, reason, None)


@pytest.mark.parametrize(
    ("waited", "who", "state", "code"),
    [
        (0, "", RemoteJobState.SUCCEEDED, 0),
        (0, "metasched", RemoteJobState.SUCCEEDED, 0),
        (66 << 8, "", RemoteJobState.FAILED, 66),
        (9, "", RemoteJobState.FAILED, 137),
        (139, "", RemoteJobState.FAILED, 139),
        (143 << 8, "metasched", RemoteJobState.PREEMPTED, None),
        (15, "metasched", RemoteJobState.PREEMPTED, None),
        (143 << 8, "sarko", RemoteJobState.TIMEOUT, None),
        (None, "", RemoteJobState.UNKNOWN, None),
    ],
)
def test_an_end_is_known_by_its_wait_status(
    waited: int | None, who: str, state: RemoteJobState, code: int | None
) -> None:
    told = events(CHECKPOINT=CHECKPOINT.format(who)) if who else []
    found = history(job(state="Terminated", exit_code=waited, events=told))
    assert (found.state, found.exit_code) == (state, code)
    assert (found.node, found.started) == ("n1", 1795180000)


def test_a_job_that_oar_submitted_again_takes_the_place_of_the_one_before() -> None:
    dead = job(events=events("RESUBMIT_JOB_AUTOMATICALLY"))
    again = job(40, state="Running", resubmit_job_id=12, message="R=1")
    assert history(again, dead).remote_id == "40"
    [found] = OAR.parse_status(listed(dead, again), "cigri-")
    assert (found.remote_id, found.state, found.restarts) == ("40", RemoteJobState.RUNNING, 1)
    [third] = OAR.parse_status(listed(dead, again, job(41, state="Hold", resubmit_job_id=40)), "cigri-")
    assert (third.remote_id, third.state, third.restarts) == ("41", RemoteJobState.HELD, 2)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("Waiting", RemoteJobState.WAITING),
        ("toLaunch", RemoteJobState.WAITING),
        ("Hold", RemoteJobState.HELD),
        ("Finishing", RemoteJobState.RUNNING),
        ("Resuming", RemoteJobState.SUSPENDED),
        ("Sleeping", RemoteJobState.UNKNOWN),
    ],
)
def test_each_word_of_a_living_job_is_understood(word: str, state: RemoteJobState) -> None:
    [found] = OAR.parse_status(listed(job(state=word, stopTime=0)), TAG)
    assert (found.state, found.ended) == (state, None)
    assert found.started == (None if state in (RemoteJobState.WAITING, RemoteJobState.HELD) else 1795180000)


def test_the_json_of_oar_3_is_understood() -> None:
    """Its REST API and some of its commands have other names, lists in place of objects, and no null."""
    ended = {"id": 12, "name": TAG, "array_index": 2, "state": "Terminated", "exit_code": 768, "start_time": 5}
    living = {"id": 13, "name": TAG, "array_index": 3, "state": "Running", "nodes": [{"network_address": "n7"}]}
    coded = {"id": 14, "name": TAG, "array_index": 4, "state": "Terminated", "exit_status_code": 66}
    for whole in ([ended, living, coded], {"items": [ended, living, coded], "total": 3}):
        found = OAR.parse_history(ShellResult(0, f"{json.dumps(whole)}\n{END_OF_OAR_ANSWER}\n", ""))
        assert [(one.index, one.state, one.exit_code, one.node) for one in found] == [
            (2, RemoteJobState.FAILED, 3, ""),
            (3, RemoteJobState.RUNNING, None, "n7"),
            (4, RemoteJobState.FAILED, 66, ""),
        ]
    assert (
        OAR.parse_probe(ShellResult(0, f'OAR Version: 3.0.0\n{{"1" : "Alive"}}\n{END_OF_OAR_ANSWER}\n', ""))
        == "OAR 3.0.0"
    )


def test_an_empty_list_needs_a_witness() -> None:
    assert OAR.parse_status(ShellResult(0, f'{{"1" : "Alive"}}\n{END_OF_OAR_ANSWER}\n', ""), TAG) == []
    for out in (
        f"{{}}\n{END_OF_OAR_ANSWER}\n",
        f"\n{END_OF_OAR_ANSWER}\n",
        f"[]\n{END_OF_OAR_ANSWER}\n",
        '{"1" : "Alive"}\n',
        "",
    ):
        with pytest.raises(UnreadableOutput):
            OAR.parse_status(ShellResult(0, out, ""), TAG)


def test_when_a_job_is_to_start_stands_in_the_second_list_of_its_array() -> None:
    """As 2.5.9 tells it; a job that has begun between the two lists was not begun anew."""
    waits = {"state": "Waiting", "message": "R=16,W=0:10:0,J=B (Karma=0.000,quota_ok)"}
    short = [job(12, **waits, array_index=1), job(13, **waits, array_index=2), job(14, **waits, array_index=3)]
    long = [job(12, **waits, array_index=1, scheduledStart=1795946267), job(13, state="Running", array_index=2)]
    both = listed(*short).out + listed(*long).out
    found = {one.index: one for one in OAR.parse_status(ShellResult(0, both, ""), TAG)}
    assert {index: one.expected for index, one in found.items()} == {1: 1795946267.0, 2: None, 3: None}
    assert found[2].state is RemoteJobState.RUNNING
    assert {one.restarts for one in found.values()} == {0}


def test_a_scheduler_that_was_not_seen_for_long_is_no_answer() -> None:
    with pytest.raises(UnreadableOutput, match="does Almighty run"):
        OAR.parse_probe(ShellResult(0, f"OAR version : 2.5.9 (Canicule)\n{{}}\n{END_OF_OAR_ANSWER}\n", ""))


def test_each_core_is_counted_once_whatever_its_resources() -> None:
    def core(number: int, **values: object) -> dict[str, object]:
        return {"resource_id": number, "network_address": "n1", "core": number // 2, "state": "Alive", **values}

    up = [core(2), core(3), core(4, jobs="7, 8"), core(5)]
    down = [
        core(6, state="Suspected"),
        core(7),
        core(8, drain="YES", jobs="9"),
        core(10, state="Absent", available_upto=0),
    ]
    asleep = [core(12, state="Absent", available_upto=1900000000)]
    found = {str(one["resource_id"]): one for one in (*up, *down, *asleep)}
    answer = ShellResult(0, f"{json.dumps(found)}\n{END_OF_OAR_ANSWER}\n", "")
    assert OAR.parse_capacity(answer) == Capacity(total=6, free=2, used=1, unavailable=3)
    assert load("oar", {"core": "resource_id"}).parse_capacity(answer).total == 9


def test_controls_are_those_of_the_cluster() -> None:
    assert OAR.controls == {JobControl.HOLD, JobControl.RELEASE}
    assert load("oar", {"suspend": True}).controls == set(JobControl)
    assert "oarhold -r 5 6" in load("oar", {"suspend": True}).control(JobControl.SUSPEND, ["5", "6"])
    for said in ("this job does not exist.", "the job is not in the right state (try '-r' option)."):
        OAR.parse_control(ShellResult(0, f"/!\\ Cannot hold 5 : {said}\n{END_OF_OAR_ANSWER}\n", ""))
    with pytest.raises(UnreadableOutput):
        OAR.parse_control(ShellResult(0, f"CPUSET tag is not configured in the oar.conf.\n{END_OF_OAR_ANSWER}\n", ""))


def test_a_suspended_job_is_known() -> None:
    """Recorded from a cluster that lets users suspend jobs, which that of the testbed does not."""
    text = (Path(__file__).parents[1] / "replies" / "oar" / "2.5.9-status-suspended.txt").read_text()
    out = text.removeprefix("exit status 0\n== out ==\n").removesuffix("== err ==\n")
    found = {one.index: one.state for one in OAR.parse_status(ShellResult(0, out, ""), "cigri-recorded")}
    assert found == {1: RemoteJobState.SUSPENDED, 2: RemoteJobState.RUNNING}


def run(script: str, folder: Path, **commands: str) -> subprocess.CompletedProcess[str]:
    """Run a script among commands of ours."""
    for name, body in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin"}
    return subprocess.run(["sh"], input=script, text=True, capture_output=True, env=environment, cwd=folder)


@pytest.mark.process
def test_nothing_is_changed_before_the_database_has_answered(tmp_path: Path) -> None:
    """Without it oarsub and oardel wait, for ever, and would then do what nobody wants any more."""
    changed = {name: f"echo {name} >>done" for name in ("oarsub", "oardel", "oarhold")}
    for script in (OAR.submit(REQUEST), OAR.cancel(["5"]), OAR.control(JobControl.HOLD, ["5"])):
        ended = run(script, tmp_path, oarstat="echo 'DB connection error, exiting.' >&2; exit 25", **changed)
        assert ended.returncode == 25
    assert not (tmp_path / "done").exists()


@pytest.mark.process
@pytest.mark.parametrize("long", ["", "{}", json.dumps({"12": job(12, state="Waiting", scheduledStart=1795946267)})])
def test_where_none_waits_any_more_there_is_no_second_list(tmp_path: Path, long: str) -> None:
    """OAR submits a job again between the two: oarnodes, asked whether none waits, would list all nodes."""
    short = json.dumps({"12": job(12, state="Waiting")})
    lists = f"case \"$*\" in *' -f '*) printf %s '{long}' ;; *) echo '{short}' ;; esac"
    ended = run(OAR.status("cigri-7"), tmp_path, oarstat=lists, oarnodes='echo \'{"n1" : {"1" : "Alive"}}\'')
    [found] = OAR.parse_status(ShellResult(ended.returncode, ended.stdout, ended.stderr), "cigri-7")
    assert (found.state, found.expected) == (RemoteJobState.WAITING, 1795946267.0 if "12" in long else None)


@pytest.mark.process
def test_many_jobs_fit_into_commands(tmp_path: Path) -> None:
    ids = [str(number) for number in range(1_000_000, 1_030_000)]
    say = 'for word; do [ ${#word} -lt 120000 ] || echo long >>long; done; echo \'{"1":"Alive"}\''
    ended = run(OAR.cancel(ids), tmp_path, oarstat=say, oardel='echo "$#" >>count')
    assert OAR.parse_cancel(ShellResult(ended.returncode, ended.stdout, ended.stderr)) is None
    assert sum(map(int, (tmp_path / "count").read_text().split())) == 30_000
    jobs = [(f"cigri-{batch}", index, "") for batch in range(30) for index in range(1, 1001)]
    assert run(OAR.history(jobs), tmp_path, oarstat=say).stdout.count(END_OF_OAR_ANSWER) > 1
    assert not (tmp_path / "long").exists()


def warned(folder: Path, walltime: int, warning: int, notice: int) -> str:
    """The prelude's word for a warning that comes at once."""
    (folder / "nodes").write_text("n1\nn1\nn2\n")
    body = f"{OAR.prelude}\ntrap 'echo XCPU; exit' XCPU\ntrap 'echo TERM; exit' TERM\necho ready\n"
    (folder / "job").write_text(f"{body}while :; do sleep 0.1; done\n")
    environment = {
        "OAR_NODEFILE": str(folder / "nodes"),
        "OAR_JOB_WALLTIME_SECONDS": str(walltime),
        "PATH": "/usr/bin:/bin",
    }
    command = ["sh", "job", "here", str(warning), str(notice)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGALRM)
        running.send_signal(signal.SIGALRM)
        return running.stdout.readline().strip()


@pytest.mark.process
@pytest.mark.parametrize(
    ("walltime", "warning", "notice", "word"),
    [(30, 30, 30, "XCPU"), (600, 30, 30, "TERM"), (600, 12, 5, "TERM"), (36, 36, 30, "XCPU")],
)
def test_the_prelude_knows_why_a_job_is_warned(
    tmp_path: Path, walltime: int, warning: int, notice: int, word: str
) -> None:
    assert warned(tmp_path, walltime, warning, notice) == word


@pytest.mark.process
def test_a_grace_is_left_before_the_end(tmp_path: Path) -> None:
    begun = time.monotonic()
    assert warned(tmp_path, 600, 16, 5) == "TERM"
    assert time.monotonic() - begun >= 5


@pytest.mark.process
def test_the_prelude_names_each_node_once(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("n1\nn1\nn2\n")
    script = f"PATH=/nowhere OAR_NODEFILE=nodes OAR_ARRAY_INDEX=3 OAR_JOB_ID=7\n{OAR.prelude}\ncigri_nodes"
    ended = run(f"{script}; echo $CIGRI_INDEX $CIGRI_REMOTE_ID $CIGRI_NODE", tmp_path)
    assert (ended.stdout, ended.stderr) == ("n1\nn2\n3 7 n1\n", "")


def test_sick_nodes_are_left_out_beside_the_users_own_wishes() -> None:
    request = BatchRequest(TAG, 1, 60, properties="gpu = 1 OR fast = 1", exclude=("n1", "n2.site"))
    assert "--property=(gpu = 1 OR fast = 1) AND (network_address NOT IN ('n1', 'n2.site'))" in words(
        OAR.submit(request)
    )
    alone = BatchRequest(TAG, 1, 60, exclude=("n1",))
    assert "--property=network_address NOT IN ('n1')" in words(OAR.submit(alone))
    with pytest.raises(ValueError, match="no node"):
        OAR.submit(BatchRequest(TAG, 1, 60, exclude=("n1') OR ('' = '",)))
