"""The migration that limits what waits over all campaigns, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.offers import NewOffer, put_offers, take_offers
from tests.factories import a_campaign, a_cluster


def test_campaigns_of_before_ask_for_the_same_as_new_ones(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        put_offers(conn, [NewOffer(campaign, cluster, 1, 1, 0)])
    schema.downgrade(database, "0033")
    schema.upgrade(database)
    with database.begin() as conn:
        assert take_offers(conn) == []
        a_campaign(conn, 1)
        asked = conn.scalars(text("SELECT asked FROM campaign_clusters")).all()
        assert len(asked) == 2
        assert len(set(asked)) == 1
