"""What jobs lose on each cluster besides the time that their tasks take.
Read by: metascheduler.
"""

from typing import NamedTuple

from sqlalchemy import Connection, cast, func, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from cigri.states import BatchState
from cigri.tables.clusters import ClusterRate
from cigri.tables.jobs import Batch

SENDINGS = 200  # latest batches, from which the time of a submission is taken


class ClusterDelays(NamedTuple):
    """Of a cluster: seconds in its queue, kills per core-second, seconds to submit a batch."""

    delay: float = 0.0
    hazard: float = 0.0
    sending: float = 0.0


NO_DELAYS = ClusterDelays()


def list_delays(conn: Connection) -> dict[int, ClusterDelays]:
    """By cluster id. `delay` and `hazard` as forecast; `sending` is the mean over those of the latest SENDINGS batches
    of the grid that went there."""
    forecast, batch = ClusterRate.c, Batch.c
    latest = (
        select(batch.cluster_id, func.extract("epoch", batch.settled_at - batch.created_at).label("seconds"))
        .where(batch.state == BatchState.SUBMITTED)
        .order_by(batch.settled_at.desc())
        .limit(SENDINGS)
        .subquery()
    )
    mean = cast(func.avg(func.greatest(latest.c.seconds, 0.0)), DOUBLE_PRECISION).label("seconds")
    sent = conn.execute(select(latest.c.cluster_id, mean).group_by(latest.c.cluster_id))
    sending = {row.cluster_id: row.seconds for row in sent}
    measured = {
        row.cluster_id: ClusterDelays(row.queue_delay or 0.0, row.hazard or 0.0)
        for row in conn.execute(select(forecast.cluster_id, forecast.queue_delay, forecast.hazard))
    }
    cluster_ids = measured.keys() | sending.keys()
    return {id: measured.get(id, NO_DELAYS)._replace(sending=sending.get(id, 0.0)) for id in cluster_ids}
