"""The life of jobs on a real daemon."""

import os
import pwd
import resource
import socket
import subprocess
import sys

import pytest

from tests.localbatch.host import Host

FOREVER = "sleep 1000 & wait"

OWN_GROUP = f"{sys.executable} -c 'import os, sys; os.setpgid(0, 0); os.execv(\"/bin/sh\", sys.argv[1:])'"


def alive(pid: str) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_each_job_of_an_array_runs_once_with_its_index(host: Host) -> None:
    name = host.submit('echo "$CIGRI_ARRAY_INDEX $CIGRI_LOCAL_ID $CIGRI_LOCAL_WALLTIME" >>"$D/ran"', size=20)
    jobs = host.end_of(name, 20)
    assert {job["state"] for job in jobs} == {"succeeded"}
    assert sorted(host.lines("ran")) == sorted(f"{index} 1_{index} 60" for index in range(1, 21))
    assert jobs[4]["id"] == "1_5"
    assert jobs[4]["started"] <= jobs[4]["ended"]
    assert host.live() == []


def test_the_exit_code_is_told(host: Host) -> None:
    [failed] = host.end_of(host.submit("exit 66"))
    [killed] = host.end_of(host.submit("kill -9 $$"))
    assert (failed["state"], failed["exit_code"]) == ("failed", 66)
    assert (killed["state"], killed["exit_code"]) == ("failed", 137)


def test_a_command_that_is_not_there_fails_like_in_a_shell(host: Host) -> None:
    host.ask("submit", "--name=gone", "--size=1", "--walltime=60", "--", "/no/such/job")
    [job] = host.end_of("gone")
    assert (job["state"], job["exit_code"]) == ("failed", 127)


