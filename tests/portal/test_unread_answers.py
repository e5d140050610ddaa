"""Who does not read answers gets no more of them: what is kept for one is memory of all."""

from contextlib import ExitStack

import pytest
from sqlalchemy import update

from cigri.database import Database
from cigri.endpoints.campaigns import campaign
from cigri.tables.tasks import Task
from modules.portal import unread_answers
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Mint, Served, bearer
from tests.portal.raw import Line, connected
from tests.waiting import looks

LONG = "x" * 3_000_000  # more than a kernel holds for who does not read


def ask(token: str, line: Line) -> None:
    head = ("GET /api/v1/campaigns/1/tasks HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", "", "")
    line.say("\r\n".join(head).encode())


def test_who_does_not_read_gets_no_more_and_others_do(
    open_portal: Served, database: Database, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is read, or its reader has gone."""
    monkeypatch.setattr(unread_answers, "MOST_UNREAD", 2 * len(LONG))
    monkeypatch.setattr("modules.portal.connections.PeerHttpProtocol.patience", 600.0)
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user="nobody")
        conn.execute(update(Task).values(parameter=LONG))
    token = mint("nobody")

    def status() -> int:
        return open_portal.get("/api/v1/whoami", headers=bearer(token)).status

    with ExitStack() as stack:
        lines = [stack.enter_context(connected(open_portal.place)) for _ in range(2)]
        for line in lines:
            ask(token, line)
            assert line.status() == 200
        told = open_portal.get("/api/v1/whoami", headers=bearer(token))
        assert (told.status, told.body["type"]) == (503, "/problems/TooManyRequests")
        assert "not read yet: read them before you ask for more" in told.body["detail"]
        assert open_portal.call(campaign, campaign_id=1).campaign.total == 1
        lines[0].until(b'x", "state"')
        assert any(status() == 200 for _ in looks())
        ask(token, stack.enter_context(connected(open_portal.place)))
        assert any(status() == 503 for _ in looks())
    assert any(status() == 200 for _ in looks())
