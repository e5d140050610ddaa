"""Pools that are changed while the daemon runs."""

import pytest

from cigri.drivers import load
from cigri.errors import UnreadableOutput
from cigri.flow.clusters import put_cluster
from cigri.localbatch import client
from cigri.localbatch.pools import default_pools
from cigri.shell.results import ShellResult
from tests.grid import Grid
from tests.localbatch.host import Host
from tests.localbatch.test_requests import NOBODY, needs_root, say_as

UNTIL_OPEN = 'until [ -e "$D/open" ]; do sleep 0.05; done'


def test_a_running_daemon_takes_other_pools_and_what_runs_stays_charged(host: Host) -> None:
    host.submit(UNTIL_OPEN, size=2)
    host.wait_for(lambda: host.states("array.1", 2) == ["running", "running"])
    assert host.say("resize", pools={"cpu": 1, "tmp": 50}) == [{"pools": default_pools() | {"cpu": 1, "tmp": 50}}]
    [capacity] = host.say("capacity", queue="", properties="")
    assert capacity["pools"]["cpu"] == {"total": 1, "free": -1}
    assert capacity["pools"]["tmp"] == {"total": 50, "free": 50}
    after = host.submit("echo $CIGRI_ARRAY_INDEX >>$D/ran", "--other=tmp=50")
    (host.directory / "open").touch()
    assert [job["state"] for job in host.end_of(after)] == ["succeeded"]


def test_by_hand_it_says_the_same(host: Host) -> None:
    assert host.ask("resize", "--pool", "cpu=3")[0]["pools"]["cpu"] == 3


@pytest.mark.parametrize(
    ("pools", "told"),
    [([], "pools must be"), ({"a b": 1}, "pools must be"), ({"cpu": 0}, "cpu must be"), ({"cpu": "2"}, "cpu must be")],
)
def test_odd_pools_change_nothing(host: Host, pools: object, told: str) -> None:
    before = host.say("probe")
    with pytest.raises(client.ClientFailed, match=told):
        host.say("resize", pools=pools)
    assert host.say("probe") == before


@needs_root
def test_nobody_else_changes_the_pools_of_a_daemon(host: Host) -> None:
    [before] = host.say("probe")
    [answer] = say_as(host, NOBODY, {"verb": "resize", "pools": {"cpu": 1000}})
    assert answer == {"error": "the pools of this daemon are for its own user to change"}
    assert host.say("probe") == [before]


def test_a_changed_cluster_hands_its_pools_to_the_daemon_that_runs(local: Grid) -> None:
    local.submit(["1"])
    local.run_to_end()
    config = local.site.config
    changed = {**config, "options": {**config["options"], "pools": {"cpu": 2, "mem": 4000, "tmp": 5000}}}
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, changed)
    local.submit(["1"], resources={"tmp": 5000})
    local.run_to_end()
    assert local.counts() == {"done": 2}
    assert local.rows("SELECT code, message FROM events WHERE level <> 'info'") == []
    assert local.one("SELECT total FROM cluster_states") == 2


def test_pools_that_the_daemon_does_not_take_are_told() -> None:
    """It belongs to somebody else, or is of an older version."""
    driver = load("local", {"spool": "/spool", "pools": {"tmp": 5000}})
    line = '{"pools":{"cpu":{"total":2,"free":2}}}\n{"end":1}\n'
    with pytest.raises(UnreadableOutput, match=r"the daemon gives tmp=0, unlike options\.pools, and keeps to that"):
        driver.parse_nodes(ShellResult(0, line, ""))
    assert "resize" in driver.nodes()
    assert "resize" not in load("local", {"spool": "/spool"}).nodes()
