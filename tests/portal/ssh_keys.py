"""SSH keys as people have them: files that the real ssh-keygen made, and an agent that holds one."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cigri.ssh_keys.challenge_text import NAMESPACE

KEYGEN = shutil.which("ssh-keygen")


def make_key(path: Path, *options: str) -> Path:
    """The private one; its public one stands beside it."""
    argv = ["ssh-keygen", "-q", "-N", "", "-C", path.name, "-f", str(path), *(options or ("-t", "ed25519"))]
    subprocess.run(argv, check=True, capture_output=True)
    return path


def public(key: Path) -> str:
    return key.with_name(f"{key.name}.pub").read_text()


def signed(key: Path, text: str, namespace: str = NAMESPACE) -> str:
    argv = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(key)]
    return subprocess.run(argv, input=text, text=True, check=True, capture_output=True).stdout


@contextmanager
def agent_with(key: Path, socket: Path) -> Iterator[None]:
    """While it holds the key at `socket`; the private file may go meanwhile."""
    argv = ["ssh-agent", "-D", "-a", str(socket)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline().startswith("SSH_AUTH_SOCK")
        try:
            told = os.environ | {"SSH_AUTH_SOCK": str(socket)}
            subprocess.run(["ssh-add", "-q", str(key)], check=True, env=told, capture_output=True)
            yield
        finally:
            agent.send_signal(signal.SIGTERM)
