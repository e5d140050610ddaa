"""What a known_hosts file says of the key that a host shows, judged as OpenSSH's own client does."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

REVOKED_MARK = b"@revoked"
AUTHORITY_MARK = b"@cert-authority"
HASHED_NAME = re.compile(rb"\|1\|([^|]+)\|([^|]+)")


class Standing(Enum):
    """What the file makes of a key."""

    GOOD = "listed for the name"
    REVOKED = "listed as one that must never be taken again"
    CHANGED = "not listed, while others of its type are"
    CERTIFIED_ONLY = "not listed; an authority is whose certificates would do"
    UNKNOWN = "not listed"


class KnownKey(NamedTuple):
    """One line of the file that is understood."""

    line: int
    marker: bytes
    """`REVOKED_MARK`, `AUTHORITY_MARK` or nothing."""
    names: bytes
    kind: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")

    def is_of(self, name: str) -> bool:
        """The line's patterns are those of the host of this name."""
        lowered = name.lower().encode(errors="surrogateescape")
        if hashed := HASHED_NAME.fullmatch(self.names):
            return _is_hash_of(lowered, hashed[1], hashed[2])
        return _matches(lowered, self.names.lower().split(b","))


class HostKeyJudgement(NamedTuple):
    """The verdict on a key, and the lines that brought it about."""

    standing: Standing
    keys: list[KnownKey]


class KnownHosts:
    """The keys of a known_hosts file. Lines that ssh would skip, or that nobody understands, are not among them."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        understood = (_understand_line(number, line) for number, line in enumerate(lines, 1))
        self._keys = [key for key in understood if key]

    @classmethod
    def read(cls, path: Path) -> "KnownHosts":
        """A file that is not there knows nobody; raise OSError when it cannot be read."""
        return cls(path.read_bytes().split(b"\n") if path.exists() else [])

    def judge(self, names: Sequence[str], kind: str, blob: bytes) -> HostKeyJudgement:
        """`names` are the host's: `[host]:port` before `host`, which speaks where the first knows no such key."""
        known = [[key for key in self._keys if key.is_of(name)] for name in names]
        everywhere = [key for keys in known for key in keys]
        if revoked := [key for key in everywhere if key.marker == REVOKED_MARK and key.blob == blob]:
            return HostKeyJudgement(Standing.REVOKED, revoked)
        for keys in known:
            plain = [key for key in keys if not key.marker and key.kind == kind]
            if good := [key for key in plain if key.blob == blob]:
                return HostKeyJudgement(Standing.GOOD, good)
            if plain and keys is known[0]:
                return HostKeyJudgement(Standing.CHANGED, plain)
        if authorities := [key for key in everywhere if key.marker == AUTHORITY_MARK]:
            return HostKeyJudgement(Standing.CERTIFIED_ONLY, authorities)
        return HostKeyJudgement(Standing.UNKNOWN, [key for key in known[0] if not key.marker])

    def kinds(self, names: Sequence[str]) -> set[str]:
        """Types of the keys that are listed for the host and not revoked: what it should be asked for first."""
        keys = [key for key in self._keys if any(key.is_of(name) for name in names)]
        revoked = {key.blob for key in keys if key.marker == REVOKED_MARK}
        return {key.kind for key in keys if not key.marker and key.blob not in revoked}


def _understand_line(number: int, line: bytes) -> KnownKey | None:
    """None: empty, a comment, a key of SSH-1, or rubbish."""
    words = line.split(None, 4)
    marker = words.pop(0) if words and words[0].startswith(b"@") else b""
    if marker not in (b"", REVOKED_MARK, AUTHORITY_MARK) or len(words) < 3 or words[0].startswith(b"#"):
        return None
    names, kind, text = words[:3]
    try:
        blob = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    # A key says its own type first: a number of four bytes, then so many bytes.
    if blob[:4] != len(kind).to_bytes(4, "big") or blob[4 : 4 + len(kind)] != kind:
        return None
    return KnownKey(number, marker, names, kind.decode("ascii", "replace"), blob)


def _is_hash_of(name: bytes, salt: bytes, digest: bytes) -> bool:
    try:
        made = hmac.new(base64.b64decode(salt, validate=True), name, hashlib.sha1).digest()
        return hmac.compare_digest(made, base64.b64decode(digest, validate=True))
    except binascii.Error:
        return False


def _matches(name: bytes, patterns: list[bytes]) -> bool:
    """One of the patterns is the name's, and none behind a `!` is."""
    if any(_is_like(name, pattern[1:]) for pattern in patterns if pattern.startswith(b"!")):
        return False
    return any(_is_like(name, pattern) for pattern in patterns if not pattern.startswith(b"!"))


def _is_like(name: bytes, pattern: bytes) -> bool:
    """`*` is any text, `?` any one character; brackets stand for themselves, unlike in names of files."""
    parts = (b".*" if part == b"*" else b"." if part == b"?" else re.escape(part) for part in _parts(pattern))
    return re.fullmatch(b"".join(parts), name, re.DOTALL) is not None


def _parts(pattern: bytes) -> list[bytes]:
    # Several `*` in a row are one: a line of a hundred would be looked at for ever.
    return re.findall(rb"[^*?]+|\*|\?", re.sub(rb"\*+", b"*", pattern))
