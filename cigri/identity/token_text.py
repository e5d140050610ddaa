"""A token as text, `cgr_12_SECRET`: its number, by which it is looked up, and what nobody can guess."""

import re
from typing import NamedTuple

_TOKEN = re.compile(r"cgr_([1-9][0-9]{0,17})_([A-Za-z0-9_-]{43})")


class ParsedToken(NamedTuple):
    id: int
    secret: str

    def __str__(self) -> str:
        return f"cgr_{self.id}_{self.secret}"


def read_token(text: str) -> ParsedToken | None:
    """None: it is no token, whatever is known."""
    found = _TOKEN.fullmatch(text)
    return ParsedToken(int(found[1]), found[2]) if found else None


def hash_of(secret: str) -> str:
    """Of 256 random bits: neither salt nor slowness would make them harder to guess."""
    from hashlib import sha256

    return sha256(secret.encode()).hexdigest()
