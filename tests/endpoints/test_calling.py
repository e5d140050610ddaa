"""Several questions of one instant: what happens meanwhile is told by none of them."""

import pytest

from cigri.database import Database
from cigri.endpoints.audit import audit_trail
from cigri.endpoints.campaign_changes import cancel_campaign
from cigri.endpoints.campaigns import campaign, campaigns
from cigri.endpoints.dispatch import InProcessClient
from cigri.errors import Forbidden
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.factories import a_campaign, a_cluster


def test_answers_of_one_instant_agree(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, ["a"])
    here = InProcessClient(database, Settings, Caller("alice"))
    with here.snapshot() as grid:
        before = grid.call(campaigns)
        with database.begin() as conn:
            a_campaign(conn, ["b"])
        assert grid.call(campaigns) == before
        assert grid.call(campaign, campaign_id=before[0].id).campaign == before[0]
    assert len(here.call(campaigns)) == len(before) + 1


def test_at_once_is_asked_what_the_caller_may_and_nothing_is_changed(database: Database) -> None:
    with InProcessClient(database, Settings, Caller("alice")).snapshot() as grid:
        with pytest.raises(Forbidden):
            grid.call(audit_trail)
        with pytest.raises(AssertionError, match="cancel_campaign"):
            grid.call(cancel_campaign, campaign_id=1)
