"""Challenges: what somebody whom nobody knows yet is to sign, within a minute."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, Named, UniqueConstraint

from cigri.identity.callers import AccessScope
from cigri.tables.columns import NumberedColumns, one_of, table


class ChallengeColumns(NumberedColumns):
    """The token that is asked for, and the `nonce` that makes the text to be signed another one each time.

    A row goes when it is answered, when its time is over, or when there are too many after it.
    """

    nonce: Named[str]
    grid_user: Named[str]
    host: Named[str]
    scope: Named[AccessScope] = Column(one_of(AccessScope, "scope"))
    expires_in: Named[int]
    comment: Named[str]
    created_at: Named[datetime]


Challenge = table(
    "challenges",
    ChallengeColumns,
    UniqueConstraint("nonce"),
    CheckConstraint("nonce ~ '^[A-Za-z0-9_-]{43}$'", name="nonce"),
)
