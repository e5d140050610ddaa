"""Tokens as their owners see them."""

from datetime import datetime
from typing import NamedTuple

from cigri.rules.callers import Scope


class TokenView(NamedTuple):
    """`last_used_at` is right to a minute; `is_valid`: it is neither revoked nor expired."""

    id: int
    user: str
    comment: str
    scope: Scope
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    is_valid: bool


class MintedToken(NamedTuple):
    """`token`, its text, is told here only: what is kept does not say it."""

    token: str
    id: int
    user: str
    comment: str
    scope: Scope
    expires_at: datetime
