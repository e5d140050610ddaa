"""Found clusters: those that have become eligible for campaigns that leave their clusters to the grid.
Given by: matcher.
"""

from collections import defaultdict

from sqlalchemy import Connection, select

from cigri.flow.submissions import NewCampaignCluster, insert_campaign_clusters
from cigri.flow.submit_pools import put_pools
from cigri.states import OPEN_CAMPAIGNS, CampaignType
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.pools import BucketPool, SubmitPoolQueue
from cigri.tables.resources import Queue


def add_eligible_clusters(conn: Connection) -> int:
    """Let each campaign whose clusters the grid chooses use those that a bucket of it has become eligible for; only
    clusters that it was admitted for, and never for a test, whose tasks are for the clusters of before. Give the number
    of new shares."""
    part = CampaignCluster.c
    is_known = select(part.cluster_id).where(part.campaign_id == Campaign.c.id, part.cluster_id == Queue.c.cluster_id)
    new_places = conn.execute(
        select(Campaign.c.id, Campaign.c.anywhere[Cluster.c.name], Cluster.c.id)
        .distinct()
        .join(Bucket, Bucket.c.campaign_id == Campaign.c.id)
        .join(BucketPool, BucketPool.c.bucket_id == Bucket.c.id)
        .join(SubmitPoolQueue, SubmitPoolQueue.c.pool_id == BucketPool.c.pool_id)
        .join(Queue, Queue.c.id == SubmitPoolQueue.c.queue_id)
        .join(Cluster, Cluster.c.id == Queue.c.cluster_id)
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.anywhere.has_key(Cluster.c.name), ~is_known.exists())
        .where(Campaign.c.type != CampaignType.TEST)
        .order_by(Campaign.c.id, Cluster.c.id)
    )
    places: dict[int, dict[int, NewCampaignCluster]] = defaultdict(dict)
    for campaign_id, settings, cluster_id in new_places:
        places[campaign_id][cluster_id] = NewCampaignCluster(**settings)
    for campaign_id, parts in places.items():
        insert_campaign_clusters(conn, campaign_id, parts)
    put_pools(conn, places)
    return sum(map(len, places.values()))
