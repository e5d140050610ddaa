"""SSH keys: by whose signatures people are given tokens."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, Named

from cigri.tables.columns import NumberedColumns, table


class SshKeyColumns(NumberedColumns):
    """Who signs with it may have tokens of its user; `public_key` as in its file, `fingerprint` as ssh-keygen shows it.

    Once removed it never counts again. Rows stay, for tokens and the audit trail name them.
    """

    grid_user: Named[str]
    public_key: Named[str]
    fingerprint: Named[str]
    comment: Named[str]
    created_at: Named[datetime]
    removed_at: Named[datetime | None]


SshKey = table(
    "ssh_keys",
    SshKeyColumns,
    CheckConstraint("fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'", name="fingerprint"),
    Index("ix_ssh_keys_grid_user", "grid_user", "fingerprint", unique=True, postgresql_where="removed_at IS NULL"),
)
