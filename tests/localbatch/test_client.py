"""The client and the command by hand: what they refuse, and say when there is no daemon or only half an answer."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from cigri.localbatch import client
from tests.localbatch.host import Host

SUBMISSION: Mapping[str, object] = {
    **{"verb": "submit", "name": "a", "walltime": 60, "others": {}, "queue": "", "properties": ""},
    **{"size": 1, "cpu": 1, "nodes": 1, "mem": 0, "notice": 0},
}


def test_no_daemon_is_started_when_none_is_wanted(host: Host) -> None:
    done = host.run("probe", "--no-start")
    assert (done.returncode, done.stdout) == (3, "")
    assert not host.spool.exists()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["relative"],
        ["/spool", "cpu=2"],
        ["/spool", "--pool=cpu=2", "--more"],
    ],
)
def test_the_client_refuses_words_that_it_does_not_know(words: list[str]) -> None:
    command = [sys.executable, "-I", "-S", client.__file__, *words]
    done = subprocess.run(command, input="{}", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr


def test_the_client_hands_over_several_requests_up_to_the_first_that_is_refused(host: Host) -> None:
    done = host.client(b'{"verb":"probe"}\n{"verb":"nonsense"}\n{"verb":"probe"}\n')
    assert (done.returncode, done.stdout.count(b'{"end":1}')) == (client.REFUSED, 1)
    done = host.client(b'{"verb":"probe"}\n{"verb":"probe"}\n')
    assert (done.returncode, done.stdout.count(b'{"end":1}')) == (0, 2)


def test_the_client_gives_a_command_to_one_request_only(host: Host) -> None:
    command = [*host.client_words, "--", "true"]
    done = subprocess.run(command, input=b"{}\n{}\n", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert not host.spool.exists()


@pytest.mark.parametrize(("about", "words"), [({"verb": "probe"}, []), (SUBMISSION, ["--", "/bin/echo", "some $PWD"])])
def test_the_client_is_light(host: Host, about: Mapping[str, object], words: list[str]) -> None:
    """Each visit of a local cluster starts it some times: what it imports is what it costs."""
    assert host.client(b'{"verb":"probe"}').returncode == 0
    command = [host.client_words[0], "-v", *host.client_words[1:], *words]
    done = subprocess.run(command, input=json.dumps(about), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    imported = set(re.findall(r"^import '?([\w.]+)'? #", done.stderr, re.MULTILINE))
    assert "posix" in imported
    assert not imported & {"argparse", "collections", "enum", "json", "os", "re", "socket", "subprocess"}


def test_words_of_a_command_reach_the_job_as_they_are(host: Host) -> None:
    said = str(host.directory / "said")
    odd = 'it\'s "odd" \\ \u00e9\n--'
    command = [*host.client_words, "--", "/bin/sh", "-c", 'printf %s "$2$3" >"$1"', "sh", said, odd, "--"]
    subprocess.run(command, input=json.dumps(SUBMISSION).encode(), check=True, capture_output=True, timeout=60)
    host.end_of("a")
    assert Path(said).read_text() == odd + "--"


def test_a_daemon_that_cannot_start_is_told_at_once(host: Host) -> None:
    host.pools = ["cpu=none"]
    began = time.monotonic()
    done = host.run("probe")
    assert done.returncode == 3
    assert f"see {host.spool}/log" in done.stderr
    assert "'cpu=none' is not of the form cpu=2" in (host.spool / "log").read_text()
    assert time.monotonic() - began < 20


def test_of_all_who_wait_for_a_daemon_one_starts_it(host: Host) -> None:
    """Else a host that is asked by many at once is busy with daemons all of which end but one."""
    request = host.directory / "request"
    request.write_text('{"verb":"probe"}')
    with ExitStack() as files:
        requests = [files.enter_context(request.open()) for _ in range(8)]
        clients = [subprocess.Popen(host.client_words, stdin=file, stdout=subprocess.PIPE) for file in requests]
    assert all(b'{"end":1}' in started.communicate(timeout=60)[0] for started in clients)
    log = (host.spool / "log").read_text()
    assert log.count("serving pools") == 1
    assert "another daemon" not in log


def test_a_spool_that_cannot_be_made_is_told(host: Host) -> None:
    (host.directory / "file").touch()
    host.spool = host.directory / "file" / "spool"
    done = host.run("probe")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_daemon_is_started_with_nothing_of_its_client(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_LOCAL_JOB", "the job that the client runs in")
    pid = host.pid
    files = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1, 2)}
    assert files == {"/dev/null", str(host.spool / "log")}
    assert os.getsid(pid) == pid
    assert b"CIGRI_LOCAL_JOB" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_spool_may_have_a_long_path(tmp_path: Path) -> None:
    host = Host(tmp_path / ("long" * 40))
    assert host.ask("probe")[0]["pools"]["cpu"] == 2
    host.clear()


@pytest.mark.parametrize(
    "words",
    [
        ("submit", "--name=a", "--size=1", "--", "/job"),
        ("submit", "--name=a", "--size=one", "--walltime=1", "--", "/job"),
        ("submit", "--name=a", "--size=1", "--walltime=1", "--other=gpu", "--", "/job"),
        ("submit", "--nam=a", "--size=1", "--walltime=1", "--", "/job"),
        ("list", "--more"),
        ("reboot",),
    ],
)
def test_a_wrong_command_is_refused_before_anything_is_done(host: Host, words: tuple[str, ...]) -> None:
    done = host.run(*words)
    assert done.returncode == 2
    assert "usage:" in done.stderr
    assert not host.spool.exists()


@pytest.mark.parametrize(
    "answer", [b"", b'{"pid":1}\n', b'{"pid":1}\n{"en', b'{"pid":1}\n{"end":1}', b"rubbish\n", b"9\n"]
)
def test_half_an_answer_is_none(host: Host, answer: bytes) -> None:
    host.spool.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(host.spool / "socket"))
        listener.listen()
        thread = threading.Thread(target=answer_once, args=(listener, answer))
        thread.start()
        done = host.run("probe")
        thread.join()
    (host.spool / "socket").unlink()
    assert (done.returncode, done.stdout) == (3, "")


def answer_once(listener: socket.socket, answer: bytes) -> None:
    peer, _ = listener.accept()
    with peer:
        assert json.loads(peer.recv(65536)) == {"verb": "probe"}
        peer.sendall(answer)
