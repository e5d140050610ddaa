"""The migrations of what policies go by, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.affinities_and_targets import Principal, put_affinity, put_target
from cigri.flow.campaigns import set_priority
from cigri.flow.ceilings import put_limit
from cigri.flow.offers import NewOffer, put_offers, take_offers
from cigri.flow.pending_reasons import NewPendingReason, list_cuts, put_cuts
from cigri.flow.quotas import list_quotas
from cigri.states import PendingReasonCode, PrincipalKind
from tests.factories import a_campaign, a_cluster, a_quota, submitted_jobs


def test_campaigns_of_before_have_no_priority_and_users_no_affinity(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        set_priority(conn, a_campaign(conn, 1), 3)
        put_affinity(conn, "alice", "dahu")
    schema.downgrade(database, "0005")
    schema.upgrade(database, "0006")
    with database.begin() as conn:
        assert conn.scalars(text("SELECT priority FROM campaigns")).all() == [0]
        assert conn.scalars(text("SELECT count(*) FROM affinities")).all() == [0]


def test_nobody_has_used_anything_or_been_served_before(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 1), 1, 1)
        put_target(conn, Principal(PrincipalKind.USER, "alice"), 2.0)
        conn.execute(text("INSERT INTO usages (grid_user, used, asked, at) VALUES ('alice', 1, 2, now())"))
    schema.downgrade(database, "0006")
    schema.upgrade(database, "0007")
    with database.begin() as conn:
        assert conn.scalars(text("SELECT served_at FROM campaigns")).all() == [None]
        assert conn.scalar(text("SELECT (SELECT count(*) FROM usages) + (SELECT count(*) FROM targets)")) == 0


def test_limits_and_quotas_are_new(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 3)
        a_quota(conn, "*,*,all,alice", 2, cluster="dahu")
        campaign = a_campaign(conn, 1)
        conn.execute(text("INSERT INTO campaign_limits VALUES (1, 1, 'matlab', 2)"))
    schema.downgrade(database, "0007")
    schema.upgrade(database)
    with database.begin() as conn:
        assert len(submitted_jobs(conn, campaign, 1, 1)) == 1
        assert conn.scalar(text("SELECT (SELECT count(*) FROM limits) + (SELECT count(*) FROM quotas)")) == 0


def test_nothing_is_told_of_campaigns_of_before(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.FULL, "", 1, 1)])
    schema.downgrade(database, "0008")
    schema.upgrade(database, "0009")
    with database.begin() as conn:
        assert list_cuts(conn, 1) == []


def test_nobody_was_held_back_by_what_waits_of_a_bucket_before(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.MAX_QUEUED, "", 10, 10)])
    schema.downgrade(database, "0017")
    with database.begin() as conn:
        assert list_cuts(conn, campaign) == []
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.STRESS, "it is slow", 1, 1)])
    schema.upgrade(database, "0018")
    with database.begin() as conn:
        assert [cut.reason for cut in list_cuts(conn, campaign)] == [PendingReasonCode.STRESS]
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.MAX_QUEUED, "", 10, 10)])


def test_offers_of_before_are_made_anew(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
        put_offers(conn, [NewOffer(1, 1, 1, 1, 0)])
    schema.downgrade(database, "0025")
    schema.upgrade(database)
    with database.begin() as conn:
        assert take_offers(conn) == []
        put_offers(conn, [NewOffer(1, 1, 1, 1, 0, 1, 10)])


def test_quotas_of_users_and_projects_are_rules_and_are_so_no_longer(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
        a_quota(conn, "*,*,all,alice", 2, cluster="dahu")
        a_quota(conn, "*,/,all,*", 7)
        a_quota(conn, "*,astro,all,/", 3)
        a_quota(conn, "*,*,normal,bob", 3)
        a_quota(conn, "*,*,all,bob", jobs=3)
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.QUOTA_CORES, "*,*,all,alice", 2, 2)])
    schema.downgrade(database, "0046")
    rows = text("SELECT kind::text, name, cluster_id, cores FROM quotas ORDER BY id")
    with database.begin() as conn:
        assert conn.execute(rows).all() == [("user", "alice", 1, 2), ("project", "*", None, 7)]
        assert conn.scalar(text("SELECT count(*) FROM cuts")) == 0
    schema.upgrade(database)
    with database.begin() as conn:
        quotas = [(quota.rule, quota.cluster, quota.cores, quota.jobs, quota.days) for quota in list_quotas(conn)]
        assert quotas == [("*,*,all,alice", "dahu", 2, None, None), ("*,/,all,*", None, 7, None, None)]
        put_cuts(conn, [NewPendingReason(1, 1, PendingReasonCode.QUOTA_CORE_HOURS, "*,*,all,alice", 2, 2)])
