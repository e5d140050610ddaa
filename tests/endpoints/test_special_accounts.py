"""An operator maps users to accounts, and is not root, the grid or a gateway account by it."""

import os
import pwd
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints.cluster_declarations import map_account
from cigri.errors import Forbidden
from cigri.flow.views.clusters import list_mappings
from cigri.identity.callers import SUPERUSER, Caller
from cigri.settings.sections import PortalSettings, Settings
from tests.factories import a_cluster

OLGA = Caller("olga", is_operator=True)
GRID, ALIAS = "cigri-account", "another-name-of-it"
UIDS = {"root": 0, "toor": 0, "daemon": 1, GRID: 4242, ALIAS: 4242, "olga": 2001, "asmith": 2002, "backup-user": 999}


@pytest.fixture
def conn(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A host with these accounts, on which the grid is GRID; two clusters, one with a gateway account."""

    def getpwnam(name: str) -> pwd.struct_passwd:
        return pwd.struct_passwd((name, "x", UIDS[name], UIDS[name], "", "/", "/bin/sh"))

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    monkeypatch.setattr(os, "geteuid", lambda: UIDS[GRID])
    with database.begin() as conn:
        a_cluster(conn)
        a_cluster(conn, "far", driver="slurm", transport="ssh", ssh={"host": "front", "account": "cgw"})
        yield conn


def run_as(conn: Connection, caller: Caller, account: str, min_uid: int = 1000) -> dict[str, str]:
    """The accounts of users on the first cluster, once this was asked."""
    settings = Settings(portal=PortalSettings(min_mapped_uid=min_uid))
    map_account.function(conn, caller, settings, cluster="dahu", user="mallory", account=account)
    return {mapping.grid_user: mapping.local_user for mapping in list_mappings(conn, "dahu")}


@pytest.mark.parametrize(
    ("account", "why"),
    [
        ("root", "the superuser"),
        ("toor", "a system account"),
        ("daemon", "a system account"),
        ("backup-user", "below portal.min_mapped_uid, 1000"),
        (GRID, "the grid's own account"),
        (ALIAS, "the grid's own account"),
        ("cgw", "a gateway account"),
    ],
)
def test_only_root_lends_what_is_more_than_a_persons_account(conn: Connection, account: str, why: str) -> None:
    with pytest.raises(Forbidden, match=why):
        run_as(conn, OLGA, account)
    assert not list_mappings(conn, "dahu")
    assert run_as(conn, Caller(SUPERUSER), account) == {"mallory": account}


@pytest.mark.parametrize("account", ["asmith", "olga", "known-over-there-only"])
def test_an_operator_maps_to_the_accounts_of_people(conn: Connection, account: str) -> None:
    assert run_as(conn, OLGA, account) == {"mallory": account}


def test_the_owner_of_a_grid_lends_their_own_account(conn: Connection) -> None:
    assert run_as(conn, Caller(GRID, is_operator=True), GRID) == {"mallory": GRID}


def test_a_site_says_where_the_accounts_of_people_begin(conn: Connection) -> None:
    assert run_as(conn, OLGA, "backup-user", 500) == {"mallory": "backup-user"}
    with pytest.raises(Forbidden, match="2002"):
        run_as(conn, Caller("another", is_operator=True), "olga", 2002)


def test_a_mapping_is_taken_back_by_any_operator(conn: Connection) -> None:
    run_as(conn, Caller(SUPERUSER), "root")
    map_account.function(conn, OLGA, Settings(), cluster="dahu", user="mallory", account="")
    assert not list_mappings(conn, "dahu")
