"""The migration by which a pause became a hold (0071), and the way back."""

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.events import NewEvent, put_events
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.flow.views.campaigns import list_campaigns
from cigri.states import EventLevel
from tests.callers import ALICE, ROOT
from tests.factories import a_campaign, a_cluster

pytestmark = pytest.mark.noon

STATES = text("SELECT id, state::text FROM campaigns ORDER BY id")
WISHES = text("SELECT campaign_id, waiting_only, asked_by FROM holds WHERE cluster_id IS NULL ORDER BY campaign_id")
CODES = text("SELECT code FROM events ORDER BY id")


def test_paused_campaigns_are_held_by_whoever_paused_them(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        running, paused, untold, both, over, gone = (a_campaign(conn, 0 if n == 4 else 1) for n in range(6))
        hold_campaign(conn, both, ROOT)
        hold_campaign(conn, paused, ALICE, cluster="dahu")
        cancel_campaign(conn, gone, ALICE)
        hold_campaign(conn, over, ALICE)
        close_campaigns(conn)
    schema.downgrade(database, "0068")
    with database.begin() as conn:
        conn.execute(text("DELETE FROM events"))
        conn.execute(text(f"UPDATE campaigns SET state = 'paused' WHERE id IN ({paused}, {untold}, {both})"))
        for code, who in (("PAUSED", "mallory"), ("RESUMED", "alice"), ("PAUSED", "root")):
            told = NewEvent(code, EventLevel.INFO, f"campaign {paused}", f"{code.lower()} by {who}", paused)
            put_events(conn, [told])
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert [row.state for row in conn.execute(STATES)] == [*["in_treatment"] * 4, "terminated", "cancelled"]
        held = [(paused, True, "root"), (untold, True, "alice"), (both, False, "root"), (over, False, "alice")]
        assert [tuple(row) for row in conn.execute(WISHES)] == held
        assert list(conn.scalars(CODES)) == ["HELD", "RELEASED", "HELD"]
        shown = {one.id: one.held_by for one in list_campaigns(conn, None, user="alice")}
        assert shown == {running: None, paused: "root", untold: "alice", both: "root"}
        for campaign in (paused, untold, both):
            resume_campaign(conn, campaign, ALICE)
    schema.downgrade(database, "0068")
    with database.begin() as conn:
        assert {row.state for row in conn.execute(STATES)} == {"in_treatment", "terminated", "cancelled"}
    schema.upgrade(database)


def test_what_is_held_stays_so_on_the_way_back(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        hold_campaign(conn, campaign, ALICE)
    schema.downgrade(database, "0068")
    with database.begin() as conn:
        assert [tuple(row) for row in conn.execute(STATES)] == [(campaign, "in_treatment")]
        assert [tuple(row) for row in conn.execute(WISHES)] == [(campaign, False, "alice")]