def test_a_job_has_the_environment_of_a_login(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CLIENT", "1")
    host.end_of(host.submit('env | sed "s/=.*//" | sort >"$D/names"; echo "$HOME $USER" >"$D/who"; pwd >"$D/where"'))
    names = set(host.lines("names")) - {"PWD", "OLDPWD", "SHLVL", "_"}
    login = {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG"}
    ours = {f"CIGRI_LOCAL_{name}" for name in ("ID", "WALLTIME", "STARTED", "SCRATCH", "FEATURES", "SPACE", "JOB")}
    assert names == login | ours | {"CIGRI_ARRAY_INDEX"}
    me = pwd.getpwuid(os.geteuid())
    assert host.lines("who") == [f"{me.pw_dir} {me.pw_name}"]
    assert host.lines("where") == [me.pw_dir]


def test_a_job_has_a_session_and_no_open_file_of_the_daemon(host: Host) -> None:
    host.end_of(host.submit('(ls -l /proc/$$/fd >"$D/files"); ps -o sid= $$ >"$D/session"'))
    assert {line.partition(" -> ")[2] for line in host.lines("files")[1:]} == {"/dev/null"}
    assert int(host.lines("session")[0]) != os.getsid(host.pid)


def test_a_job_may_open_as_many_files_as_anybody(host: Host) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        host.end_of(host.submit('ulimit -Sn >"$D/files"; ulimit -Hn >>"$D/files"'))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert host.lines("files") == ["200", str(hard)]


def test_jobs_never_use_more_than_the_pools(host: Host) -> None:
    host.pools = ["cpu=3", "mem=100", "licence=1"]
    script = 'echo "+ $W" >>"$D/log"; sleep 0.02; echo "- $W" >>"$D/log"'
    names = [
        host.submit(f"W=2,0,0; {script}", "--cpu=2", size=8),
        host.submit(f"W=1,60,0; {script}", "--mem=60", size=8),
        host.submit(f"W=1,0,1; {script}", "--other=licence=1", size=8),
    ]
    for name in names:
        host.end_of(name, 8)
    used, highest = [0, 0, 0], [0, 0, 0]
    for line in host.lines("log"):
        sign, _, amounts = line.partition(" ")
        for pool, amount in enumerate(amounts.split(",")):
            used[pool] += int(amount) if sign == "+" else -int(amount)
            highest[pool] = max(highest[pool], used[pool])
    assert len(host.lines("log")) == 48
    assert highest[0] == 3
    assert highest[1:] == [60, 1]


def test_waiting_and_running_jobs_are_listed_apart(host: Host) -> None:
    name = host.submit(FOREVER, size=5)
    host.wait_for(lambda: host.ask("list")[0]["waiting"] == [[3, 5]])
    [array] = host.ask("list", "--prefix=arr")
    assert (array["name"], [index for index, _ in array["running"]]) == (name, [1, 2])
    assert array["reason"] == "needs cpu=1, free 0"
    assert host.states(name, 5) == ["running", "running", "waiting", "waiting", "waiting"]
    assert host.ask("capacity")[0]["pools"]["cpu"] == {"total": 2, "free": 0}
    assert host.ask("list", "--prefix=other") == []


def test_a_running_job_is_asked_to_end_when_it_is_cancelled(host: Host) -> None:
    name = host.submit(f'trap "echo asked >$D/asked; exit 9" TERM; echo >"$D/up"; {FOREVER}')
    host.wait_for_lines("up")
    assert host.ask("cancel", stdin="1_1\n1_7\n99_1\n") == [{"cancelled": 1}]
    [job] = host.end_of(name)
    assert (job["state"], job["exit_code"]) == ("killed", 9)
    assert host.lines("asked") == ["asked"]


def test_a_job_that_does_not_want_to_end_is_killed(host: Host) -> None:
    name = host.submit(f'trap "" TERM; echo >"$D/up"; {FOREVER}; {FOREVER}')
    host.wait_for_lines("up")
    host.ask("cancel", stdin="1_1\n")
    [job] = host.end_of(name)
    assert (job["state"], job["exit_code"]) == ("killed", 137)


def test_a_waiting_job_that_is_cancelled_never_runs(host: Host) -> None:
    name = host.submit(f'echo $CIGRI_ARRAY_INDEX >>"$D/ran"; {FOREVER}', size=4)
    host.wait_for_lines("ran", 2)
    assert host.ask("cancel", stdin="1_3\n1_4\n") == [{"cancelled": 2}]
    assert host.states(name, 4)[2:] == ["killed", "killed"]
    host.ask("cancel", stdin="1_1\n1_2\n")
    host.end_of(name, 4)
    assert sorted(host.lines("ran")) == ["1", "2"]


def test_the_walltime_ends_a_job_that_hides_from_it(host: Host) -> None:
    script = f'setsid sh -c "trap : TERM; echo \\$\\$ >$D/child; {FOREVER}; {FOREVER}" & trap "" TERM XCPU; {FOREVER}'
    name = host.submit(script.replace("$D", f"{host.directory}"), walltime=2)
    [job] = host.end_of(name)
    assert (job["state"], job["reason"]) == ("timeout", "walltime of 2 s")
    assert 1.9 < job["ended"] - job["started"] < 30
    host.wait_for(lambda: not alive(host.lines("child")[0]))  # SIGKILL was sent, and a busy kernel takes a moment


def test_a_notice_comes_before_the_walltime(host: Host) -> None:
    name = host.submit(f'trap "echo >$D/noticed; exit 4" XCPU; {FOREVER}', "--notice=29", walltime=30)
    [job] = host.end_of(name)
    assert (job["state"], job["exit_code"]) == ("failed", 4)
    assert 0.9 < job["ended"] - job["started"] < 20
    assert host.lines("noticed")


def test_a_job_that_dies_of_the_notice_has_met_its_walltime(host: Host) -> None:
    [job] = host.end_of(host.submit(FOREVER, "--notice=1", walltime=2))
    assert job["state"] == "timeout"


def test_a_notice_as_long_as_the_walltime_is_none(host: Host) -> None:
    name = host.submit(f'trap "echo >$D/noticed; exit 4" XCPU; {FOREVER}', "--notice=1", walltime=1)
    assert host.end_of(name)[0]["state"] == "timeout"
    assert not host.lines("noticed")


def test_an_array_that_is_cancelled_while_it_waits_is_no_longer_live(host: Host) -> None:
    host.submit(FOREVER, size=2)
    name = host.submit("exit 0", size=2)
    host.ask("cancel", stdin="2_1\n2_2\n")
    assert host.states(name, 2) == ["killed", "killed"]
    assert [array["array"] for array in host.ask("list")] == [1]


def test_no_signal_is_ignored_because_the_first_client_ignored_it(host: Host) -> None:
    command = ["sh", "-c", 'trap "" QUIT XCPU USR1; exec "$@"', "sh", *host.client_words]
    subprocess.run(command, input=b'{"verb":"probe"}', check=True, capture_output=True, timeout=60)
    host.end_of(host.submit('grep SigIgn /proc/$$/status >"$D/ignored"'))
    assert host.lines("ignored")[0].split() == ["SigIgn:", "0" * 16]


@pytest.mark.parametrize("escape", ["", "setsid", "setsid nohup", f"env -i {OWN_GROUP}"])
def test_nothing_of_a_job_outlives_its_first_process(host: Host, escape: str) -> None:
    child = f'sh -c "echo \\$\\$ >>$D/child; {FOREVER}"'
    name = host.submit(f'({escape} {child} &) ; (exec {escape} {child}) & until [ -s "$D/child" ]; do :; done')
    host.end_of(name)
    host.wait_for(lambda: not any(alive(pid) for pid in host.wait_for_lines("child")))


def test_a_host_name_is_enough_for_a_node(host: Host) -> None:
    host.end_of(host.submit('read -r NODE </proc/sys/kernel/hostname; echo "$NODE" >"$D/node"'))
    assert host.lines("node") == [socket.gethostname()]
