"""Triggers that keep the audit trail append-only; the hash of an entry covers it and the hash before."""

from sqlalchemy import Connection, MetaData

FIRST_LINK = "INSERT INTO audit_chain (one) VALUES (true)"
# Numbers are given here, under the lock on the chain's row: a sequence gives them in another order than hashes come.
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


def create_audit_chain(_target: MetaData, conn: Connection, **_: object) -> None:
    """What SQLAlchemy calls after it has created the tables."""
    for statement in (FIRST_LINK, LINK_ENTRY, KEEP_ENTRIES, FORGET_ENTRIES, KEEP_CHAIN, *AUDIT_TRIGGERS):
        conn.exec_driver_sql(statement)
