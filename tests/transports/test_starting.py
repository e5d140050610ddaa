"""Start-up files that keep a shell from coming up: what is said of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.errors import ClusterUnreachable
from cigri.transports.persistent_shell import PersistentShell
from cigri.transports.ssh import SshConnections

from .conftest import Sshd

TIMEOUT = 20.0
PATIENCE = 12.0  # seconds, all of which each of these waits for a shell


@pytest.mark.parametrize(
    ("start_up", "words"),
    [
        ("exec 2>/dev/null", r"came up in time: it runs, but .* standard error goes elsewhere \(exec 2>FILE\)\. What"),
        ("exec >/dev/null", r"came up in time: it runs, but .* standard output goes elsewhere \(exec >FILE\)\. What"),
        ("echo Which project?; exec cat", r"came up in time: on its standard output came instead: Which project\?\s+{"),
        ("exec tail -f /dev/null", "came up in time: nothing came"),
    ],
)
def test_what_came_instead_of_a_shell_is_said(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str, tmp_path: Path, start_up: str, words: str
) -> None:
    file = tmp_path / "start-up"
    file.write_text(f"{start_up}\n")
    sshd = start_sshd(f'ForceCommand . {file}; eval "$SSH_ORIGINAL_COMMAND"')
    with pytest.raises(ClusterUnreachable, match=words) as failure:
        connections.transport("alpha", sshd.address(), me).run("true", PATIENCE)
    assert "start-up files (~/.bashrc" in str(failure.value)
    assert "case $- in *i*" in str(failure.value)
    assert not failure.value.is_front_end


def test_a_shell_that_ends_without_a_word_is_told_of(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    sshd = start_sshd("ForceCommand exit 0")
    with pytest.raises(ClusterUnreachable, match=r"it ended without a word\. What its start-up files"):
        connections.transport("alpha", sshd.address(), me).run("true", TIMEOUT)


class Silent:
    """Streams of a shell that says this much, and then nothing any more."""

    is_open = True
    is_cut_off = False

    def __init__(self, out: bytes, err: bytes) -> None:
        self._said = [(out, err)]

    def send(self, data: bytes, deadline: float) -> None:
        pass

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        if not self._said:
            raise TimeoutError
        return self._said.pop()

    def close(self) -> None:
        pass

    def terminate(self) -> None:
        pass


def test_the_words_of_both_outputs_are_told() -> None:
    shell = PersistentShell("alpha", "alice", Silent(b"Which project?", b"no such project"))
    with pytest.raises(ClusterUnreachable) as failure:
        shell.start(0.0)
    assert "on its standard output came instead: Which project?" in str(failure.value)
    assert "on its standard error came instead: no such project" in str(failure.value)
