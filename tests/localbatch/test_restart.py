"""Whatever kills the daemon, each job runs once, and its end is known when the host can tell."""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from cigri.localbatch import processes
from tests.localbatch.host import Host

FOREVER = "sleep 1000 & wait"
COUNT = 'echo "$CIGRI_ARRAY_INDEX" >>"$D/ran"'
UNTIL_OPEN = 'until [ -e "$D/open" ]; do sleep 0.02; done'


def change(host: Host, statement: str) -> None:
    with sqlite3.connect(host.spool / "state.db") as db:
        db.execute(statement)
    db.close()


def test_each_job_runs_exactly_once_when_the_daemon_is_killed_again_and_again(host: Host) -> None:
    name = host.submit(f"{COUNT}; sleep 0.01", size=300)
    for count in range(25, 250, 25):
        assert host.pid, "the probe starts the next daemon"
        host.wait_for_lines("ran", count)
        host.stop(signal.SIGKILL)
    jobs = host.end_of(name, 300)
    assert sorted(map(int, host.lines("ran"))) == list(range(1, 301))
    assert {job["state"] for job in jobs} <= {"succeeded", "vanished"}
    assert host.ask("capacity")[0]["pools"]["cpu"] == {"total": 2, "free": 2}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_running_jobs_are_found_again_and_waiting_ones_still_wait(host: Host, number: signal.Signals) -> None:
    name = host.submit(f"{COUNT}; {UNTIL_OPEN}; exit 7", size=3)
    host.wait_for_lines("ran", 2)
    before = host.history(name, 3)
    host.stop(number)
    assert host.states(name, 3) == ["running", "running", "waiting"]
    assert host.history(name, 3) == before
    assert host.ask("capacity")[0]["pools"]["cpu"]["free"] == 0
    (host.directory / "open").touch()
    jobs = host.end_of(name, 3)
    assert sorted(host.lines("ran")) == ["1", "2", "3"]
    assert (jobs[2]["state"], jobs[2]["exit_code"]) == ("failed", 7)
    assert {(job["state"], job["exit_code"]) for job in jobs[:2]} <= {("failed", 7), ("vanished", None)}


def test_the_kernel_tells_how_a_job_of_an_earlier_daemon_ended() -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "read line; exit 7"], stdin=subprocess.PIPE)
    known = processes.stat(child.pid)
    assert known
    process = processes.adopt(child.pid, known.ticks, "")
    assert process
    assert child.stdin
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.exit_code(process) == 7
    child.wait()
    assert processes.exit_code(process) in (7, None)
    os.close(process.pidfd)


def test_a_job_that_ended_while_the_daemon_was_away_has_vanished(host: Host) -> None:
    name = host.submit(f'{COUNT}; echo $$ >"$D/pid"; setsid sh -c "echo \\$\\$ >$D/child; {FOREVER}" & {FOREVER}')
    [child], [pid] = host.wait_for_lines("child"), host.lines("pid")
    host.stop(signal.SIGKILL)
    os.kill(int(pid), signal.SIGKILL)
    host.wait_for(lambda: processes.stat(int(pid)) is None)
    [job] = host.end_of(name)
    assert (job["state"], job["exit_code"]) == ("vanished", None)
    assert host.lines("ran") == ["1"]
    host.wait_for(lambda: processes.stat(int(child)) is None)


def test_the_pid_of_a_job_taken_by_somebody_else_is_not_the_job(host: Host) -> None:
    name = host.submit(FOREVER)
    host.wait_for(lambda: host.states(name) == ["running"])
    host.stop(signal.SIGKILL)
    change(host, "UPDATE jobs SET ticks = ticks + 1")
    [job] = host.end_of(name)
    assert job["state"] == "vanished"


def test_a_start_that_never_happened_is_done_again(host: Host) -> None:
    name = host.submit(COUNT)
    host.end_of(name)
    host.stop(signal.SIGKILL)
    change(host, "UPDATE jobs SET state = 'starting', pid = NULL, ticks = NULL, ended = NULL, token = 'another'")
    change(host, "UPDATE arrays SET ended = NULL")
    assert host.end_of(name)[0]["state"] == "succeeded"
    assert host.lines("ran") == ["1", "1"]


