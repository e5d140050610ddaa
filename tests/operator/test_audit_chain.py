"""The audit trail is only added to: the database refuses the rest, and whoever gets round it is found."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from cigri.database import Database
from cigri.errors import UsageError
from cigri.flow.audit import forget_audit, list_audit, put_audit
from cigri.identity.callers import Caller
from modules.operator.audit_chain import AuditHead, parse_head, verify
from tests.callers import ALICE
from tests.factories import NOON, set_time
from tests.operator.conftest import Cigri

WITHOUT_TRIGGERS = "SET LOCAL session_replication_role = replica"
"""For the owner of a server: what the grid's own role could do by dropping triggers."""


def trail(database: Database, entries: int) -> None:
    for number in range(entries):
        with database.begin() as conn:
            put_audit(conn, ALICE, "kill_job", {"job_id": number, "odd": "\u00e9\"'\\ \n{}[]"})


def look(database: Database, since: AuditHead | None = None) -> list[str]:
    with database.snapshot() as conn:
        return verify(conn, since).wrong


def head(database: Database) -> AuditHead:
    with database.snapshot() as conn:
        return verify(conn, None).head


def test_what_was_written_is_whole(database: Database) -> None:
    assert (head(database), look(database)) == (AuditHead(0, ""), [])
    trail(database, 3)
    first = head(database)
    trail(database, 2)
    assert first.id == 3
    assert look(database) == look(database, first) == look(database, head(database)) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit SET grid_user = 'bob' WHERE id = 2",
        "UPDATE audit SET grid_user = grid_user",
        "DELETE FROM audit WHERE id = 2",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "UPDATE audit_chain SET last_hash = ''",
        "DELETE FROM audit_chain",
        "TRUNCATE audit_chain",
        "INSERT INTO audit_chain (one) VALUES (false)",
    ],
)
def test_the_database_lets_nobody_change_it(change: str, database: Database) -> None:
    trail(database, 3)
    with pytest.raises(SQLAlchemyError, match="audit"), database.begin() as conn:
        conn.execute(text(change))
    assert look(database) == []
    assert head(database).id == 3


@pytest.mark.noon
def test_a_day_later_the_oldest_alone_may_go(database: Database) -> None:
    trail(database, 2)
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(days=2))
        put_audit(conn, ALICE, "kill_job", {})
        with pytest.raises(ProgrammingError, match="only the oldest"), conn.begin_nested():
            conn.execute(text("DELETE FROM audit WHERE id = 2"))
        conn.execute(text("DELETE FROM audit WHERE id = 1"))
    assert look(database) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE audit SET grid_user = 'bob' WHERE id = 2", "entry 2 or one before it was changed"),
        ("UPDATE audit SET at = at + interval '1 microsecond' WHERE id = 3", "entry 3 or one before"),
        ("UPDATE audit SET asked = '{}' WHERE id = 1", "entry 1 or one before it was changed"),
        ("DELETE FROM audit WHERE id = 2", "entry 3 or one before it was changed or removed"),
        ("DELETE FROM audit WHERE id = 3", "ends with entry 2, and the last one that was written is 3"),
        ("DELETE FROM audit", "ends with entry 0, and the last one that was written is 3"),
    ],
)
def test_who_gets_round_the_triggers_is_found(change: str, said: str, database: Database) -> None:
    trail(database, 3)
    with database.begin() as conn:
        conn.execute(text(WITHOUT_TRIGGERS))
        conn.execute(text(change))
    (wrong,) = look(database)
    assert said in wrong


def test_a_trail_that_is_written_anew_is_found_by_a_head_kept_elsewhere(database: Database) -> None:
    trail(database, 3)
    kept = head(database)
    with database.begin() as conn:
        conn.execute(text(WITHOUT_TRIGGERS))
        conn.execute(text("DELETE FROM audit"))
        conn.execute(text("UPDATE audit_chain SET last_id = 0, last_hash = ''"))
    with database.begin() as conn:
        for _ in range(4):
            put_audit(conn, Caller("bob"), "kill_job", {})
    assert look(database) == []
    (wrong,) = look(database, kept)
    assert "written anew" in wrong


@pytest.mark.noon
def test_the_janitor_removes_the_oldest_and_the_chain_goes_on(database: Database) -> None:
    trail(database, 2)
    old, until = AuditHead(1, first_hash(database)), head(database)
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(days=100))
        put_audit(conn, ALICE, "kill_job", {})
        assert forget_audit(conn, 90) == 2
        assert len(list_audit(conn)) == 1
    assert look(database) == look(database, until) == []
    (wrong,) = look(database, old)
    assert "entry 1 was removed, as all until" in wrong


def first_hash(database: Database) -> str:
    with database.begin() as conn:
        return str(conn.scalar(text("SELECT hash FROM audit WHERE id = 1")))


@pytest.mark.noon
def test_an_entry_of_a_long_transaction_keeps_those_behind_it(database: Database) -> None:
    """Its time is that of the transaction's beginning, and its number that of its end."""
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(days=5))
        put_audit(conn, ALICE, "kill_job", {})
        set_time(conn, NOON)
        put_audit(conn, ALICE, "submit_campaign", {})
        set_time(conn, NOON + timedelta(days=92))
        assert forget_audit(conn, 90) == 0
        set_time(conn, NOON + timedelta(days=96))
        assert forget_audit(conn, 90) == 2


def test_many_at_once_are_one_chain(database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: trail(database, 5), range(8)))
    assert (head(database).id, look(database)) == (40, [])


def test_what_is_rolled_back_leaves_no_gap(database: Database) -> None:
    def fail(conn: Connection) -> None:
        put_audit(conn, ALICE, "kill_job", {})
        raise UsageError("no")

    with pytest.raises(UsageError), database.begin() as conn:
        fail(conn)
    trail(database, 1)
    assert (head(database).id, look(database)) == (1, [])


@pytest.mark.parametrize("text", ["", "3", "3:", "x:" + "a" * 64, "3:" + "A" * 64, "-1:" + "a" * 64])
def test_a_head_that_nobody_has_written_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="NUMBER:HASH"):
        parse_head(text)


def test_the_doctor_tells_up_to_where_it_is_whole(cigri: Cigri, database: Database) -> None:
    trail(database, 2)
    kept = str(head(database))
    trail(database, 1)
    said = cigri("doctor", "--audit", "--since", kept)
    assert said.status == 0
    assert f"the audit trail is as it was written, up to {head(database)}\n" in said.out
    with database.begin() as conn:
        conn.execute(text(WITHOUT_TRIGGERS))
        conn.execute(text("UPDATE audit SET grid_user = 'bob' WHERE id = 1"))
    said = cigri("doctor", "--audit")
    assert said.status == 1
    assert "✗ the audit trail was changed\n  entry 1 or one before it was changed" in said.out
    assert "audit" not in cigri("doctor").out


def test_a_head_goes_with_the_trail(cigri: Cigri) -> None:
    assert "--since goes with --audit" in cigri("doctor", "--since", "3:" + "a" * 64).err
    assert cigri("doctor", "--audit", "--since", "yesterday").status == 2
