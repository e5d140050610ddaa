"""A test campaign over every kind of real cluster: each is tested by a task of its own, and told of by itself."""

import pytest

from cigri.flow.clusters import enable_cluster
from cigri.flow.views.campaigns import grid_time, list_campaigns, list_parts
from cigri.flow.views.clusters import list_tried
from cigri.presentation.cluster_tests import results_of
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from tests.grid import Grid, Site, gridengine_site, oar_site, slurm_site

pytestmark = pytest.mark.cluster
OTHERS = (slurm_site("beta"), gridengine_site(), oar_site())


@pytest.fixture
def four(alpha: Grid, beta_up: None, gamma_up: None, delta_up: None) -> Grid:
    for site in OTHERS:
        site.sh(f"mkdir -p {alpha.place}")
        alpha.add(site)
    return alpha


def results(grid: Grid, campaign_id: int) -> dict[str, tuple[str, str]]:
    with grid.database.snapshot() as conn:
        (campaign,) = list_campaigns(conn, [campaign_id])
        parts, tried = list_parts(conn, [campaign_id]), list_tried(conn, campaign_id)
        found = results_of(campaign, parts, tried, grid_time(conn), Settings())
        assert (
            all(run_status(campaign, part, grid_time(conn), Settings()).state != "ended" for part in parts)
            is campaign.is_open
        )
    return {test.tried.cluster: (test.result, test.why) for test in found}


def ran(site: Site, place: str) -> list[str]:
    return site.sh(f"cat {place}/ran 2>/dev/null; true").split()


def test_each_cluster_of_a_test_is_tested_by_itself(four: Grid) -> None:
    names = ["alpha", *(site.name for site in OTHERS)]
    with four.database.begin() as conn:
        enable_cluster(conn, "beta", enabled=False)
    fails = "[ $CIGRI_CLUSTER != delta ] || exec sh -c 'echo no licence on delta >&2; exit 5'"
    test = four.submit(["a"], command=fails, clusters={name: {} for name in names}, campaign_type="test")
    four.run_until(lambda: four.counts() == {"done": 2, "failed": 1, "waiting": 1}, 180)
    told = results(four, test)
    assert {name: word for name, (word, _) in told.items()} == {
        "alpha": "passed",
        "beta": "cannot",
        "gamma": "passed",
        "delta": "failed",
    }
    assert told["beta"][1] == "disabled: the operator gives this cluster no new jobs"
    assert told["delta"][1].endswith("exit code 5; stderr ends: no licence on delta")
    with four.database.begin() as conn:
        enable_cluster(conn, "beta", enabled=True)
    four.run_until(lambda: four.counts() == {"done": 3, "failed": 1})
    sites = dict(zip(names, (four.site, *OTHERS), strict=True))
    assert {name: len(ran(site, four.place)) for name, site in sites.items()} == dict.fromkeys(names, 1)
