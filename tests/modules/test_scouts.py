"""A new campaign on the real local cluster: few jobs first, then many."""

import pytest

from tests.grid import Grid


@pytest.mark.parametrize("command", ["", "exit 1"])
def test_a_new_campaign_opens_up_as_its_scouts_succeed(local: Grid, command: str) -> None:
    local.tune("policy", scouts=3, stake=0)
    local.tune("budget", errors=4)
    local.tune("grouping", target=0.0)
    local.submit([str(number) for number in range(30)], command=command)
    live = "SELECT count(*) FROM jobs WHERE state <> 'ended'"
    most, ended = 0, "SELECT count(*) FROM jobs WHERE state = 'ended'"
    while not most:
        local.cycle()
        most = local.one(live) + local.one(ended)
    assert most == 3
    if not command:
        local.run_to_end()
        local.assert_each_ran_once(30)
    else:
        local.run_until(lambda: local.one("SELECT count(*) FROM campaign_clusters WHERE blocked_until IS NOT NULL"))
        assert sum(local.executions().values()) <= 6
