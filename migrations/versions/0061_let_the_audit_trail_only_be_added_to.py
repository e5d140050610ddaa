"""Let the audit trail only be added to, in a chain of hashes"""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

LINK_ENTRY = """
CREATE FUNCTION link_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    previous text;
BEGIN
    UPDATE audit_chain SET last_id = last_id + 1 RETURNING last_id, last_hash INTO NEW.id, previous;
    NEW.hash := encode(sha256(convert_to(previous || jsonb_build_array(
        NEW.id, to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
        NEW.grid_user, NEW.how, NEW.endpoint, NEW.asked
    )::text, 'UTF8')), 'hex');
    UPDATE audit_chain SET last_hash = NEW.hash;
    RETURN NEW;
END $$
"""
KEEP_ENTRIES = """
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only added to; the janitor removes its oldest entries';
END $$
"""
FORGET_ENTRIES = """
CREATE FUNCTION forget_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    newest audit;
BEGIN
    SELECT * INTO newest FROM old_entries ORDER BY id DESC LIMIT 1;
    IF newest IS NULL THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT FROM audit WHERE id < newest.id) THEN
        RAISE EXCEPTION 'of the audit trail only the oldest entries are removed';
    END IF;
    IF EXISTS (SELECT FROM old_entries WHERE at > now() - interval '1 day') THEN
        RAISE EXCEPTION 'entries of the audit trail are kept for a day at least';
    END IF;
    UPDATE audit_chain SET removed_id = newest.id, removed_hash = newest.hash, removed_until = newest.at;
    RETURN NULL;
END $$
"""
KEEP_CHAIN = """
CREATE FUNCTION keep_audit_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR pg_trigger_depth() < 2 THEN
        RAISE EXCEPTION 'the chain of the audit trail is changed with its entries only';
    END IF;
    RETURN NULL;
END $$
"""
AUDIT_TRIGGERS = (
    "CREATE TRIGGER link_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION link_audit()",
    "CREATE TRIGGER keep_audit BEFORE UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit()",
    "CREATE TRIGGER forget_audit AFTER DELETE ON audit REFERENCING OLD TABLE AS old_entries "
    "FOR EACH STATEMENT EXECUTE FUNCTION forget_audit()",
    "CREATE TRIGGER keep_audit_chain AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON audit_chain "
    "FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_chain()",
)

# what was written before is chained as it is
CHAIN_OLD_ENTRIES = """
DO $$
DECLARE
    entry audit;
    previous text := '';
BEGIN
    FOR entry IN SELECT * FROM audit ORDER BY id LOOP
        previous := encode(sha256(convert_to(previous || jsonb_build_array(
            entry.id, to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
            entry.grid_user, entry.how, entry.endpoint, entry.asked
        )::text, 'UTF8')), 'hex');
        UPDATE audit SET hash = previous WHERE id = entry.id;
    END LOOP;
    INSERT INTO audit_chain (one, last_id, last_hash)
        VALUES (true, coalesce((SELECT max(id) FROM audit), 0), previous);
END $$
"""
FUNCTIONS = ("link_audit", "keep_audit", "forget_audit", "keep_audit_chain")


def upgrade() -> None:
    op.create_table(
        "audit_chain",
        sa.Column("one", sa.Boolean(), nullable=False),
        sa.Column("last_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("removed_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("removed_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("removed_until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("one", name=op.f("ck_audit_chain_one_row")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_audit_chain")),
    )
    op.add_column("audit", sa.Column("hash", sa.Text(), nullable=True))
    op.execute(CHAIN_OLD_ENTRIES)
    op.alter_column("audit", "hash", nullable=False)
    for statement in (LINK_ENTRY, KEEP_ENTRIES, FORGET_ENTRIES, KEEP_CHAIN, *AUDIT_TRIGGERS):
        op.execute(statement)


def downgrade() -> None:
    for name in ("link_audit", "keep_audit", "forget_audit"):
        op.execute(f"DROP TRIGGER {name} ON audit")
    op.drop_column("audit", "hash")
    op.drop_table("audit_chain")
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION {name}()")