@pytest.mark.parametrize("over", [False, True])
def test_a_start_whose_pid_was_not_recorded_is_not_done_again(host: Host, over: bool) -> None:
    name = host.submit(f'{COUNT}; echo $$ >"$D/pid"; {UNTIL_OPEN}')
    [pid] = host.wait_for_lines("pid")
    host.stop(signal.SIGKILL)
    change(host, "UPDATE jobs SET state = 'starting', pid = NULL, ticks = NULL")
    if over:
        (host.directory / "open").touch()
        host.wait_for(lambda: processes.stat(int(pid)) is None)
        assert host.states(name) == ["vanished"]
    else:
        assert host.states(name) == ["running"]
        (host.directory / "open").touch()
        host.end_of(name)
    assert host.lines("ran") == ["1"]


def test_a_start_under_way_keeps_the_next_daemon_waiting(host: Host) -> None:
    name = host.submit(f"{COUNT}; {UNTIL_OPEN}")
    host.wait_for_lines("ran")
    host.stop(signal.SIGKILL)
    change(host, "UPDATE jobs SET state = 'starting', pid = NULL, ticks = NULL")
    line = (host.spool / "starts").read_text()
    (host.spool / "starts").write_text("")
    with (host.spool / "starts").open("ab") as starts:
        fcntl.flock(starts, fcntl.LOCK_EX)
        late = subprocess.Popen(["/bin/sh", "-c", 'sleep 1; printf %s "$1"', "sh", line], stdout=starts)
    assert host.states(name) == ["running"]
    assert late.wait() == 0
    (host.directory / "open").touch()
    host.end_of(name)
    assert host.lines("ran") == ["1"]


def test_the_jobs_of_a_host_that_went_down_are_node_failures(host: Host) -> None:
    name = host.submit(f"{COUNT}; {UNTIL_OPEN}", size=3)
    host.wait_for_lines("ran", 2)
    host.stop(signal.SIGKILL)
    (host.directory / "open").touch()
    change(host, "UPDATE host SET boot = 'another'")
    jobs = host.end_of(name, 3)
    assert [job["state"] for job in jobs] == ["node_failed", "node_failed", "succeeded"]
    assert jobs[0]["reason"] == "the host went down"


def test_a_walltime_counts_while_the_daemon_is_away(host: Host) -> None:
    name = host.submit(FOREVER, walltime=60)
    host.wait_for(lambda: host.states(name) == ["running"])
    host.stop(signal.SIGKILL)
    change(host, "UPDATE jobs SET began = began - 60")
    [job] = host.end_of(name)
    assert job["state"] == "timeout"
    assert job["ended"] - job["started"] < 60


def test_a_cancelled_job_stays_cancelled_after_a_restart(host: Host) -> None:
    name = host.submit(f'trap "" TERM; echo >"$D/up"; {FOREVER}; {FOREVER}')
    host.wait_for_lines("up")
    host.ask("cancel", stdin="1_1\n")
    host.stop(signal.SIGKILL)
    [job] = host.end_of(name)
    assert job["state"] == "killed"


def test_the_leftovers_of_an_adopted_job_are_killed(host: Host) -> None:
    name = host.submit(f'setsid sh -c "echo \\$\\$ >$D/child; {FOREVER}" & {UNTIL_OPEN}')
    [child] = host.wait_for_lines("child")
    host.stop(signal.SIGKILL)
    assert host.states(name) == ["running"]
    (host.directory / "open").touch()
    host.end_of(name)
    host.wait_for(lambda: processes.stat(int(child)) is None)


def test_pools_that_shrank_under_running_jobs_start_nothing_until_the_sum_is_right(host: Host) -> None:
    host.submit(f"{COUNT}; {UNTIL_OPEN}", size=2)
    host.wait_for_lines("ran", 2)
    host.stop()
    host.pools = ["cpu=1"]
    name = host.submit("exit 0")
    assert host.ask("capacity")[0]["pools"]["cpu"] == {"total": 1, "free": -1}
    assert host.states(name) == ["waiting"]
    (host.directory / "open").touch()
    assert host.end_of(name)[0]["state"] == "succeeded"


def test_one_daemon_serves_a_spool_whoever_starts_it(host: Host) -> None:
    script = """for i in 1 2 3 4; do printf '{"verb":"probe"}' | "$@" & done; wait"""
    command = ["sh", "-c", script, "sh", *host.client_words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    pids = [json.loads(line)["pid"] for line in done.stdout.splitlines() if "pid" in line]
    assert pids == [host.pid] * 4
    host.wait_for(lambda: host.daemons() == [host.pid])
