"""What saving a state has cost the tasks of campaigns on a cluster, and what their deaths there make it worth.
Read by: runner.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, bindparam, cast, func, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.selectable import Select
from sqlalchemy.types import TypeEngine

from cigri.database import bound_values_table, rows_as_json
from cigri.database.typed_rows import read_by
from cigri.states import JobKind, JobState, Outcome
from cigri.tables.clusters import ClusterRate
from cigri.tables.jobs import Attempt, Batch, Job

JOBS_LOOKED_AT = 200  # latest ended jobs of a campaign on the cluster
LATE_BEGIN = 5.0  # seconds that a task may begin behind its job, from which its wrapper counts to the walltime
ASKED_BEFORE: Mapping[str, TypeEngine[Any]] = {"campaign_id": BigInteger(), "before": BigInteger()}


class CheckpointCosts(NamedTuple):
    """Of a campaign on a cluster: kills per core-second and seconds in the queue there, as forecast.

    `seconds`: in the mean, from the grid's signal to the end at a checkpoint, of tasks of its latest jobs that ended so
    in the time allowed. Who did it before or later has done it of its own, or because somebody else asked.
    """

    hazard: float
    delay: float
    seconds: float | None


def list_saving_figures(conn: Connection, cluster_id: int, asking: Mapping[int, int]) -> dict[int, CheckpointCosts]:
    """By id of campaigns, of each of which it is given how many seconds before the walltime its tasks are asked."""
    parameters = {"here": cluster_id, "asking": rows_as_json(ASKED_BEFORE, asking.items())}
    return read_by(conn, "campaign_id", CheckpointCosts, _saving_figures(), parameters) if asking else {}


@cache
def _saving_figures() -> Select[*tuple[Any, ...]]:
    asking, forecast, here = (
        bound_values_table("asking", ASKED_BEFORE),
        ClusterRate.c,
        bindparam("here", type_=BigInteger),
    )
    latest = (
        select(Job.c.id, Job.c.batch_id, Job.c.walltime)
        .where(Job.c.campaign_id == asking.c.campaign_id, Job.c.cluster_id == here)
        .where(Job.c.state == JobState.ENDED, Job.c.kind == JobKind.TASKS)
        .order_by(Job.c.id.desc())
        .limit(JOBS_LOOKED_AT)
        .lateral("latest")
    )
    first_signal = func.least(Batch.c.checkpoint_period, latest.c.walltime - asking.c.before)
    stopped = (
        select((Attempt.c.seconds - first_signal).label("after"))
        .join_from(Attempt, Batch, Batch.c.id == latest.c.batch_id)
        .where(Attempt.c.job_id == latest.c.id, Attempt.c.position == 1, Attempt.c.outcome == Outcome.CHECKPOINTED)
        .limit(1)  # or all attempts that there are might be read at once, to be joined
        .lateral("stopped")
    )
    after = stopped.c.after
    mean = func.avg(func.greatest(after, 0.0)).filter(after.is_not(None))
    return (
        select(
            asking.c.campaign_id,
            func.coalesce(forecast.hazard, 0.0).label("hazard"),
            func.coalesce(forecast.queue_delay, 0.0).label("delay"),
            cast(mean, DOUBLE_PRECISION).label("seconds"),
        )
        .select_from(asking)
        .outerjoin(latest, true())
        .outerjoin(stopped, after.between(-LATE_BEGIN, asking.c.before))
        .outerjoin(ClusterRate, forecast.cluster_id == here)
        .group_by(asking.c.campaign_id, forecast.hazard, forecast.queue_delay)
    )
