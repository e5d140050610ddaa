"""What `--ssh-config` copies of a file like ~/.ssh/config, as OpenSSH's own client reads it."""

from pathlib import Path

import pytest

from cigri.errors import UsageError
from modules.operator.cluster.ssh_config import SshConfigHost, copy_ssh_config
from tests.operator.conftest import Cigri
from tests.transports.conftest import require

pytestmark = pytest.mark.process  # ssh reads the file

CONFIG = """\
Include more.conf
Host dahu
  HostName front.example.org
  Port 2222
  User cigri
  IdentityFile /keys/%r@%h
  IdentityFile /keys/second
  ProxyJump gate
Match host front.example.org exec "test -n 1"
  HostKeyAlias fronts
  UserKnownHostsFile /etc/cigri/known /etc/cigri/more
Match host front.example.org exec "test -n ''"
  Port 3333
Host gate
  HostName gate.example.org
  User bob
  Port 99
Host everybody
  IdentityFile /keys/%r/%n
Host proxied
  ProxyCommand nc %h %p
Host far
  ProxyJump gate,other
Host farther
  ProxyJump dahu
Host six
  ProxyJump carol@[::1]:2200
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    require("ssh", "openssh-client")
    (tmp_path / "more.conf").write_text("Host included\n  HostName included.example.org\n")
    path = tmp_path / "config"
    path.write_text(CONFIG.replace("more.conf", str(tmp_path / "*.conf")))
    return path


def test_all_of_a_host_is_copied(file: Path) -> None:
    assert copy_ssh_config(file, SshConfigHost("dahu")) == {
        "host": "front.example.org",
        "port": 2222,
        "account": "cigri",
        "key_file": "/keys/cigri@front.example.org",
        "known_hosts": "/etc/cigri/known",
        "host_key_alias": "fronts",
        "jump": "bob@gate.example.org:99",
    }


@pytest.mark.parametrize(
    ("host", "copied"),
    [
        (SshConfigHost("included"), {"host": "included.example.org", "port": 22, "account": ""}),
        (SshConfigHost("unheard-of"), {"host": "unheard-of", "port": 22, "account": ""}),
        (SshConfigHost("gate", "ann", 5), {"host": "gate.example.org", "port": 5, "account": "ann"}),
        (
            SshConfigHost("everybody"),
            {"host": "everybody", "port": 22, "account": "", "key_file": "/keys/{user}/everybody"},
        ),
        (SshConfigHost("six"), {"host": "six", "port": 22, "account": "", "jump": "carol@[::1]:2200"}),
    ],
)
def test_what_the_file_does_not_say_is_not_copied(file: Path, host: SshConfigHost, copied: dict[str, object]) -> None:
    assert copy_ssh_config(file, host) == copied


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("proxied", "ProxyCommand of proxied is not run; ProxyJump"),
        ("far", "ProxyJump gate,other goes over several hosts"),
        ("farther", "dahu is itself behind another host"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(file: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        copy_ssh_config(file, SshConfigHost(name))


def test_a_file_that_ssh_does_not_read_is_refused(file: Path) -> None:
    file.write_text("Bogus yes\n")
    with pytest.raises(UsageError, match=r"cannot be read by ssh: .*line 1: Bad configuration option: bogus"):
        copy_ssh_config(file, SshConfigHost("dahu"))
    with pytest.raises(UsageError, match="there is no file"):
        copy_ssh_config(file.with_name("none"), SshConfigHost("dahu"))


def test_the_declaration_wins_over_the_file(cigri: Cigri, file: Path) -> None:
    words = ("--driver", "slurm", "--ssh", "dahu:24", "--ssh-config", str(file), "--key-file", "/keys/own")
    assert cigri("cluster", "add", "dahu", *words).status == 0
    shown = cigri("cluster", "show", "dahu").out
    for part in ('host = "front.example.org"', "port = 24", 'account = "cigri"', 'key_file = "/keys/own"'):
        assert part in shown
    said = cigri("cluster", "change", "dahu", "--ssh-config", str(file))
    assert (said.status, "which --ssh has to name" in said.err) == (2, True)
