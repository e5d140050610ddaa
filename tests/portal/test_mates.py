"""What members of the owner's group see of a campaign: what the site's setting says, by the groups of this host."""

from typing import Any

import pytest

from cigri.database import Database
from cigri.identity.callers import AccessScope
from cigri.settings.sections import PortalSettings, Settings
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Mint, Serve, Served, bearer

DAEMON, SYNC = 1, 4  # the second one has the group of nobody's, the first one none of it
TASKS = "/api/v1/campaigns/1/tasks"


@pytest.fixture(autouse=True)
def _campaigns(database: Database) -> None:
    """Nobody's 1, and root's 2."""
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user="nobody")
        a_campaign(conn, 1, user="root")


def parameter(portal: Served, path: str, **who: Any) -> object:
    [task] = portal.get(path, **who).body
    return task["parameter"]


def seeing(serve: Serve, group_may: Any) -> Served:
    return serve(Settings(portal=PortalSettings(group_may=group_may)))


@pytest.mark.usefixtures("nobody")
def test_unasked_they_are_anybody_else(portal: Served) -> None:
    assert parameter(portal, TASKS, uid=SYNC) is None


def test_they_see_parameters_where_the_site_lets_them(serve: Serve, nobody: int) -> None:
    portal = seeing(serve, "see")
    assert parameter(portal, TASKS, uid=nobody) is not None
    assert parameter(portal, TASKS, uid=SYNC) == parameter(portal, TASKS, uid=nobody)
    assert parameter(portal, TASKS, uid=DAEMON) is None


@pytest.mark.usefixtures("nobody")
def test_their_tokens_do_no_more_than_their_scope(serve: Serve, mint: Mint) -> None:
    portal, reading = seeing(serve, "change"), bearer(mint("sync", AccessScope.READ))
    assert parameter(portal, TASKS, headers=reading) is not None
    assert portal.request("POST", "/api/v1/campaigns/1/cancel", headers=reading).status == 403
    submitting = bearer(mint("sync", AccessScope.SUBMIT))
    assert portal.request("POST", "/api/v1/campaigns/1/cancel", headers=submitting).status == 200


@pytest.mark.usefixtures("nobody")
def test_what_is_roots_is_for_no_group(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.group_access.os.getgrouplist", lambda *_: [0, 65534])
    portal = seeing(serve, "change")
    assert parameter(portal, TASKS, uid=SYNC) is not None
    assert parameter(portal, TASKS.replace("1/tasks", "2/tasks"), uid=SYNC) is None
    assert portal.request("POST", "/api/v1/campaigns/2/cancel", uid=SYNC).status == 404
