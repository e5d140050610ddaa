"""The migration that lets people be told, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0046", "0053"
ROWS = """
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO events (code, level, subject, message, campaign_id, opened_at, last_at)
VALUES ('TASK_FAILED', 'error', 'task 1', 'm', 1, now(), now());
"""
SOME = """
INSERT INTO subscriptions (grid_user, campaign_id, channel, target, tags, severity, created_at)
VALUES ('alice', 1, 'mail', 'alice@example.org', '{END,ERROR}', 'low', now());
INSERT INTO messages (subscription_id, campaign_id, key, state, news, created_at, due_at)
VALUES (1, 1, 'k', 'waiting', '[]', now(), now());
UPDATE events SET is_news = true;
UPDATE campaigns SET is_begin_told = true;
"""


def test_what_happened_before_is_no_news(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(text("SELECT is_news FROM events")).scalar_one() is False
        conn.execute(text(SOME))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        kinds = "SELECT count(*) FROM pg_type WHERE typname IN ('channel', 'severity', 'message_state', 'messages')"
        assert conn.scalar(text(kinds)) == 0
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(text("SELECT is_begin_told FROM campaigns")).scalar_one() is False
        assert conn.execute(text("SELECT count(*) FROM subscriptions")).scalar_one() == 0
