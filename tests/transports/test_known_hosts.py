"""Host keys as ssh judges them: which lines of known_hosts count, and what is said of a key that none of them lists."""

import base64
import hashlib
import hmac
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.errors import ClusterUnreachable
from cigri.transports.known_hosts import KnownHosts, Standing
from cigri.transports.ssh import SshConnections

from .conftest import Sshd, make_key, require

TIMEOUT = 20.0
KIND = "ssh-ed25519"


def blob_of(number: int) -> bytes:
    return len(KIND).to_bytes(4, "big") + KIND.encode() + bytes([0, 0, 0, 32]) + bytes([number]) * 32


def line_of(names: str, number: int, marker: str = "") -> bytes:
    return f"{marker} {names} {KIND} {base64.b64encode(blob_of(number)).decode()} a comment".strip().encode()


def hashed(name: str) -> str:
    salt = b"01234567890123456789"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def standing(lines: list[bytes], number: int, *names: str) -> Standing:
    return KnownHosts(lines).judge(names or ("alpha",), KIND, blob_of(number)).standing


@pytest.mark.parametrize(
    ("names", "name", "is_known"),
    [
        ("alpha", "alpha", True),
        ("Alpha", "aLPHA", True),
        ("beta,alpha", "alpha", True),
        ("alpha", "alphaville", False),
        ("*.example.org", "front.example.org", True),
        ("*.example.org", "example.org", False),
        ("front?", "front2", True),
        ("front?", "front12", False),
        ("*.example.org,!bad.example.org", "bad.example.org", False),
        ("!bad.example.org,*.example.org", "bad.example.org", False),
        ("*.example.org,!bad.example.org", "good.example.org", True),
        ("!beta", "alpha", False),
        ("[alpha]:2222", "[alpha]:2222", True),
        ("[alpha]:*", "[alpha]:2222", True),
        ("[alpha]:2222", "a:2222", False),
        ("front[12]", "front1", False),
        ("front.example.org", "frontXexample.org", False),
        (hashed("alpha"), "alpha", True),
        (hashed("alpha"), "beta", False),
        ("|1|rubbish|rubbish", "alpha", False),
        ("*" * 200 + "x", "a" * 200, False),
    ],
)
def test_names_are_matched_as_ssh_does(names: str, name: str, is_known: bool) -> None:
    assert (standing([line_of(names, 1)], 1, name) is Standing.GOOD) == is_known


def test_any_key_that_is_listed_for_the_name_is_good() -> None:
    lines = [line_of("alpha", 1), line_of("alpha", 2), line_of("beta", 3)]
    assert [standing(lines, number) for number in (1, 2, 3)] == [Standing.GOOD, Standing.GOOD, Standing.CHANGED]


@pytest.mark.parametrize("order", [1, -1])
def test_a_revoked_key_is_never_good(order: int) -> None:
    lines = [line_of("alpha", 1), line_of("*", 1, "@revoked"), line_of("alpha", 2)][::order]
    assert standing(lines, 1) is Standing.REVOKED
    assert standing(lines, 2) is Standing.GOOD


def test_the_name_without_its_port_speaks_where_nothing_else_does() -> None:
    names = ("[alpha]:2222", "alpha")
    assert standing([line_of("alpha", 1)], 1, *names) is Standing.GOOD
    assert standing([line_of("alpha", 1)], 2, *names) is Standing.UNKNOWN
    assert standing([line_of("alpha", 1), line_of("[alpha]:2222", 2)], 1, *names) is Standing.CHANGED
    assert standing([line_of("alpha", 1, "@revoked"), line_of("[alpha]:2222", 1)], 1, *names) is Standing.REVOKED


def test_an_authority_vouches_for_no_plain_key() -> None:
    assert standing([line_of("alpha", 1, "@cert-authority")], 1) is Standing.CERTIFIED_ONLY
    assert standing([line_of("alpha", 1, "@cert-authority"), line_of("alpha", 2)], 2) is Standing.GOOD


@pytest.mark.parametrize(
    "rubbish",
    [
        b"alpha 1024 35 123456789012345678901234567890",
        b"alpha ssh-ed25519",
        b"alpha ssh-ed25519 %%%%",
        b"alpha ssh-ed25519 AAAA",
        b"alpha ssh-rsa " + base64.b64encode(blob_of(1)),
        b"@unheard-of alpha ssh-ed25519 " + base64.b64encode(blob_of(1)),
        b"# " + line_of("alpha", 1),
        b"caf\xe9 ssh-ed25519 AAAAC3 \xff\xfe",
        b"@revoked",
        b"\0\0\0",
    ],
)
def test_lines_that_are_not_understood_are_skipped(rubbish: bytes) -> None:
    assert standing([rubbish], 1) is Standing.UNKNOWN
    assert standing([rubbish, line_of("alpha", 1) + b"\r", rubbish], 1) is Standing.GOOD


