"""Jobs that are held, released, suspended and resumed, also over the death of the daemon."""

import signal

from cigri.localbatch import processes
from cigri.localbatch.backfill_queue import JobArray
from cigri.localbatch.job_process import JobProcess
from cigri.localbatch.processes import RootProcess
from cigri.localbatch.store import LocalJobRow, LocalJobState
from tests.localbatch.host import Host

COUNT = 'echo "$CIGRI_ARRAY_INDEX" >>"$D/ran"'
UNTIL_OPEN = 'until [ -e "$D/open" ]; do sleep 0.05; done'
FAMILY = f'setsid sh -c "echo \\$\\$ >>$D/pids; exec sleep 1000" & echo $$ >>"$D/pids"; {UNTIL_OPEN}'


def change(host: Host, verb: str, *ids: str) -> int:
    [line] = host.ask(verb, stdin="\n".join(ids))
    return int(line["changed"])


def letters(pids: list[str]) -> set[str]:
    found = [processes.stat(int(pid)) for pid in pids]
    return {known.letter for known in found if known}


def test_a_held_job_waits_until_it_is_released(host: Host) -> None:
    name = host.submit(f"{COUNT}; {UNTIL_OPEN}", size=5)
    host.wait_for_lines("ran", 2)
    assert change(host, "hold", "1_1", "1_3", "1_4", "1_4", "7_7") == 2
    assert change(host, "hold", "1_3") == 0
    assert host.states(name, 5) == ["running", "running", "held", "held", "waiting"]
    [array] = host.ask("list")
    assert (array["held"], array["waiting"]) == ([[3, 4]], [[5, 5]])
    (host.directory / "open").touch()
    host.wait_for(lambda: host.states(name, 5)[4] == "succeeded")
    assert host.states(name, 5)[2:4] == ["held", "held"]
    assert change(host, "release", "1_1", "1_3", "1_4") == 2
    host.end_of(name, 5)
    assert sorted(host.lines("ran")) == ["1", "2", "3", "4", "5"]


def test_released_jobs_come_back_in_their_old_place(host: Host) -> None:
    host.submit(UNTIL_OPEN, "--cpu=2")
    first, second = (host.submit(f"echo {word} >>$D/ran", "--cpu=2") for word in ("first", "second"))
    change(host, "hold", "2_1")
    change(host, "release", "2_1")
    (host.directory / "open").touch()
    host.end_of(first)
    host.end_of(second)
    assert host.lines("ran") == ["first", "second"]


def test_held_jobs_are_held_by_the_next_daemon_and_can_be_cancelled(host: Host) -> None:
    name = host.submit(f"{COUNT}; {UNTIL_OPEN}", size=4)
    host.wait_for_lines("ran", 2)
    change(host, "hold", "1_3", "1_4")
    host.stop(signal.SIGKILL)
    assert host.states(name, 4) == ["running", "running", "held", "held"]
    assert host.ask("cancel", stdin="1_3\n") == [{"cancelled": 1}]
    (host.directory / "open").touch()
    host.wait_for(lambda: host.states(name, 4) == ["succeeded", "succeeded", "killed", "held"])
    assert change(host, "release", "1_3", "1_4") == 1
    host.end_of(name, 4)
    assert sorted(host.lines("ran")) == ["1", "2", "4"]


def test_every_process_of_a_suspended_job_stops_until_it_is_resumed(host: Host) -> None:
    name = host.submit(FAMILY)
    pids = host.wait_for_lines("pids", 2)
    assert change(host, "suspend", "1_1", "7_7") == 1
    assert change(host, "suspend", "1_1") == 0
    host.wait_for(lambda: letters(pids) == {"T"})
    assert host.states(name) == ["suspended"]
    [array] = host.ask("list")
    assert array["suspended"] == [1]
    host.stop(signal.SIGKILL)
    assert host.states(name) == ["suspended"]
    assert letters(pids) == {"T"}
    assert change(host, "resume", "1_1") == 1
    assert change(host, "resume", "1_1") == 0
    assert "T" not in letters(pids)
    (host.directory / "open").touch()
    host.wait_for(lambda: host.states(name) in (["succeeded"], ["vanished"]))  # Linux before 6.15 does not tell


