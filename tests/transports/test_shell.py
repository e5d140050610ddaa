"""The program of a kept shell, spoken to by hand: what arrives cut never runs, what is orphaned does not go on."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cigri.transports.persistent_shell import PROGRAM

from .conftest import wait_until


@pytest.fixture(params=["dash", "bash", "busybox"])
def shell(request: pytest.FixtureRequest, shell_path: Callable[[str], str]) -> Iterator[subprocess.Popen[bytes]]:
    path = shell_path(request.param)
    with subprocess.Popen(
        [f"{path.partition(':')[0]}/sh", "-s"],
        env={**os.environ, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(PROGRAM.encode())
        process.stdin.flush()
        assert process.stdout.read(8) == b"\nMARK 0\n"
        yield process


@pytest.mark.parametrize("cut", [1, 4, 20, 40])
def test_a_script_that_arrives_cut_does_not_run(shell: subprocess.Popen[bytes], tmp_path: Path, cut: int) -> None:
    text = f"{{ :\ntouch {tmp_path}/ran\ntouch {tmp_path}/ran as well\n\n}}".encode()
    assert shell.stdin
    assert shell.stdout
    shell.stdin.write(b"first %d\n" % len(text) + text[:-cut])
    shell.stdin.close()
    shell.stdout.read()
    assert list(tmp_path.iterdir()) == []


def test_a_script_ends_with_its_connection(shell: subprocess.Popen[bytes], tmp_path: Path) -> None:
    text = f"{{ :\nsleep 62 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; wait\n}}".encode()
    assert shell.stdin
    shell.stdin.write(b"first %d\n" % len(text) + text)
    shell.stdin.flush()
    wait_until((tmp_path / "pid").exists, "the script runs")
    shell.stdin.close()
    shell.wait(10)
    sleeper = Path("/proc") / (tmp_path / "pid").read_text().strip() / "cmdline"
    wait_until(lambda: not sleeper.exists() or not sleeper.read_bytes(), "the sleeper is gone")


def test_a_file_is_the_standard_input_of_its_script_and_of_no_other(shell: subprocess.Popen[bytes]) -> None:
    assert shell.stdin
    assert shell.stdout
    content, other = bytes(range(256)) * 1000, b"nothing of it is read"
    for mark, text, sent in [(b"1", b"wc -c", content), (b"2", b"exit 3", other), (b"3", b"head -c 4", content)]:
        shell.stdin.write(b"%s %d %d\n" % (mark, len(text), len(sent)) + text + sent)
    shell.stdin.close()
    said = shell.stdout.read()
    assert [int(said.split(b"\n1 0\n")[0])] == [len(content)]
    assert said.split(b"\n1 0\n")[1] == b"\n2 3\n" + content[:4] + b"\n3 0\n"


def test_a_file_that_arrives_cut_ends_there(shell: subprocess.Popen[bytes], tmp_path: Path) -> None:
    text = f"cat >{tmp_path}/came".encode()
    assert shell.stdin
    assert shell.stdout
    shell.stdin.write(b"first %d 1000\n" % len(text) + text + b"half")
    shell.stdin.close()
    shell.stdout.read()
    assert (tmp_path / "came").read_bytes() == b"half"
