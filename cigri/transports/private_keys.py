"""Private keys from files, in every format that ssh takes, with the certificates beside them."""

import base64
import binascii
import io
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

LAST_DATE = 253402300799
"""End of the year 9999; a certificate that ends later has no end."""

OPENSSH_BODY = re.compile(rb"-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)")
SOFTWARE_KEYS = (rsa.RSAPrivateKey, ed25519.Ed25519PrivateKey, ec.EllipticCurvePrivateKey)
ANOTHER_KEY = "make another: ssh-keygen -t ed25519"
FORMATS_THAT_ARE_NOT_TAKEN = (
    (rb"PuTTY-User-Key-File-", "is in PuTTY's format; run: puttygen {} -O private-openssh -o {}.openssh"),
    (rb"---- BEGIN SSH2 (ENCRYPTED )?PRIVATE KEY", "is in ssh.com's format; run: ssh-keygen -i -f {} > {}.openssh"),
    (rb"SSH PRIVATE KEY FILE FORMAT 1", f"is of SSH-1, which no sshd takes any more; {ANOTHER_KEY}"),
    (rb"-----BEGIN DSA PRIVATE KEY|ssh-dss", f"is a DSA key, which no sshd takes any more; {ANOTHER_KEY}"),
    (rb"sk-(ssh|ecdsa)-", f"is of a security key that somebody has to touch; {ANOTHER_KEY}"),
    (rb"BEGIN (RSA |SSH2 )?PUBLIC KEY|\A(ssh|ecdsa)-\S+ AAAA", "is a public key; name the private one"),
)
"""What the text holds, and what is said of the file, whose name stands where there are braces."""


class PrivateKeyUnusable(Exception):
    """Nobody can log in with the file; the text says why, and what to do."""


class LoginKey(NamedTuple):
    """A private key, and what is offered of it in turn: its certificate, then itself."""

    offers: list[paramiko.PKey]
    remark: str
    """What a refused person should know of its certificate; "": there is none."""


def load_login_key(path: Path, login: str) -> LoginKey:
    """The key of a file, for that account; raise PrivateKeyUnusable."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PrivateKeyUnusable(f"the key file {path} cannot be read: {error.strerror or error}") from None
    plain = _load(path, data)
    certificate = path.with_name(path.name + "-cert.pub")
    if not certificate.exists():
        return LoginKey([plain], "")
    try:
        remark = _describe_certificate(certificate, plain, login)
        certified = _load(path, data)
        certified.load_certificate(str(certificate))
    except (OSError, ValueError, UnsupportedAlgorithm, paramiko.SSHException) as error:
        return LoginKey([plain], f"its certificate {certificate} is not used: {error}")
    return LoginKey([certified, plain], remark)


def _load(path: Path, data: bytes) -> paramiko.PKey:
    for text, words in FORMATS_THAT_ARE_NOT_TAKEN:
        if re.search(text, data + _openssh_head(data)):
            raise PrivateKeyUnusable(f"the key file {path} {words.replace('{}', shlex.quote(str(path)))}")
    try:
        return _as_paramiko(_parse(data))
    except TypeError:  # what asks for a passphrase
        words = "has a passphrase, and nobody is there to type it; write it without: ssh-keygen -p -N '' -f"
    except (ValueError, UnsupportedAlgorithm, paramiko.SSHException) as error:
        reason = str(error).partition(". See")[0]
        words = (
            f"holds no private key that ssh would take ({reason}); if you can read it, write it anew: ssh-keygen -p -f"
        )
    raise PrivateKeyUnusable(f"the key file {path} {words} {shlex.quote(str(path))}")


def _openssh_head(data: bytes) -> bytes:
    """The part of a key in OpenSSH's own format that tells its type, decoded."""
    body = OPENSSH_BODY.search(data)
    try:
        return base64.b64decode(body[1])[:200] if body else b""
    except binascii.Error:
        return b""


def _parse(data: bytes) -> object:
    try:
        return serialization.load_ssh_private_key(data, None)
    except ValueError:
        if OPENSSH_BODY.search(data):
            raise
    return serialization.load_pem_private_key(data, None)


def _as_paramiko(loaded: object) -> paramiko.PKey:
    """Written in OpenSSH's format, which paramiko reads of every type; of PEM it knows two kinds."""
    if not isinstance(loaded, SOFTWARE_KEYS):
        raise ValueError(f"a {type(loaded).__name__} is of no type that is known here")
    none = serialization.NoEncryption()
    text = loaded.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, none).decode()
    kinds = (paramiko.RSAKey, paramiko.Ed25519Key, paramiko.ECDSAKey)
    return kinds[[isinstance(loaded, kind) for kind in SOFTWARE_KEYS].index(True)].from_private_key(io.StringIO(text))


def _describe_certificate(path: Path, key: paramiko.PKey, login: str) -> str:
    """When it is valid, and for whom; raise ValueError for one that is not of this key, or not of a user."""
    certificate = serialization.load_ssh_public_identity(path.read_bytes())
    if not isinstance(certificate, serialization.SSHCertificate):
        raise ValueError("it is a public key and no certificate")
    if certificate.type is not serialization.SSHCertificateType.USER:
        raise ValueError("it is a host's")
    public = certificate.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    if public.split()[1].decode() != key.get_base64():
        raise ValueError("it is of another key")
    names = [name.decode(errors="replace") for name in certificate.valid_principals]
    remark = f"its certificate {path} {_period(certificate.valid_after, certificate.valid_before)}"
    if names and login not in names:
        remark += f" and is for {', '.join(names)}, not for {login}"
    return remark


def _period(since: int, until: int) -> str:
    # By this host's clock, as no sshd tells its own.
    current = int(datetime.now(UTC).timestamp())
    if current >= until:
        return f"has expired: it was valid until {_date(until)}; have it signed anew"
    if current < since:
        return f"is not valid yet: it is from {_date(since)} on"
    return f"is valid until {_date(until)}" if until <= LAST_DATE else "is valid without an end"


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(min(seconds, LAST_DATE), UTC).strftime("%Y-%m-%d %H:%M UTC")
