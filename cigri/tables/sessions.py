"""Sessions of browsers: by what people are known who look at pages."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, Index, Named, UniqueConstraint

from cigri.identity.callers import AccessScope
from cigri.tables.columns import NumberedColumns, one_of, table


class SessionColumns(NumberedColumns):
    """A link opens it, once and within a minute; then the browser that shows its secret is its user's.

    Of both secrets only the SHA-256 is kept, in hex; `sha256` null: the link was not opened. Rows go when their user is
    given another link after their end.
    """

    grid_user: Named[str]
    scope: Named[AccessScope] = Column(one_of(AccessScope, "scope"))
    link_sha256: Named[str]
    sha256: Named[str | None]
    created_at: Named[datetime]
    expires_at: Named[datetime]
    ended_at: Named[datetime | None]


Session = table(
    "sessions",
    SessionColumns,
    UniqueConstraint("link_sha256"),
    UniqueConstraint("sha256"),
    CheckConstraint("link_sha256 ~ '^[0-9a-f]{64}$'", name="link_sha256"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("expires_at > created_at AND expires_at <= created_at + interval '1 day'", name="expires_at"),
    Index(None, "grid_user"),
)
