"""Let a pause be a hold"""

from alembic import op

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

OLD = ("in_treatment", "paused", "terminated", "cancelled")
NEW = ("in_treatment", "terminated", "cancelled")
HOLD_PAUSED = """
INSERT INTO holds (campaign_id, waiting_only, asked_at, asked_by)
SELECT campaigns.id, true, coalesce(pause.last_at, now()),
       coalesce(substring(pause.message FROM '^paused by (.+)$'), campaigns.grid_user)
FROM campaigns LEFT JOIN LATERAL (
    SELECT last_at, message FROM events
    WHERE events.campaign_id = campaigns.id AND code = 'PAUSED' ORDER BY events.id DESC LIMIT 1
) AS pause ON true
WHERE state = 'paused' AND NOT EXISTS (
    SELECT FROM holds WHERE holds.campaign_id = campaigns.id AND cluster_id IS NULL AND job_id IS NULL
)
"""
IS_OPEN_NOW = "state = 'in_treatment'"
WAS_OPEN = "state IN ('in_treatment', 'paused')"


def upgrade() -> None:
    """Paused campaigns are held: what ran goes on. Events of before have the words of now."""
    op.execute(HOLD_PAUSED)
    op.execute("UPDATE events SET code = 'HELD' WHERE code = 'PAUSED'")
    op.execute("UPDATE events SET code = 'RELEASED' WHERE code = 'RESUMED'")
    _have_states(NEW, "CASE state WHEN 'paused' THEN 'in_treatment' ELSE state::text END", IS_OPEN_NOW)


def downgrade() -> None:
    """What is held stays so: held it was before, too."""
    _have_states(OLD, "state::text", WAS_OPEN)


def _have_states(states: tuple[str, ...], becomes: str, is_open: str) -> None:
    """Indexes and the check compare with words of the type, so they are made anew."""
    for index in ("open", "unmatched", "furnished"):
        op.drop_index(f"ix_campaigns_{index}", table_name="campaigns")
    op.drop_constraint(op.f("ck_campaigns_ended"), "campaigns", type_="check")
    op.execute("ALTER TYPE campaign_state RENAME TO former_state")
    op.execute(f"CREATE TYPE campaign_state AS ENUM ({', '.join(map(repr, states))})")
    op.execute(f"ALTER TABLE campaigns ALTER state TYPE campaign_state USING ({becomes})::campaign_state")
    op.execute("DROP TYPE former_state")
    is_over = "(state IN ('terminated', 'cancelled')) = (ended_at IS NOT NULL)"
    op.create_check_constraint(op.f("ck_campaigns_ended"), "campaigns", is_over)
    wanted = {
        "open": is_open,
        "unmatched": f"unmatched_from IS NOT NULL AND {is_open}",
        "furnished": "tasks_have_inputs AND state = 'in_treatment'",
    }
    for index, where in wanted.items():
        op.create_index(f"ix_campaigns_{index}", "campaigns", ["id"], postgresql_where=where)
