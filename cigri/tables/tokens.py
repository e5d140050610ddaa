"""Tokens: by what people are known who do not come through the socket."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Named

from cigri.identity.callers import AccessScope
from cigri.tables.columns import NumberedColumns, one_of, table


class TokenColumns(NumberedColumns):
    """Who shows its secret is its user, no further than `scope`; of the secret only the SHA-256 is kept, in hex.

    `ssh_key_id`: by whose signature it was made, where no kernel or proxy vouched for its user; it goes with the key.
    `last_used_at` is written once a minute at most. Rows stay, for the audit trail names them.
    """

    grid_user: Named[str]
    comment: Named[str]
    scope: Named[AccessScope] = Column(one_of(AccessScope, "scope"))
    sha256: Named[str]
    created_at: Named[datetime]
    expires_at: Named[datetime]
    last_used_at: Named[datetime | None]
    revoked_at: Named[datetime | None]
    ssh_key_id: Named[int | None] = Column(ForeignKey("ssh_keys.id"))


Token = table(
    "tokens",
    TokenColumns,
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("expires_at > created_at AND expires_at <= created_at + interval '90 days'", name="expires_at"),
    Index("ix_tokens_grid_user", "grid_user"),
    Index("ix_tokens_ssh_key_id", "ssh_key_id"),
)
