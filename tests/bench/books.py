"""Core-seconds of jobs through real batch systems, beside what the accounting of each says of the same jobs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from os import getpid
from typing import NamedTuple

from cigri.flow.grid_identity import grid_key
from tests.batch_accounting import BOOKS, CLOSE, Booked, booked_core_seconds, running_core_seconds
from tests.bench.ground import Ground, ground
from tests.bench.grouping import cluster, declare
from tests.bench.slurm import NotHereError
from tests.bench.table import Row, row
from tests.grid import Site, gridengine_site, oar_site, slurm_site, until

SIZE, SECONDS = 6, 300
CORES = 2  # of each job


class Bookkeeping(NamedTuple):
    """A cluster with what it calls its accounting."""

    kind: str
    accounting: str
    site: Site


CLOSE_BY = f", at most {CLOSE:.0%} off"
BOOKKEEPING = (
    Bookkeeping("Slurm", f"sacct{CLOSE_BY}", slurm_site("beta")),
    Bookkeeping("Grid Engine", f"qacct{CLOSE_BY}", gridengine_site()),
    Bookkeeping("OAR", "oaraccounting, with what OAR takes to launch", oar_site()),
)
OARS_OWN_LOG = f"running in OAR's log of states{CLOSE_BY}"


def measure(size: int = SIZE, seconds: int = SECONDS) -> Iterator[Row]:
    with ExitStack() as clusters, ground(almighty__period=1) as grid:
        there: list[Bookkeeping] = []
        for one in BOOKKEEPING:
            try:
                clusters.enter_context(cluster(one.site.name))
                there.append(one)
            except NotHereError as error:
                yield row(f"{one.kind} is not here: left out ({error})", "")
        booked = _play(grid, [one.site for one in there], size, seconds)
        what = f"books: {size} jobs of {CORES} cores and {seconds} s through"
        for one in there:
            jobs = booked[one.site.name]
            ours = grid.one("SELECT sum(core_seconds) FROM accounting WHERE cluster = :name", name=one.site.name)
            compared = partial(_compared, f"{what} {one.kind}, as `gridusage` counts", ours)
            yield compared(one.accounting, booked_core_seconds(jobs))
            if one.kind == "OAR":
                yield compared(OARS_OWN_LOG, running_core_seconds(jobs))


def _compared(what: str, ours: float, name: str, theirs: float) -> Row:
    return row(what, f"{ours:,.0f} core-s", f"{name}: {theirs:,.0f} core-s", f"{ours / theirs:.3f}")


def _play(grid: Ground, sites: list[Site], size: int, seconds: int) -> Mapping[str, list[Booked]]:
    """A campaign on each cluster, all at once; what their accounting says of the jobs by cluster, once it knows all."""
    directory = f"bench-{getpid()}"
    with grid.database.begin() as conn:
        tag = f"cigri.{grid_key(conn)}."
    try:
        for site in sites:
            declare(grid, site, directory)
        grid.start()
        fields = {"exec_file": "sleep", "params": [str(seconds)] * size, "walltime": seconds + 600}
        campaigns = [grid.submit(_described(grid, site, **fields)) for site in sites]
        for campaign_id in campaigns:
            grid.wait_for(campaign_id, seconds + 600)
        booked: dict[str, list[Booked]] = {}
        for site in sites:
            read = partial(BOOKS[site.name], site, tag)
            until(partial(_has_all, read, size), what=f"{site.name} accounts {size} jobs")
            booked[site.name] = read()
        return booked
    finally:
        for site in sites:
            site.sh(f"rm -rf {directory}")


def _has_all(read: Callable[[], list[Booked]], size: int) -> bool:
    return len(read()) == size


def _described(grid: Ground, site: Site, **fields: object) -> str:
    wish = {"resources": {"cpu": CORES}, "temporal_grouping": False}
    return grid.describe(site.name, clusters={site.name: wish}, **fields)
