"""Whatever is said on the socket, by whomever."""

import json
import os
import pwd
import socket
from typing import Any

import pytest

from tests.localbatch.host import Host

NOBODY = 65534
SUBMIT: dict[str, Any] = {
    "verb": "submit",
    "name": "a",
    "size": 1,
    "cpu": 1,
    "nodes": 1,
    "mem": 0,
    "others": {},
    "walltime": 60,
    "notice": 0,
    "argv": ["/bin/sh", "-c", "sleep 1000 & wait"],
    "queue": "",
    "properties": "",
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root serves other users")


def say(host: Host, text: bytes) -> bytes:
    return talk(str(host.spool / "socket"), text)


def talk(address: str, text: bytes) -> bytes:
    """The answer to bytes as they are."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(address)
        try:
            client.sendall(text)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(65536), b""))
        except ConnectionError:
            return b""


def last(answer: bytes) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(answer.splitlines()[-1])
    return line


def say_as(host: Host, uid: int, request: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer to a request of another user, who reaches the socket and nothing else."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(host.spool)  # nobody may not walk down to it
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writable, talk("socket", json.dumps(request).encode() + b"\n"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    with open(readable, "rb") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"no end",
        b"\xff\xfe\x00\n",
        b"GET / HTTP/1.1\n",
        b"[" * 200_000 + b"\n",
        b"9" * 10_000 + b"\n",
        b"[]\n",
        b'{"verb": 1}\n',
        b'{"verb": "reboot"}\n',
        b'{"verb": "list"}\n',
        b'{"verb": "list", "prefix": 1, "everybody": false}\n',
        b'{"verb": "probe", "more": 1}\n',
        b'{"verb": "history", "keys": ["a b c"]}\n',
        b'{"verb": "history", "keys": ["\\ud800 1 -"]}\n',
        b'{"verb": "history", "keys": [1]}\n',
        b'{"verb": "cancel", "ids": ["1_1", "1"]}\n',
        b'{"verb": "cancel", "ids": "1_1"}\n',
    ],
)
def test_rubbish_is_refused_and_the_daemon_lives_on(steady_host: Host, text: bytes) -> None:
    pid = steady_host.pid
    answer = say(steady_host, text)
    assert "error" in last(answer) if b"\n" in text else answer == b""
    assert steady_host.pid == pid


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a b"},
        {"name": ""},
        {"size": 0},
        {"size": 100_001},
        {"size": True},
        {"size": 1.0},
        {"cpu": 0},
        {"cpu": 10**30},
        {"mem": -1},
        {"others": {"cpu": 1}},
        {"others": {"gpu": 1}},
        {"others": {"gpu": "1"}},
        {"others": []},
        {"walltime": 0},
        {"notice": None},
        {"argv": []},
        {"argv": ["job"]},
        {"argv": ["/job", 1]},
        {"argv": ["/job", "a\0b"]},
        {"argv": ["/job", "\ud800"]},
        {"queue": "night"},
        {"properties": "fast"},
        {"more": 1},
    ],
)
def test_a_submission_that_cannot_be_obeyed_is_refused(steady_host: Host, change: dict[str, Any]) -> None:
    pid = steady_host.pid
    answer = say(steady_host, json.dumps(SUBMIT | change).encode() + b"\n")
    assert "error" in last(answer)
    assert steady_host.ask("list") == []
    assert steady_host.pid == pid


def test_a_request_that_can_never_fit_is_refused_with_the_figures(host: Host) -> None:
    done = host.run("submit", "--name=big", "--size=1", "--walltime=9", "--cpu=2", "--nodes=2", "--mem=501", "--", "/j")
    assert done.returncode == 10
    assert "a job asks for cpu=4, the cluster has 2 and mem=1002, the cluster has 1000" in done.stderr


def test_the_same_submission_again_is_the_same_array(host: Host) -> None:
    assert host.pid
    answers = [say(host, json.dumps(SUBMIT).encode() + b"\n") for _ in range(2)]
    assert answers[0] == answers[1]
    assert host.live() == ["1_1"]
    assert "taken" in last(say(host, json.dumps(SUBMIT | {"mem": 1}).encode() + b"\n"))["error"]


def test_history_knows_only_the_job_that_is_meant(host: Host) -> None:
    host.end_of(host.submit("exit 0", name="known"))
    keys = "known 1 1_1\nknown 1 2_1\nknown 2 -\nknown 0 -\nunknown 1 -\n"
    assert [job["id"] for job in host.ask("history", stdin=keys)] == ["1_1"]


def test_a_client_that_says_nothing_holds_nobody_up(host: Host) -> None:
    assert host.pid
    silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for client in silent:
        client.connect(str(host.spool / "socket"))
        client.send(b'{"verb"')
    assert host.end_of(host.submit("exit 0"))[0]["state"] == "succeeded"
    for client in silent:
        client.close()


def test_ten_thousand_jobs_are_submitted_listed_and_cancelled_at_once(host: Host) -> None:
    host.submit("sleep 1000 & wait", size=10_000)
    live = host.live()
    assert len(live) == 10_000
    assert host.ask("cancel", stdin="\n".join(live)) == [{"cancelled": 10_000}]
    jobs = host.end_of("array.1", 10_000)
    assert {job["state"] for job in jobs} == {"killed"}


@needs_root
def test_a_job_runs_as_the_user_who_submitted_it(host: Host) -> None:
    assert host.pid
    check = f'[ "$(id -u) $(id -G) $USER" = "{NOBODY} {NOBODY} {pwd.getpwuid(NOBODY).pw_name}" ] && exit 42'
    assert say_as(host, NOBODY, SUBMIT | {"argv": ["/bin/sh", "-c", check]})[-1] == {"end": 1}
    question = {"verb": "history", "keys": ["a 1 -"]}

    def ended() -> dict[str, Any] | None:
        job = say_as(host, NOBODY, question)[0]
        return job if job["ended"] else None

    host.wait_for(ended)
    assert (ended() or {})["exit_code"] == 42


@needs_root
def test_nobody_touches_the_jobs_of_somebody_else(host: Host) -> None:
    name = host.submit("sleep 1000 & wait", size=3)
    for verb in ("cancel", "hold", "release", "suspend", "resume"):
        answer = say_as(host, NOBODY, {"verb": verb, "ids": ["1_3"]})
        assert answer == [{"error": "job 1_3 belongs to somebody else"}]
    assert host.states(name, 3)[2] == "waiting"
    assert say_as(host, NOBODY, {"verb": "history", "keys": [f"{name} 1 -"]}) == [{"end": 0}]
    assert say_as(host, NOBODY, {"verb": "list", "prefix": "", "everybody": False}) == [{"end": 0}]
    assert len(say_as(host, NOBODY, {"verb": "list", "prefix": "", "everybody": True})) == 2