def free_cores(host: Host) -> int:
    return int(host.ask("capacity")[0]["pools"]["cpu"]["free"])


def test_suspended_jobs_lend_their_cores_and_go_on_when_these_are_free(host: Host) -> None:
    slow = host.submit(UNTIL_OPEN, size=2)
    host.wait_for(lambda: host.states(slow, 2) == ["running", "running"])
    assert free_cores(host) == 0
    change(host, "suspend", "1_1", "1_2")
    assert free_cores(host) == 2
    urgent = host.submit('until [ -e "$D/done" ]; do sleep 0.05; done', "--cpu=2")
    host.wait_for(lambda: host.states(urgent) == ["running"])
    last = host.submit(f"{COUNT}; {UNTIL_OPEN}")
    assert change(host, "resume", "1_1", "1_2") == 2
    assert change(host, "resume", "1_1") == 0, "it is to go on already"
    assert host.states(slow, 2) == ["suspended", "suspended"], "their cores are in use"
    assert change(host, "suspend", "1_2") == 1
    (host.directory / "done").touch()
    host.wait_for(lambda: host.states(slow, 2) == ["running", "suspended"])
    host.wait_for(lambda: host.states(last) == ["running"])
    assert change(host, "resume", "1_2") == 1
    assert free_cores(host) == -1, "what is to go on comes before what waits"
    (host.directory / "open").touch()
    host.end_of(slow, 2)
    host.end_of(last)
    assert free_cores(host) == 2


def test_suspended_jobs_keep_their_memory(host: Host) -> None:
    slow = host.submit(UNTIL_OPEN, "--mem=600")
    host.wait_for(lambda: host.states(slow) == ["running"])
    change(host, "suspend", "1_1")
    large, small = host.submit(UNTIL_OPEN, "--mem=600"), host.submit(UNTIL_OPEN, "--mem=400")
    host.wait_for(lambda: host.states(small) == ["running"])
    assert host.states(large) == ["waiting"]
    (host.directory / "open").touch()
    host.ask("resume", stdin="1_1")
    for name in (slow, large, small):
        host.end_of(name)
    [pools] = [line["pools"] for line in host.ask("capacity")]
    assert (pools["cpu"]["free"], pools["mem"]["free"]) == (2, 1000)


def test_the_next_daemon_lends_the_same_cores_and_the_dead_give_them_back(host: Host) -> None:
    name = host.submit(UNTIL_OPEN, size=3)
    host.wait_for(lambda: host.states(name, 3) == ["running", "running", "waiting"])
    change(host, "suspend", "1_1", "1_2")
    host.wait_for(lambda: host.states(name, 3)[2] == "running")
    assert free_cores(host) == 1
    host.stop(signal.SIGKILL)
    assert free_cores(host) == 1
    assert host.ask("cancel", stdin="1_1\n") == [{"cancelled": 1}]
    host.wait_for(lambda: host.states(name, 3)[0] in ("killed", "vanished"))
    host.wait_for(lambda: free_cores(host) == 1)
    (host.directory / "open").touch()
    change(host, "resume", "1_2")
    host.wait_for(lambda: free_cores(host) == 2)


def test_a_suspended_job_can_be_cancelled_and_hears_of_it(host: Host) -> None:
    name = host.submit('trap "echo told >$D/told; exit" TERM; echo >"$D/up"; sleep 1000 & wait')
    host.wait_for_lines("up")
    change(host, "suspend", "1_1")
    host.ask("cancel", stdin="1_1\n")
    [job] = host.end_of(name)
    assert job["state"] == "killed"
    assert host.lines("told") == ["told"]


def test_the_walltime_does_not_count_while_a_job_is_suspended() -> None:
    array = JobArray(1, 0, "a", 1, {}, walltime=60, notice=10, argv=("/bin/true",))
    nobody = RootProcess(2**22 + 1, 0, "no such mark")
    running = JobProcess(array, LocalJobRow(1, 1, LocalJobState.RUNNING, began=1000.0), nobody)
    assert running.due == 1050.0
    assert running.suspend(1030.0)
    assert running.due == float("inf")
    again = JobProcess(array, running.job, nobody)  # as the next daemon finds it
    assert again.due == float("inf")
    assert again.resume(5000.0)
    assert (again.job.began, again.due) == (4970.0, 5020.0)
