"""Public SSH keys as their files have them: which kinds are taken, and what is refused."""

import binascii
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import NamedTuple

from cigri.errors import UsageError
from cigri.ssh_keys.wire import read_fields

LONGEST_PUBLIC_KEY = 16_000  # characters
RSA = "ssh-rsa"
RSA_BITS = range(2048, 16_384 + 1)
POINT_BYTES = {"nistp256": 65, "nistp384": 97, "nistp521": 133}
ED25519_BYTES = 32
KEY_KINDS = "ed25519, ecdsa, rsa of 2048 bits or more, and keys in hardware (sk-) are taken"
WHICH_FILE = "name the file that ends in .pub, as ~/.ssh/id_ed25519.pub"


class PublicKey(NamedTuple):
    """`kind` and `blob` are the key itself; the comment is what its owner calls it."""

    kind: str
    blob: bytes
    comment: str

    @property
    def text(self) -> str:
        """As a line of a file, without the comment."""
        return f"{self.kind} {b64encode(self.blob).decode()}"

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        return fingerprint_of(self.blob)


def fingerprint_of(blob: bytes) -> str:
    return f"SHA256:{b64encode(sha256(blob).digest()).decode().rstrip('=')}"


def read_public_key(text: str) -> PublicKey:
    """Of one line; raise UsageError for what is none, has options before it, or is of a kind that is not taken."""
    line = text.strip()
    if "PRIVATE KEY" in line:
        raise UsageError(f"this is a private key, which nobody else is to see: {WHICH_FILE}")
    if not line or len(line) > LONGEST_PUBLIC_KEY or not line.isprintable():
        raise UsageError(f"a public key is one line of {LONGEST_PUBLIC_KEY} characters at most: {WHICH_FILE}")
    kind, _, rest = line.partition(" ")
    encoded, _, comment = rest.strip().partition(" ")
    try:
        blob = b64decode(encoded, validate=True)
        fields = read_fields(blob)
    except (binascii.Error, ValueError):
        raise UsageError(f"this is no public key, or has options before it: {WHICH_FILE}") from None
    if not fields or fields[0] != kind.encode():
        raise UsageError(f"this is no public key, or has options before it: {WHICH_FILE}")
    if not _is_taken(kind, fields[1:]):
        raise UsageError(f"a key of this kind, or so short, is not taken ({kind}): {KEY_KINDS}")
    return PublicKey(kind, blob, comment.strip())


def _is_taken(kind: str, fields: list[bytes]) -> bool:
    """By what is in it; a certificate is of another kind."""
    match kind.split("-"), fields:
        case (["ssh", "ed25519"], [key]) | (["sk", "ssh", "ed25519@openssh.com"], [key, _]):
            return len(key) == ED25519_BYTES
        case (["ecdsa", "sha2", curve], [named, point]) | (
            ["sk", "ecdsa", "sha2", "nistp256@openssh.com" as curve],
            [named, point, _],
        ):
            curve = curve.partition("@")[0]
            return named == curve.encode() and len(point) == POINT_BYTES.get(curve) and point[0] == 4
        case ["ssh", "rsa"], [_, modulus]:
            return int.from_bytes(modulus).bit_length() in RSA_BITS
    return False
