"""What an operator says about who goes first reaches the offers."""

import json
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.endpoints.policy import LARGEST_PRIORITY
from cigri.flow.offers import take_offers
from cigri.flow.pending_reasons import list_cuts
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.states import PendingReasonCode
from modules import metascheduler
from modules.metascheduler.site_policy import PolicyFailed
from tests.factories import NOON, a_campaign, a_cluster, set_time, submitted_jobs
from tests.operator.conftest import Cigri

pytestmark = pytest.mark.noon


def offered(database: Database, **policy: object) -> list[tuple[int, int, int]]:
    """(campaign, cluster, jobs), the first in rank first."""
    settings = Settings.model_validate({"policy": policy})
    with closing(TransportGateway()) as gateway:
        metascheduler.run_once(PassContext(database, settings, gateway))
    with database.begin() as conn:
        return [(offer.campaign_id, offer.cluster_id, offer.jobs) for offer in take_offers(conn)]


def test_affinities_are_declared_listed_obeyed_and_removed(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=4, keep_waiting=0)
        a_campaign(conn, 9, user="alice")
        a_campaign(conn, 9, user="bob")
    assert "has an affinity with dahu" in cigri("affinity", "add", "bob", "dahu").out
    assert "already had" in cigri("affinity", "add", "bob", "dahu").out
    assert json.loads(cigri("affinity", "list", "--json").out) == [{"user": "bob", "cluster": "dahu"}]
    assert offered(database, order="affinity") == [(2, 1, 4)]
    assert offered(database, order="fifo") == [(1, 1, 4)]
    assert cigri("affinity", "remove", "bob", "dahu").status == 0
    assert offered(database, order="affinity") == [(1, 1, 4)]


def test_targets_are_declared_listed_obeyed_and_removed(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=8, keep_waiting=0)
        a_campaign(conn, 9, user="alice")
        a_campaign(conn, 9, user="bob")
    assert sorted(offered(database, order="fairshare")) == [(1, 1, 4), (2, 1, 4)]
    assert "has the target 3" in cigri("target", "set", "user", "bob", "3").out
    assert json.loads(cigri("target", "list", "--json").out) == [{"kind": "user", "name": "bob", "share": 3.0}]
    assert sorted(offered(database, order="fairshare")) == [(1, 1, 2), (2, 1, 6)]
    assert cigri("target", "remove", "user", "bob").status == 0
    assert "has no target" in cigri("target", "remove", "user", "bob").err
    assert cigri("target", "set", "user", "bob", "0").status == 2
    assert cigri("target", "set", "user", "bob").status == 2
    assert cigri("target", "set", "group", "bob", "1").status == 2


def test_who_has_waited_too_long_gets_a_handful_first(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=8, keep_waiting=0)
        a_campaign(conn, 9)
        set_time(conn, NOON - timedelta(seconds=100))
        a_campaign(conn, 9)
    assert offered(database) == [(1, 1, 8)]
    assert offered(database, patience=60, handful=3) == [(2, 1, 3), (1, 1, 5)]


def test_a_new_campaign_soon_has_its_first_jobs(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=8, keep_waiting=0)
        a_campaign(conn, 9, user="alice")
        a_campaign(conn, 9, user="bob")
        a_campaign(conn, 9, user="bob")
    assert offered(database) == [(1, 1, 8)]
    assert offered(database, first_jobs=3) == [(1, 1, 5), (2, 1, 3)]
    with database.begin() as conn:
        submitted_jobs(conn, 2, 1, 3)
    assert offered(database, first_jobs=3) == [(1, 1, 5)], "three of bob's wait already"


def test_limits_and_quotas_are_declared_listed_obeyed_and_removed(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=8, keep_waiting=0)
        a_campaign(conn, 9, user="alice")
        a_campaign(conn, 9, user="bob")
    assert "may have 3 cores on dahu" in cigri("quota", "set", "user", "alice", "3", "--cluster", "dahu").out
    (quota,) = json.loads(cigri("quota", "list", "--json").out)
    assert quota == {
        **{"rule": "*,*,all,alice", "cluster": "dahu", "cores": 3, "used_cores": 0, "jobs": None, "used_jobs": 0},
        **{"core_hours": None, "used_core_hours": None, "days": None},
    }
    assert offered(database) == [(1, 1, 3), (2, 1, 5)]
    with database.begin() as conn:
        assert [cut[1:5] for cut in list_cuts(conn, 1)] == [(PendingReasonCode.QUOTA_CORES, "*,*,all,alice", 3, 3)]
    assert cigri("quota", "remove", "user", "alice").status == 1
    assert cigri("quota", "remove", "user", "alice", "--cluster", "dahu").status == 0
    assert offered(database) == [(1, 1, 8)]
    assert "may use 4 of matlab" in cigri("limit", "set", "matlab", "4").out
    assert json.loads(cigri("limit", "list", "--json").out) == [{"name": "matlab", "capacity": 4, "used": 0}]
    with database.begin() as conn:
        conn.execute(text("INSERT INTO campaign_limits VALUES (1, 1, 'matlab', 2)"))
    assert offered(database) == [(1, 1, 2), (2, 1, 6)]
    assert cigri("limit", "remove", "matlab").status == 1
    for wrong in (["limit", "set", "mat lab", "4"], ["limit", "set", "a", "-1"], ["quota", "set", "user", "a", "-1"]):
        assert cigri(*wrong).status == 2, wrong


def test_what_is_not_there_cannot_be_declared_or_removed(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    assert "no cluster duha" in cigri("affinity", "add", "bob", "duha").err
    assert "no affinity with dahu" in cigri("affinity", "remove", "bob", "dahu").err
    assert "takes USER and CLUSTER" in cigri("affinity", "add", "bob").err
    assert cigri("affinity", "list", "bob").status == 2
    assert "no open campaign 7" in cigri("campaign", "priority", "7", "1").err


def test_a_priority_goes_before_the_order_of_submission(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", free=4, keep_waiting=0)
        a_campaign(conn, 3)
        a_campaign(conn, 3)
    assert "has priority 2" in cigri("campaign", "priority", "2", "2").out
    assert offered(database) == [(2, 1, 3), (1, 1, 1)]
    assert cigri("campaign", "priority", "2", "-2").status == 0
    assert offered(database) == [(1, 1, 3), (2, 1, 1)]
    assert "between" in cigri("campaign", "priority", "2", str(LARGEST_PRIORITY + 1)).err
    assert "numbers go from" in cigri("campaign", "priority", "2", "9" * 20).err


def test_an_unknown_policy_is_an_error_and_everybody_is_served_first_come_first_served(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=4, keep_waiting=0)
        for _ in range(2):
            a_campaign(conn, 3)
    with pytest.raises(PolicyFailed, match=r"policy\.order: there is no policy 'fofi'; there are: affinity"):
        offered(database, order="fofi")
    with database.begin() as conn:
        assert [(offer.campaign_id, offer.jobs) for offer in take_offers(conn)] == [(1, 3), (2, 1)]
