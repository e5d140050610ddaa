"""What an operator says about who goes first reaches the offers."""

import json

import pytest

from cigri.database import Database
from cigri.errors import ConfigError
from cigri.flow.metascheduler_to_campaign_schedulers import take_offers
from cigri.gateway import Gateway
from cigri.program import Tools
from cigri.settings import Settings
from modules import metascheduler
from tests.factories import NOON, a_campaign, a_cluster
from tests.operator.conftest import Cigri


def offered(database: Database, **policy: object) -> list[tuple[int, int, int]]:
    """(campaign, cluster, jobs), the first in rank first."""
    settings = Settings.model_validate({"policy": policy})
    gateway = Gateway()
    metascheduler.run_once(Tools(database, settings, gateway), NOON)
    gateway.close()
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
    assert "between" in cigri("campaign", "priority", "2", "9" * 20).err


def test_an_unknown_policy_is_an_error(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
    with pytest.raises(ConfigError, match="there is no policy 'fofi'"):
        offered(database, order="fofi")
