"""How often the last tasks were replicated, what it brought and what it cost.
Read by: users.
"""

from sqlalchemy import Connection, and_, cast, func, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from cigri.api_models.campaigns import ReplicaStatistics
from cigri.database.typed_rows import read_all
from cigri.states import Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.jobs import Attempt, Job


def count_replicas(conn: Connection, campaign_id: int) -> ReplicaStatistics:
    """Of a campaign that is not archived; all 0 of any other."""
    part = CampaignCluster
    here = and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id)
    lasted = func.coalesce(Attempt.c.seconds, Job.c.ran_seconds, 0.0)
    lost = func.sum(lasted * part.c.width).filter(Attempt.c.outcome == Outcome.SUPERSEDED)
    statement = (
        select(
            func.count().filter(Attempt.c.is_replica).label("begun"),
            func.count().filter(Attempt.c.is_replica, Attempt.c.outcome == Outcome.SUCCESS).label("won"),
            func.count().filter(Attempt.c.is_replica, Attempt.c.outcome.is_(None)).label("live"),
            cast(func.coalesce(lost, 0.0), DOUBLE_PRECISION).label("burnt"),
        )
        .select_from(Attempt)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(part, here)
        .where(Job.c.campaign_id == campaign_id)
    )
    (replicas,) = read_all(conn, ReplicaStatistics, statement)
    return replicas
