"""Two at once: a user changes a campaign while a module gives it work, or ends it."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Select, select, text

from cigri.database import Database
from cigri.flow import campaigns
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.clusters import put_cluster
from cigri.flow.offers import NewOffer, put_offers, take_offers
from cigri.flow.prologues_and_epilogues import put_epilogues, put_prologues
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign, put_tasks
from cigri.flow.views.invariants import examine
from cigri.states import CampaignState, CampaignType
from cigri.tables.campaigns import Campaign
from tests.callers import ALICE


def a_campaign(database: Database, tasks: int) -> int:
    settings = {"exec_file": "true", "walltime": 60}
    part = NewCampaignCluster(settings, 1, None, has_prologue=True, has_epilogue=True)
    with database.begin() as conn:
        put_cluster(conn, "here", {"driver": "local", "options": {"spool": "/x"}, "poll_interval": 1.0})
        return put_campaign(
            conn, NewCampaign("c", "alice", CampaignType.DEFAULT, "", "", {}, {"here": part}), ["1"] * tasks
        )


def cancel(conn: Connection, campaign: int) -> None:
    assert cancel_campaign(conn, campaign, ALICE)


def add(conn: Connection, campaign: int) -> None:
    assert put_tasks(conn, campaign, ALICE, ["2"]) == 1


@pytest.mark.parametrize("give", [put_prologues, put_epilogues])
def test_a_campaign_that_is_being_cancelled_gets_no_step(database: Database, give: Callable[[Connection], int]) -> None:
    campaign = a_campaign(database, 1 if give is put_prologues else 0)
    with database.begin() as user, database.begin() as module:
        cancel(user, campaign)
        assert give(module) == 0
    with database.begin() as conn:
        assert give(conn) == 0
        assert conn.scalar(text("SELECT count(*) FROM jobs")) == 0


def test_a_campaign_that_is_being_cancelled_keeps_its_offer_unused(database: Database) -> None:
    campaign = a_campaign(database, 1)
    with database.begin() as conn:
        put_offers(conn, [NewOffer(campaign, 1, 1, 1, 0)])
    with database.begin() as user, database.begin() as module:
        cancel(user, campaign)
        assert take_offers(module) == []


def test_a_campaign_to_which_tasks_are_being_added_is_not_ended(database: Database) -> None:
    campaign = a_campaign(database, 0)
    with database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET prologue = 'none', epilogue = 'none'"))
    with database.begin() as user, database.begin() as module:
        add(user, campaign)
        assert close_campaigns(module) == 0
    with database.begin() as conn:
        assert close_campaigns(conn) == 0
        assert examine(conn) == []


def test_a_campaign_that_got_a_task_between_the_look_and_the_lock_is_not_ended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is locked was seen in the instant before, and its row is the same after tasks were added."""
    campaign = a_campaign(database, 0)
    with database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET prologue = 'none', epilogue = 'none'"))
    hold = campaigns.keep_in_treatment

    def hold_late(conn: Connection, wanted: Select[int]) -> list[int]:
        seen = list(conn.scalars(wanted))
        assert seen == [campaign]
        with database.begin() as user:
            add(user, campaign)
        return hold(conn, select(Campaign.c.id).where(Campaign.c.id.in_(seen)))

    monkeypatch.setattr(campaigns, "keep_in_treatment", hold_late)
    with database.begin() as module:
        assert close_campaigns(module) == 0
    with database.begin() as conn:
        assert conn.scalar(select(Campaign.c.state)) is CampaignState.IN_TREATMENT
        assert examine(conn) == []


def test_an_idle_campaign_is_ended(database: Database) -> None:
    a_campaign(database, 0)
    with database.begin() as conn:
        assert put_epilogues(conn) == 0  # nothing ran
        assert close_campaigns(conn) == 1
