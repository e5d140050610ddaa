"""Jobs with requirements on real clusters whose nodes differ: they land only on nodes that satisfy them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from cigri.drivers import BatchRequest, load
from cigri.requirements import BUILT_IN, Condition, ValueKind, conditions, parse_requirement
from cigri.requirements.node_selection import undecided
from cigri.requirements.three_valued_logic import KnownProperties
from tests.drivers.conformance import USER, Batch, Site
from tests.drivers.test_gridengine_real import gridengine_site
from tests.drivers.test_oar_real import oar_site
from tests.drivers.test_slurm_real import slurm_site

pytestmark = pytest.mark.cluster

KINDS = {**BUILT_IN, "fat": ValueKind.BOOLEAN}
OLD, NEW = "alpha-n1", "alpha-n2"
XEON, EPYC = "delta-n1", "delta-n2"


@dataclass(frozen=True)
class Grid:
    """A cluster; `where` tells the place of a job, and `expected` where jobs may be that want this."""

    site: Callable[[], Site]
    options: dict[str, Any]
    where: str
    expected: dict[str, str]


GRIDS = {
    "alpha": Grid(
        lambda: slurm_site("alpha"),
        {"partition": "normal"},
        "$CIGRI_NODE",
        {
            "old": OLD,
            "'new' in features and cores >= 8": NEW,
            "memory >= 9 GB": NEW,
            "features in ['old', 'none-has-it'] and (big or new)": OLD,
            "(new or none_has_it) and memory > 8 GB and fast": NEW,
        },
    ),
    "gamma": Grid(
        gridengine_site,
        {"complexes": {"scratch": "<=", "model": "==", "fat": "=="}},
        "$QUEUE",
        {
            "scratch >= 500": "fat.q",
            "fat": "fat.q",
            "model == 'xeon'": "all.q",
            "model != 'epyc-7'": "all.q",
            "scratch >= 50 and (model == 'xeon' or model == 'none-has-it')": "all.q",
        },
    ),
    "delta": Grid(
        oar_site,
        {"memory": "mem"},
        "$CIGRI_NODE",
        {
            'memory >= 1500 MB and model == "it\'s an EPYC"': EPYC,
            "not (mem > 1500 or gpu == 'YES')": XEON,
        },
    ),
}


@pytest.fixture(params=GRIDS)
def grid(request: pytest.FixtureRequest) -> Grid:
    request.getfixturevalue(f"{request.param}_up")
    return GRIDS[request.param]


@pytest.fixture
def site(grid: Grid) -> Iterator[Site]:
    site = grid.site()
    site.driver = load(site.driver.label.lower(), grid.options)
    yield site
    for batch in site.batches:
        batch.cancel(list(batch.ids))


def classes_of(site: Site) -> list[KnownProperties]:
    """Of the nodes that jobs go to which name no queue, as the batch system itself tells of them."""
    found = site.driver.parse_nodes(site.run(USER, site.driver.nodes()))
    return [one.properties for one in found if not one.queue]


def wanted(text: str, classes: list[KnownProperties]) -> Condition:
    condition = conditions(parse_requirement(text, KINDS))
    assert condition is not None
    left = undecided(condition, classes)
    assert not isinstance(left, bool), f"{text} is {left} for all nodes"
    return left


def test_jobs_land_only_on_nodes_that_satisfy_their_requirements(grid: Grid, site: Site) -> None:
    classes = classes_of(site)
    batches: dict[str, Batch] = {}
    for number, text in enumerate(grid.expected):
        request = BatchRequest(f"wants{number}", 1, 60, besteffort=False, requirement=wanted(text, classes))
        assert site.driver.problems(request) == []
        batches[text] = site.submit(request, f'printf "%s\\n" "{grid.where}" >>"$1/where"\n')
    for batch in batches.values():
        batch.until_ended()
    assert {text: set(batch.said("where").split()) for text, batch in batches.items()} == {
        text: {place} for text, place in grid.expected.items()
    }
    site.batches.clear()
