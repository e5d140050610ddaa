"""The migration that brings submit pools: campaigns of before have none, and go wherever they went."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.views.job_destinations import JobDestination, find_destination, list_without_queue
from tests.pools.made import match, pools_of, submit, two_clusters


def test_campaigns_of_before_go_wherever_they_went(database: Database) -> None:
    with database.begin() as conn:
        _, thin = two_clusters(conn)
        old = submit(conn, {"memory": "100 GB"}, tasks=2, anywhere=True)
    schema.downgrade(database, "0020")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'waiting'")) == 2
        assert conn.scalar(text("SELECT to_regclass('submit_pools')")) is None
    schema.upgrade(database)
    match(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert pools_of(conn, old) == []
        assert list_without_queue(conn) == set()
        assert find_destination(conn, old, 1, thin) == JobDestination("", {})
        new = submit(conn, {"memory": "100 GB"})
        assert len(pools_of(conn, new)) == 1
        assert list_without_queue(conn) == {(new, thin)}


def test_pools_of_before_learn_which_clusters_are_closed(database: Database) -> None:
    with database.begin() as conn:
        _, thin = two_clusters(conn)
        campaign = submit(conn, {"memory": "100 GB"}, anywhere=True)
    schema.downgrade(database, "0024")
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT closed FROM submit_pools")).scalars().all() == [[]]
    match(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT closed FROM submit_pools")).scalars().all() == [[thin]]
        assert len(pools_of(conn, campaign)) == 1


def test_campaigns_of_before_have_no_priority_of_their_users(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "100 GB"})
        conn.execute(text("UPDATE campaigns SET own_priority = 5"))
    schema.downgrade(database, "0023")
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT own_priority FROM campaigns")).scalars().all() == [0]
