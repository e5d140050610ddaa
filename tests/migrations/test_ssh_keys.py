"""The migration of SSH keys: tokens that keys gave go back as tokens, and keys do not come again."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.challenges import put_challenge
from cigri.flow.ssh_keys import list_keys, put_key
from cigri.flow.tokens import list_tokens, put_token
from cigri.identity.callers import AccessScope
from cigri.ssh_keys.challenge_text import RequestedToken
from cigri.ssh_keys.public_keys import PublicKey
from tests.callers import ALICE


def test_keys_go_with_their_tables_and_tokens_stay(database: Database) -> None:
    with database.begin() as conn:
        key = put_key(conn, "alice", PublicKey("ssh-ed25519", b"k", "laptop"))
        put_token(conn, "alice", "0" * 64, scope=AccessScope.READ, expires_in=60, ssh_key_id=key.id)
        put_challenge(conn, RequestedToken("alice", "localhost", AccessScope.READ, 60, ""), "n" * 43)
    schema.downgrade(database, "0046")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM tokens")) == 1
        assert conn.scalar(text("SELECT coalesce(to_regclass('ssh_keys'), to_regclass('challenges'))")) is None
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_keys(conn, ALICE) == []
        assert [token.ssh_key_id for token in list_tokens(conn, ALICE)] == [None]
