"""Which public keys are taken: by what is in them, whatever the line calls them."""

import struct
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.errors import UsageError
from cigri.ssh_keys.public_keys import read_public_key
from cigri.ssh_keys.signatures import read_signer

POINT = b"\4" + b"p" * 64
ED25519 = b"k" * 32


def line(kind: str, *fields: bytes, named: str = "") -> str:
    blob = b"".join(struct.pack(">I", len(field)) + field for field in (kind.encode(), *fields))
    return f"{named or kind} {b64encode(blob).decode()} alice@laptop"


def number(bits: int) -> bytes:
    modulus: int = 2 ** (bits - 1) + 1
    return b"\0" + modulus.to_bytes((bits + 7) // 8)


@pytest.mark.parametrize(
    "text",
    [
        line("ssh-ed25519", ED25519),
        line("sk-ssh-ed25519@openssh.com", ED25519, b"ssh:"),
        line("ecdsa-sha2-nistp256", b"nistp256", POINT),
        line("ecdsa-sha2-nistp384", b"nistp384", b"\4" + b"p" * 96),
        line("ecdsa-sha2-nistp521", b"nistp521", b"\4" + b"p" * 132),
        line("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:"),
        line("ssh-rsa", b"\1\0\1", number(2048)),
        line("ssh-rsa", b"\1\0\1", number(16384)),
    ],
    ids=lambda text: text[:30],
)
def test_these_are_taken(text: str) -> None:
    key = read_public_key(f"{text}\n")
    assert f"{key.text} {key.comment}" == text
    assert key.comment == "alice@laptop"


@pytest.mark.parametrize(
    "text",
    [
        line("ssh-dss", b"p", b"q", b"g", b"y"),
        line("ssh-rsa", b"\1\0\1", number(2047)),
        line("ssh-rsa", b"\1\0\1", number(16385)),
        line("ssh-rsa", b"\1\0\1"),
        line("ssh-rsa", b"\1\0\1", number(2048), b"more"),
        line("ssh-ed25519", b"k" * 31),
        line("ssh-ed25519", ED25519, b"more"),
        line("ssh-ed25519-cert-v01@openssh.com", b"nonce", ED25519),
        line("sk-ssh-ed25519@openssh.com", ED25519),
        line("sk-ssh-ed25519@example.org", ED25519, b"ssh:"),
        line("ecdsa-sha2-nistp256", b"nistp384", POINT),
        line("ecdsa-sha2-nistp384", b"nistp384", POINT),
        line("ecdsa-sha2-nistp999", b"nistp999", POINT),
        line("ecdsa-sha2-nistp256", b"nistp256", b"\2" + b"p" * 64),
        line("sk-ecdsa-sha2-nistp521@openssh.com", b"nistp521", b"\4" + b"p" * 132, b"ssh:"),
        line("webauthn-sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:"),
    ],
    ids=lambda text: text[:40],
)
def test_these_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="is not taken"):
        read_public_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "cert-authority " + line("ssh-ed25519", ED25519),
        'namespaces="git" ' + line("ssh-ed25519", ED25519),
        'command="/bin/sh" ' + line("ssh-ed25519", ED25519),
        "alice " + line("ssh-ed25519", ED25519),
        line("ssh-ed25519", ED25519, named="ssh-rsa"),
        line("ssh-ed25519", ED25519) + "\n" + line("ssh-ed25519", ED25519),
        line("ssh-ed25519", ED25519).replace(" ", "\n", 1),
        "ssh-ed25519 AAAA",
        "ssh-ed25519 AAAAC3Nz=aC1l",
        "ssh-ed25519",
        "",
        "# a comment",
        "ssh-ed25519 " + "A" * 20_000,
        line("ssh-ed25519", ED25519) + "\0",
        line("ssh-ed25519", ED25519) + "\x1b[2J",
    ],
    ids=ascii,
)
def test_what_is_no_plain_line_of_a_key_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="public key"):
        read_public_key(text)


def test_a_private_key_is_never_taken_for_one() -> None:
    with pytest.raises(UsageError, match=r"this is a private key.*\.pub"):
        read_public_key("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n")


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda blob: f"ssh-ed25519 {b64encode(blob).decode()}"))
def test_whatever_is_read_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError):
        read_public_key(text)


@given(st.binary(max_size=200))
def test_whatever_stands_in_an_armour_is_read_or_none(data: bytes) -> None:
    armour = "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n"
    assert read_signer(armour.format(b64encode(data).decode())) is None
    assert read_signer(armour.format(b64encode(b"SSHSIG\0\0\0\1" + data).decode())) is None or len(data) >= 20
