"""What the metascheduler takes to share a large grid, each campaign wanting something of each cluster."""

import statistics
from collections.abc import Iterator
from random import Random
from time import process_time

from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType
from modules.metascheduler.policies import load, names
from modules.metascheduler.progressive_filling import share_clusters
from tests.bench.table import Row, row

SIZE = 1000  # campaigns
CLUSTERS = tuple(range(1, 61))
USERS = 50
SECONDS = 0.1  # what it may take at the most
RUNS = 15


def measure(size: int = SIZE, runs: int = RUNS) -> Iterator[Row]:
    rooms, wants, claims = large_grid(size)
    for policy in names():
        times = []
        for _ in range(runs):
            started = process_time()
            share_clusters(rooms, wants, claims, PolicySettings(), load(policy))
            times.append(process_time() - started)
        taken = statistics.median(times)
        what = f"share: {size:,} campaigns on {len(CLUSTERS)} clusters by {policy}, of a processor"
        yield row(what, f"{taken * 1000:.0f} ms", f"at most {SECONDS * 1000:.0f} ms", f"{taken / SECONDS:.2f}")


def large_grid(size: int) -> tuple[list[SchedulableCluster], list[ClusterDemand], list[PendingCampaign]]:
    """So many campaigns, each of which wants something of each cluster."""
    config, draw = ClusterConfig(driver="local"), Random(1)
    rooms = [SchedulableCluster(cluster, f"c{cluster}", config, 50, 30, 100, 30, 200) for cluster in CLUSTERS]
    wants = [_want(campaign, cluster, draw) for campaign in range(1, size + 1) for cluster in CLUSTERS]
    return rooms, wants, [_claim(campaign) for campaign in range(1, size + 1)]


def _want(campaign: int, cluster: int, draw: Random) -> ClusterDemand:
    live, mean = draw.randrange(6), draw.uniform(100.0, 1000.0)
    return ClusterDemand(
        campaign,
        cluster,
        CampaignType.DEFAULT,
        1,
        None,
        live,
        1000,
        1.0,
        False,
        0,
        None,
        None,
        10,
        mean,
        1.0,
        1e-5,
        request_hashes=(campaign,),
    )


def _claim(campaign: int) -> PendingCampaign:
    user = f"user{campaign % USERS}"
    return PendingCampaign(campaign, CampaignType.DEFAULT, user, "", 0, 0.0, None, 100.0, CLUSTERS)
