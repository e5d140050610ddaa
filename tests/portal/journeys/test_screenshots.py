"""The grid of docs/pictures, without a browser: there is something to see."""

from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.views.campaigns import list_campaigns
from tests.portal.journeys.screenshots import work


def test_the_pictured_campaign_goes_on_and_has_failures(database: VirtualTimeDatabase) -> None:
    work(database)
    with database.begin() as conn:
        (pictured,) = list_campaigns(conn, [1])
    assert pictured.is_open
    assert pictured.failed
    assert pictured.running
    assert pictured.eta