def test_types_that_are_listed_and_not_revoked_are_asked_for() -> None:
    known = KnownHosts([line_of("alpha", 1), line_of("beta", 2), line_of("beta", 2, "@revoked")])
    assert known.kinds(["alpha"]) == {KIND}
    assert known.kinds(["beta"]) == set()


def test_a_file_that_is_not_there_knows_nobody(tmp_path: Path) -> None:
    assert KnownHosts.read(tmp_path / "none").kinds(["alpha"]) == set()


# With sshd.


def name_of(sshd: Sshd) -> str:
    return f"[127.0.0.1]:{sshd.port}"


def host_key(sshd: Sshd) -> str:
    return " ".join((sshd.directory / "host_key.pub").read_text().split()[:2])


def other_key(path: Path) -> str:
    return " ".join(make_key(path).with_suffix(".pub").read_text().split()[:2])


def refusal_of(sshd: Sshd, connections: SshConnections, me: str) -> str:
    with pytest.raises(ClusterUnreachable) as refused:
        connections.transport("alpha", sshd.address(), me).run("true", TIMEOUT)
    assert "Accepted" not in sshd.log.read_text()
    return str(refused.value)


@pytest.mark.parametrize("is_first", [True, False])
def test_login_nodes_behind_one_name_may_have_several_keys(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path, is_first: bool
) -> None:
    lines = [f"{name_of(sshd)} {host_key(sshd)}\n", f"{name_of(sshd)} {other_key(tmp_path / 'other')}\n"]
    sshd.known_hosts.write_text("".join(lines if is_first else reversed(lines)))
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"


def test_odd_lines_refuse_nobody(sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path) -> None:
    good, other = sshd.known_hosts.read_bytes(), other_key(tmp_path / "other").encode()
    sshd.known_hosts.write_bytes(
        b"@cert-authority *.example.org %s\n@revoked * %s\nold 1024 35 12345678901234567890\n" % (other, other)
        + b"caf\xe9 %s a caf\xe9\nrubbish\n\0\n" % other
        + good
    )
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"


def test_a_hashed_file_is_read(sshd: Sshd, connections: SshConnections, me: str) -> None:
    require("ssh-keygen", "openssh-client")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(sshd.known_hosts)], check=True, capture_output=True)
    assert "127.0.0.1" not in sshd.known_hosts.read_text()
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"


def test_a_revoked_host_key_is_refused_though_it_is_listed(sshd: Sshd, connections: SshConnections, me: str) -> None:
    with sshd.known_hosts.open("a") as known:
        known.write(f"@revoked * {host_key(sshd)}\n")
    words = refusal_of(sshd, connections, me)
    assert "IS REVOKED" in words
    assert "line 2: ssh-ed25519 SHA256:" in words
    assert "run:" not in words


def test_a_host_that_only_an_authority_vouches_for_is_told_of(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    require("ssh-keyscan", "openssh-client")
    sshd.known_hosts.write_text(f"@cert-authority * {other_key(tmp_path / 'authority')}\n")
    words = refusal_of(sshd, connections, me)
    assert "host certificates only (@cert-authority, line 1: ssh-ed25519 SHA256:" in words
    assert "its own key has to be listed" in words
    run_advice(words)
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"


def test_the_advice_for_a_changed_key_deletes_none(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    require("ssh-keyscan", "openssh-client")
    other = f"{name_of(sshd)} {other_key(tmp_path / 'other')}\n"
    sshd.known_hosts.write_text(f"# two nodes\n{other}")
    words = refusal_of(sshd, connections, me)
    assert "HAS CHANGED" in words
    assert "(line 2: ssh-ed25519 SHA256:" in words
    run_advice(words)
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"
    assert sshd.known_hosts.read_text().startswith(f"# two nodes\n{other}")


def test_a_server_is_asked_for_the_type_that_is_listed(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str, tmp_path: Path
) -> None:
    path = tmp_path / "ecdsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(path)], check=True)
    sshd = start_sshd(f"HostKey {path}")
    listed = " ".join(path.with_suffix(".pub").read_text().split()[:2])
    sshd.known_hosts.write_text(f"{name_of(sshd)} {listed}\n")
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"


def test_a_file_that_cannot_be_read_is_named(sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path) -> None:
    with pytest.raises(ClusterUnreachable, match=f"{tmp_path} cannot be read: Is a directory"):
        connections.transport("alpha", sshd.address(known_hosts=str(tmp_path)), me).run("true", TIMEOUT)


def run_advice(message: str) -> None:
    done = subprocess.run(["sh", "-c", message.partition("run: ")[2]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
