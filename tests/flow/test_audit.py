"""The audit trail: written with its change or not at all, never long, and forgotten in time."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints import Access, change_endpoint
from cigri.endpoints.dispatch import run_endpoint
from cigri.errors import CigriError
from cigri.flow.audit import forget_audit, list_audit, put_audit
from cigri.formats.redaction import CUT, HIDDEN, MOST_KEPT, redact
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.callers import ALICE, BOB
from tests.factories import NOON, a_campaign, a_cluster, set_time


@change_endpoint("/campaigns", Access.EVERYBODY)
def make(conn: Connection, caller: Caller, *, name: str, fails: bool = False) -> int:
    """Put a campaign of the caller's."""
    a_cluster(conn)
    made = a_campaign(conn, 1, name=name, user=caller.user)
    if fails:
        raise CigriError("no")
    return made


@pytest.mark.noon
def test_a_change_and_its_note_are_both_there_or_neither(database: Database) -> None:
    run_endpoint(make, database, Settings, ALICE._replace(how="token 12"), {"name": "first"})
    with pytest.raises(CigriError, match="no"):
        run_endpoint(make, database, Settings, BOB, {"name": "second", "fails": True})
    with database.begin() as conn:
        (noted,) = list_audit(conn)
    assert noted[1:] == (NOON, "alice", "token 12", "make", {"name": "first"})


def test_the_latest_are_told_the_oldest_first(database: Database) -> None:
    with database.begin() as conn:
        for number in range(4):
            put_audit(conn, ALICE, "kill_job", {"job_id": number})
        assert [entry.asked for entry in list_audit(conn, 2)] == [{"job_id": 2}, {"job_id": 3}]


@pytest.mark.noon
def test_what_is_old_is_forgotten(database: Database) -> None:
    with database.begin() as conn:
        put_audit(conn, ALICE, "kill_job", {})
        set_time(conn, NOON + timedelta(days=89))
        put_audit(conn, BOB, "kill_job", {})
        assert forget_audit(conn, 90) == 0
        set_time(conn, NOON + timedelta(days=91))
        assert forget_audit(conn, 90) == 1
        assert [entry.user for entry in list_audit(conn)] == ["bob"]


@pytest.mark.parametrize(
    "asked",
    [
        {"text": "x" * 10**6},
        {"tasks": [[1, 2]] * 10**6},
        {"nested": [[[[]]]] * 10**5},
        {str(number): "" for number in range(10**5)},
        {"odd": "\0\ud800", "number": 10**400, "nan": float("nan")},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_whatever_is_asked_is_kept_in_short(asked: dict[str, object], database: Database) -> None:
    with database.begin() as conn:
        put_audit(conn, ALICE, "make", asked)
        (noted,) = list_audit(conn)
    assert len(json.dumps(noted.asked)) < 8 * MOST_KEPT


def test_what_is_cut_is_said_to_be() -> None:
    assert redact({"a": "xyz" * 10, "b": 1}, 10) == {"a": "xyzxyzxyz" + CUT, CUT: CUT}
    assert redact({"a": [1, 2, 3, 4]}, 4) == {"a": [1, 2, 3, CUT]}


def test_secrets_are_kept_by_their_names_only() -> None:
    asked = {"environment": {"API_TOKEN": "x"}, "token_id": 7, "config": [{"password": "y"}]}
    assert redact(asked) == {"environment": {"API_TOKEN": HIDDEN}, "token_id": 7, "config": [{"password": HIDDEN}]}
