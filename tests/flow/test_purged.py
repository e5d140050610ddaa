"""A user asks for the files of an ended campaign to be removed."""

import pytest
from sqlalchemy import select

from cigri.database import Database
from cigri.errors import NotFound
from cigri.flow.archive import list_leftovers, purge_campaign, put_purged
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.tables.grid import Event
from tests.callers import ALICE, BOB
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


def test_an_ended_campaign_is_purged_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        close_campaigns(conn)
        assert list_leftovers(conn, 30) == []
        assert purge_campaign(conn, campaign, ALICE)
        assert purge_campaign(conn, campaign, ALICE)
        assert [left.campaign_id for left in list_leftovers(conn, 30)] == [campaign]
        put_purged(conn, [campaign])
        assert not purge_campaign(conn, campaign, ALICE)
        assert conn.scalars(select(Event.c.id).where(Event.c.closed_at.is_(None))).all() == []


def test_a_campaign_that_never_ran_leaves_no_wish_behind(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        cancel_campaign(conn, campaign, ALICE)
        assert not purge_campaign(conn, campaign, ALICE)
        assert conn.scalars(select(Event.c.id).where(Event.c.closed_at.is_(None))).all() == []


def test_only_what_has_ended_and_is_ones_own_is_purged(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        with pytest.raises(NotFound, match="is in treatment: only a campaign that has ended"):
            purge_campaign(conn, campaign, ALICE)
        cancel_campaign(conn, campaign, ALICE)
        with pytest.raises(NotFound, match="you have no campaign"):
            purge_campaign(conn, campaign, BOB)
