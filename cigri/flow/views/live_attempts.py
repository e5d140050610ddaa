"""Live attempts: the tasks that watched jobs carry, with what they have been through.
Read by: updator.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, and_, case, false, func, literal, or_, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select, TableValuedAlias
from sqlalchemy.types import TypeEngine

from cigri.database import IDS, bound_values_table, rows_as_json
from cigri.database.typed_rows import read_all
from cigri.flow.live_jobs import chosen_jobs
from cigri.lifecycle.verdicts import CheckpointPolicy
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.job_requests import CheckpointRequest
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task

ATTEMPT_PLACES: Mapping[str, TypeEngine[Any]] = {"id": BigInteger(), "position": Integer()}


class LiveAttempt(NamedTuple):
    """A task that a watched job carries, and its past; `is_shared`: the job carries others too.

    `is_troubled`: of its campaign's latest tasks there some failed, or were refused. `live`: how many attempts of the
    job have not ended, where that was asked for.
    """

    job_id: int
    position: int
    task_id: int
    number: int
    failures: int
    deaths: int
    resubmissions: int
    retries: int
    checkpoints: int = 0
    saving: CheckpointPolicy = CheckpointPolicy()
    is_shared: bool = False
    is_troubled: bool = True
    live: int = 1


def list_attempts(conn: Connection, job_ids: Sequence[int]) -> list[LiveAttempt]:
    """The live attempts of these jobs, with what their tasks have been through."""
    return read_all(conn, LiveAttempt, _attempts(), chosen_jobs(job_ids))


def list_attempts_at(conn: Connection, places: Sequence[tuple[int, int]]) -> list[LiveAttempt]:
    """Live attempts at these places (job, position); `live` is the number of live ones of each job."""
    return (
        read_all(conn, LiveAttempt, _attempts_at(), {"wanted": rows_as_json(ATTEMPT_PLACES, places)}) if places else []
    )


@cache
def _attempts() -> Select[*tuple[Any, ...]]:
    wanted = bound_values_table("wanted", IDS)
    return _attempts_of(wanted, wanted.c.id == Attempt.c.job_id, literal(1, BigInteger))


@cache
def _attempts_at() -> Select[*tuple[Any, ...]]:
    wanted = bound_values_table("wanted", ATTEMPT_PLACES)
    counted = (
        select(Attempt.c.job_id, func.count().label("live"))
        .where(
            Attempt.c.job_id.in_(select(bound_values_table("wanted", ATTEMPT_PLACES).c.id)), Attempt.c.outcome.is_(None)
        )
        .group_by(Attempt.c.job_id)
        .subquery("counted")
    )
    here = and_(wanted.c.id == Attempt.c.job_id, wanted.c.position == Attempt.c.position)
    return _attempts_of(wanted, here, counted.c.live).join(counted, counted.c.job_id == Attempt.c.job_id)


def _attempts_of(
    wanted: TableValuedAlias, here: ColumnElement[bool], live: ColumnElement[int]
) -> Select[*tuple[Any, ...]]:
    other = Attempt.alias()
    part, settings = CampaignCluster.c, CampaignCluster.c.settings
    retries = func.coalesce(settings["retries"].as_integer(), 0)
    is_shared = select(other.c.task_id).where(other.c.job_id == Attempt.c.job_id, other.c.position == 2).exists()
    counted = (part.errors, part.strikes, part.failed_sends, part.idle_deaths)
    is_troubled = or_(*(column != 0 for column in counted), part.blocked_until.is_not(None))
    return (
        select(
            Attempt.c.job_id,
            Attempt.c.position,
            Attempt.c.task_id,
            Attempt.c.number,
            Task.c.failures,
            Task.c.deaths,
            Task.c.resubmissions,
            retries.label("retries"),
            Task.c.checkpoints,
            func.coalesce(func.jsonb_typeof(settings["checkpoint"]) == "object", false()).label("has_checkpoint"),
            _period(settings["checkpoint"]["period"]).label("period"),
            func.coalesce(settings["idempotent"].as_boolean(), false()).label("is_idempotent"),
            CheckpointRequest.c.heard_at.is_not(None).label("was_heard"),
            is_shared.label("is_shared"),
            is_troubled.label("is_troubled"),
            live.label("live"),
        )
        .join(wanted, here)
        .join(Task, Task.c.id == Attempt.c.task_id)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(
            CampaignCluster,
            and_(CampaignCluster.c.campaign_id == Job.c.campaign_id, CampaignCluster.c.cluster_id == Job.c.cluster_id),
        )
        .outerjoin(Batch, Batch.c.id == Job.c.batch_id)
        .outerjoin(CheckpointRequest, CheckpointRequest.c.job_id == Attempt.c.job_id)
        .where(Attempt.c.outcome.is_(None))
    )


def _period(described: ColumnElement[Any]) -> ColumnElement[int | None]:
    """Between the checkpoints that its task is asked for: its user's, else what the grid chose for its batch."""
    is_given = func.jsonb_typeof(described) == "number"
    return case((is_given, described.as_integer()), else_=Batch.c.checkpoint_period)
