"""Private keys in every format that ssh takes, those that it does not take, and certificates with their dates."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.errors import ClusterUnreachable
from cigri.transports.private_keys import PrivateKeyUnusable, load_login_key
from cigri.transports.ssh import SshConnections

from .conftest import Sshd, make_key

TIMEOUT = 20.0
FORMATS = {
    "OpenSSH's own, ed25519": ["-t", "ed25519"],
    "OpenSSH's own, RSA": ["-t", "rsa"],
    "OpenSSH's own, 384 bits": ["-t", "ecdsa", "-b", "384"],
    "PKCS#1": ["-t", "rsa", "-m", "PEM"],
    "SEC1": ["-t", "ecdsa", "-m", "PEM"],
    "PKCS#8, RSA": ["-t", "rsa", "-m", "PKCS8"],
    "PKCS#8, 521 bits": ["-t", "ecdsa", "-b", "521", "-m", "PKCS8"],
}


def keygen(path: Path, *options: str, passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-N", passphrase, *options, "-f", str(path)], check=True)
    return path


def let_in(sshd: Sshd, public: Path) -> None:
    (sshd.directory / "user_key.pub").write_text(public.read_text())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_that_ssh_takes_logs_in(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path, name: str
) -> None:
    key = keygen(tmp_path / "key", *FORMATS[name])
    let_in(sshd, key.with_suffix(".pub"))
    address = sshd.address(key_file=str(key))
    assert connections.transport("alpha", address, me).run("echo in", TIMEOUT).out == "in\n"


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
def test_a_key_of_another_editor_is_read(tmp_path: Path, ending: bytes) -> None:
    key = make_key(tmp_path / "key")
    key.write_bytes(b"\xef\xbb\xbf" + key.read_bytes().replace(b"\n", ending))
    assert load_login_key(key, "alice").offers[0].get_name() == "ssh-ed25519"


@pytest.mark.parametrize("options", [["-t", "ed25519"], ["-t", "rsa", "-m", "PEM"], ["-t", "rsa", "-m", "PKCS8"]])
def test_a_passphrase_is_named_with_the_command_that_takes_it_away(tmp_path: Path, options: list[str]) -> None:
    key = keygen(tmp_path / "a key", *options, passphrase="abcde")
    with pytest.raises(PrivateKeyUnusable, match="has a passphrase") as refusal:
        load_login_key(key, "alice")
    command = str(refusal.value).partition("write it without: ")[2]
    subprocess.run(["sh", "-c", command.replace("-p", "-q -p -P abcde")], check=True, capture_output=True)
    assert len(load_login_key(key, "alice").offers) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
            "PuTTY's format; run: puttygen .* -O private-openssh",
        ),
        ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n", "ssh.com's format; run: ssh-keygen -i -f"),
        ("SSH PRIVATE KEY FILE FORMAT 1.1\n\0", "SSH-1"),
        ("-----BEGIN DSA PRIVATE KEY-----\n", "DSA key"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@here\n", "public key; name the private one"),
        ("", "no private key that ssh would take .*ssh-keygen -p -f"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n", "no private key that ssh would take"),
    ],
)
def test_what_ssh_does_not_take_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "key").write_text(text)
    with pytest.raises(PrivateKeyUnusable, match=words):
        load_login_key(tmp_path / "key", "alice")


def test_a_dsa_key_of_openssh_is_named(tmp_path: Path) -> None:
    with pytest.raises(PrivateKeyUnusable, match="DSA key"):
        load_login_key(keygen(tmp_path / "key", "-t", "dsa"), "alice")


class Authority:
    """One that signs users' keys, and whose certificates the server takes."""

    def __init__(self, directory: Path) -> None:
        self.key = make_key(directory / "authority")

    def sign(self, key: Path, login: str, period: str, *options: str) -> Path:
        words = ["-q", "-s", str(self.key), "-I", "a test", "-n", login, "-V", period, *options]
        subprocess.run(["ssh-keygen", *words, f"{key}.pub"], check=True)
        return key.with_name(f"{key.name}-cert.pub")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def trusting(start_sshd: Callable[..., Sshd], authority: Authority) -> Sshd:
    sshd = start_sshd(f"TrustedUserCAKeys {authority.key}.pub")
    (sshd.directory / "user_key.pub").write_text("")
    return sshd


def test_a_certificate_logs_in(
    trusting: Sshd, authority: Authority, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "key")
    authority.sign(key, me, "+1d")
    address = trusting.address(key_file=str(key))
    assert connections.transport("alpha", address, me).run("echo in", TIMEOUT).out == "in\n"


@pytest.mark.parametrize(
    ("period", "login", "words"),
    [
        (
            "20200101:20210101",
            "",
            r"key-cert\.pub has expired: it was valid until 20(20|21)-.* UTC; have it signed anew",
        ),
        ("+100d:+200d", "", r"is not valid yet: it is from 20"),
        ("always:forever", "nobody-else", r"valid without an end and is for nobody-else, not for "),
    ],
)
def test_a_certificate_that_is_refused_is_explained(
    trusting: Sshd,
    authority: Authority,
    connections: SshConnections,
    me: str,
    tmp_path: Path,
    period: str,
    login: str,
    words: str,
) -> None:
    key = make_key(tmp_path / "key")
    authority.sign(key, login or me, period)
    with pytest.raises(ClusterUnreachable, match=words):
        connections.transport("alpha", trusting.address(key_file=str(key)), me).run("true", TIMEOUT)


@pytest.mark.parametrize("kind", ["expired", "another's", "a host's", "rubbish"])
def test_a_key_that_is_let_in_itself_needs_no_certificate(
    sshd: Sshd, authority: Authority, connections: SshConnections, me: str, tmp_path: Path, kind: str
) -> None:
    key = make_key(tmp_path / "key")
    let_in(sshd, key.with_suffix(".pub"))
    if kind == "another's":
        authority.sign(make_key(tmp_path / "other"), me, "+1d").rename(f"{key}-cert.pub")
    elif kind == "rubbish":
        Path(f"{key}-cert.pub").write_text("rubbish")
    else:
        authority.sign(key, me, "20200101:20210101", *(["-h"] if kind == "a host's" else []))
    address = sshd.address(key_file=str(key))
    assert connections.transport("alpha", address, me).run("echo in", TIMEOUT).out == "in\n"


def test_keys_of_the_home_that_cannot_be_used_are_told_of(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / ".ssh").mkdir()
    keygen(tmp_path / ".ssh/id_ed25519", "-t", "ed25519", passphrase="abcde")
    with pytest.raises(
        ClusterUnreachable, match=r"there is no key to log in as .* Mind: .*id_ed25519 has a passphrase"
    ):
        connections.transport("alpha", sshd.address(key_file=""), me).run("true", TIMEOUT)
    key = keygen(tmp_path / ".ssh/id_rsa", "-t", "rsa", "-m", "PKCS8")
    let_in(sshd, key.with_suffix(".pub"))
    assert connections.transport("alpha", sshd.address(key_file=""), me).run("echo in", TIMEOUT).out == "in\n"
