"""The migration of tokens: it goes back with rows, and comes again without."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.tokens import list_tokens, put_token
from cigri.identity.callers import AccessScope, Caller


def test_tokens_go_with_their_table(database: Database) -> None:
    with database.begin() as conn:
        put_token(conn, "alice", "0" * 64, scope=AccessScope.SUBMIT, expires_in=60)
    schema.downgrade(database, "0034")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM pg_type WHERE typname IN ('scope', 'tokens')")) == 0
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_tokens(conn, Caller("alice")) == []
