"""Tell people what happens to their campaigns: who wants to know, events that are news, the messages that tell them"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

MOMENT = postgresql.TIMESTAMP(timezone=True)
CHANNEL = postgresql.ENUM("mail", "exec", "webhook", name="channel", create_type=False)
SEVERITY = postgresql.ENUM("low", "medium", "high", name="severity", create_type=False)
MESSAGE_STATE = postgresql.ENUM("waiting", "sent", "failed", name="message_state", create_type=False)
TAGS = "'RUNNING', 'END', 'ERROR', 'INFO', 'SUSPENDED', 'RESUMING'"


def upgrade() -> None:
    for kind in (CHANNEL, SEVERITY, MESSAGE_STATE):
        kind.create(op.get_bind())
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=True),
        sa.Column("is_of_grid", sa.Boolean(), nullable=False, server_default="false"),
        sa.Column("channel", CHANNEL, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("tags", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("severity", SEVERITY, nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        _foreign("subscriptions", "campaign_id", "campaigns"),
        sa.CheckConstraint("NOT (is_of_grid AND campaign_id IS NOT NULL)", name=op.f("ck_subscriptions_one_thing")),
        sa.CheckConstraint(
            f"tags <@ ARRAY[{TAGS}] AND cardinality(tags) > 0",
            name=op.f("ck_subscriptions_tags"),
        ),
        sa.CheckConstraint("(channel = 'webhook') = (secret IS NOT NULL)", name=op.f("ck_subscriptions_secret")),
    )
    op.create_index(
        "uq_subscriptions_all",
        "subscriptions",
        ["grid_user", "is_of_grid", "channel", "target"],
        unique=True,
        postgresql_where=sa.text("campaign_id IS NULL"),
    )
    op.create_index(
        "uq_subscriptions_campaign",
        "subscriptions",
        ["campaign_id", "grid_user", "channel", "target"],
        unique=True,
        postgresql_where=sa.text("campaign_id IS NOT NULL"),
    )
    _create_messages()
    op.add_column("campaigns", sa.Column("is_begin_told", sa.Boolean(), nullable=False, server_default="false"))
    op.add_column("events", sa.Column("is_news", sa.Boolean(), nullable=False, server_default="false"))
    op.create_index("ix_events_news", "events", ["id"], postgresql_where=sa.text("is_news"))


def _create_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", MESSAGE_STATE, nullable=False),
        sa.Column("news", postgresql.JSONB(), nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("taken_until", MOMENT, nullable=True),
        sa.Column("settled_at", MOMENT, nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        _foreign("messages", "subscription_id", "subscriptions"),
        _foreign("messages", "campaign_id", "campaigns"),
        sa.UniqueConstraint("key", name=op.f("uq_messages_key")),
        sa.CheckConstraint("(state = 'waiting') = (settled_at IS NULL)", name=op.f("ck_messages_settled")),
        sa.CheckConstraint("tries >= 0", name=op.f("ck_messages_tries")),
    )
    op.create_index("ix_messages_waiting", "messages", ["due_at"], postgresql_where=sa.text("state = 'waiting'"))
    op.create_index(
        op.f("ix_messages_subscription_id_campaign_id_id"), "messages", ["subscription_id", "campaign_id", "id"]
    )
    op.create_index(op.f("ix_messages_campaign_id"), "messages", ["campaign_id"])


def _foreign(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE")


def downgrade() -> None:
    op.drop_index("ix_events_news", table_name="events")
    op.drop_column("events", "is_news")
    op.drop_column("campaigns", "is_begin_told")
    op.drop_table("messages")
    op.drop_table("subscriptions")
    for kind in (MESSAGE_STATE, SEVERITY, CHANNEL):
        kind.drop(op.get_bind())
