"""The migration that lets a campaign be submitted once, however often it is sent, up and down with rows."""

from sqlalchemy import update

from cigri.database import Database, schema
from cigri.flow.submissions import IdempotencyKey, find_submission
from cigri.tables.campaigns import Campaign
from tests.factories import a_campaign, a_cluster


def test_campaigns_of_before_have_no_key(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
    schema.downgrade(database, "0034")
    schema.upgrade(database)
    with database.begin() as conn:
        assert find_submission(conn, "alice", IdempotencyKey("k", "")) is None
        a_campaign(conn, 1)


def test_what_was_sent_with_a_key_before_is_not_known_and_not_asked_for(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user="alice")
        conn.execute(update(Campaign).values(submission_key="k", submission_digest="d"))
    schema.downgrade(database, "0037")
    schema.upgrade(database)
    with database.begin() as conn:
        assert find_submission(conn, "alice", IdempotencyKey("k", "another")) == 1
