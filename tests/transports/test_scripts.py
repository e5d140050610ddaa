"""What any script may do, over every transport and every dialect of sh: none of it disturbs the next script."""

import getpass
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cigri.errors import RemoteOutcomeUnknown
from cigri.shell.results import RawShellResult
from cigri.transports import Transport, local
from cigri.transports.local import LocalTransport
from cigri.transports.ssh import SshConnections

from .conftest import Sshd, require, wait_until

TIMEOUT = 30.0
WAYS = [f"{way}-{shell}" for way in ("local", "ssh") for shell in ("dash", "bash", "busybox")]


@pytest.fixture(scope="module", params=WAYS)
def transport(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shell_path: Callable[[str], str]
) -> Iterator[Transport]:
    way, shell = request.param.split("-")
    if way == "local":
        patch = pytest.MonkeyPatch()
        patch.setattr(local, "PATH", shell_path(shell))
        patch.setenv("PATH", shell_path(shell))
        made = LocalTransport("here", getpass.getuser())
        yield made
        made.close()
        patch.undo()
        return
    require("sshd", "openssh-server")
    sshd = Sshd(tmp_path_factory.mktemp("sshd") / "here", shell_path(shell))
    sshd.start()
    connections = SshConnections()
    yield connections.transport("there", sshd.address(), getpass.getuser())
    connections.close()
    sshd.close()


def test_the_dialect_is_the_one_meant(transport: Transport, request: pytest.FixtureRequest) -> None:
    shell = request.node.callspec.params["transport"].split("-")[1]
    assert transport.run("readlink -f /proc/$$/exe", TIMEOUT).out.strip().endswith(f"/{shell}")


def test_status_and_both_outputs_come_back(transport: Transport) -> None:
    assert transport.run("echo out; echo err >&2; exit 3", TIMEOUT) == (3, "out\n", "err\n")


def test_scripts_start_in_the_home_directory_of_the_user(transport: Transport) -> None:
    transport.run("cd /; umask 0; variable=1", TIMEOUT)
    answer = transport.run('pwd -P; id -un; echo "${variable-unset}"', TIMEOUT)
    home = str(Path("~").expanduser().resolve())
    assert answer.out.split() == [home, getpass.getuser(), "unset"]


@pytest.mark.parametrize(
    ("script", "status", "out"),
    [
        ("", 0, ""),
        ("# only a comment", 0, ""),
        ("exit 7", 7, ""),
        ("echo before\nexit 3\necho after", 3, "before\n"),
        ("set -e\nfalse\necho after", 1, ""),
        ("exec sh -c 'exit 4'", 4, ""),
        ("kill -9 $(sh -c 'echo $PPID')", 137, ""),
        ("cat; read line; echo $?", 0, "1\n"),
        ("printf 'no newline'", 0, "no newline"),
        ("printf '\\n\\n'", 0, "\n\n"),
        ("cat <<'END'\n$HOME `x` \\\nEND", 0, "$HOME `x` \\\n"),
        ("trap 'echo bye' EXIT; exit 5", 5, "bye\n"),
        ("exec >&- 2>&-", 0, ""),
        ("echo a \\", 0, "a\n"),
        ("while read -r line; do echo $line; done", 0, ""),
        ("set -- a b; shift; echo $1", 0, "b\n"),
        ("echo été ☃ '\\'", 0, "été ☃ \\\n"),
        ("printf '\\377\\000x'", 0, "\ufffd\0x"),
    ],
)
def test_a_script_means_what_it_means_alone(transport: Transport, script: str, status: int, out: str) -> None:
    answer = transport.run(script, TIMEOUT)
    assert (answer.status, answer.out) == (status, out)
    assert transport.run("echo next", TIMEOUT) == (0, "next\n", "")


@pytest.mark.parametrize(
    "script", ['echo "unbalanced', "echo 'unbalanced", "if true", ")", "echo $(", "cat <<END\nno end", "done"]
)
def test_a_syntax_error_runs_nothing_and_harms_nobody(transport: Transport, script: str) -> None:
    answer = transport.run(f"echo ran\n{script}", TIMEOUT)
    assert answer.status != 0
    assert answer.out == ""
    assert answer.err != ""
    assert transport.run("echo next", TIMEOUT) == (0, "next\n", "")


def test_a_process_left_behind_holds_nobody_up(transport: Transport) -> None:
    started = time.monotonic()
    answer = transport.run("sleep 60 & echo $!", TIMEOUT)
    assert time.monotonic() - started < 20
    assert transport.run(f"kill {answer.out}", TIMEOUT).status == 0


def test_ten_megabytes_go_out_and_come_back(transport: Transport) -> None:
    text = ("0123456789abcde\n" * 65_536) * 10
    answer = transport.run(f"cat <<'END'\n{text}END\necho end >&2", TIMEOUT)
    assert answer.out == text
    assert answer.err == "end\n"


def test_files_come_byte_by_byte(transport: Transport) -> None:
    octets = "".join(f"\\{number:03o}" for number in range(256))
    answer = transport.fetch(f"printf '{octets}'; printf '\\377' >&2; exit 3", TIMEOUT)
    assert answer == RawShellResult(3, bytes(range(256)), b"\xff")


def test_both_outputs_may_be_large_at_once(transport: Transport) -> None:
    answer = transport.run("head -c 5000000 /dev/zero >&2; head -c 5000000 /dev/zero; exit 6", TIMEOUT)
    assert (answer.status, len(answer.out), len(answer.err)) == (6, 5_000_000, 5_000_000)


def test_a_script_may_have_many_lines(transport: Transport) -> None:
    script = "".join(f"test {number} = {number} || exit 9\n" for number in range(20_000))
    assert transport.run(script + "echo done", TIMEOUT) == (0, "done\n", "")


def test_what_times_out_is_ended_and_the_next_script_runs(transport: Transport, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    tmp_path.chmod(0o755)
    with pytest.raises(RemoteOutcomeUnknown, match=r"no answer within .*: last words"):
        transport.run(f"echo last words; echo $$ >{pid_file}; sh -c 'echo $$; exec sleep 61' >{pid_file}", 0.7)
    pid = int(pid_file.read_text())
    wait_until(lambda: not _is_alive(pid), "the script that timed out is gone")
    assert transport.run("echo next", TIMEOUT) == (0, "next\n", "")


def test_a_timeout_of_one_thread_leaves_the_others_alone(transport: Transport) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: transport.run("sleep 0.5", TIMEOUT), range(2)))  # there are two shells now
        slow = pool.submit(transport.run, "sleep 1.2; echo slow", TIMEOUT)
        with pytest.raises(RemoteOutcomeUnknown):
            transport.run("sleep 30", 0.5)
        assert slow.result() == (0, "slow\n", "")


def test_twelve_threads_get_their_own_answers(transport: Transport) -> None:
    def ask(number: int) -> str:
        return transport.run(f"echo {number}; echo {number} >&2", TIMEOUT).out

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(ask, range(120))) == [f"{number}\n" for number in range(120)]


def test_it_works_again_after_close(transport: Transport) -> None:
    transport.run("true", TIMEOUT)
    transport.close()
    assert transport.run("echo again", TIMEOUT).out == "again\n"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
