"""Usage: core-seconds that jobs of users and projects used, the older the less.
Given by: metascheduler, operator, runner, updator, users; taken by: metascheduler.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, cast, delete, func, insert, select, union_all
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, Select

from cigri.flow.standstill import seconds_halted
from cigri.formats.units import DAY
from cigri.states import JobState
from cigri.tables.campaigns import Campaign
from cigri.tables.grid import Project
from cigri.tables.jobs import Job
from cigri.tables.sharing import Usage

USED = ("campaign_id", "width", "walltime", "ran_seconds", "ended_at")


def used(ended: FromClause) -> Insert:
    """What jobs used that have just ended, of which `ended` has the id and USED; those that never ran: nothing."""
    sums = (
        select(
            Campaign.c.grid_user,
            Campaign.c.project_id,
            func.sum(ended.c.width * ended.c.ran_seconds),
            func.sum(ended.c.width * ended.c.walltime),
            func.now(),
        )
        .select_from(ended)
        .join(Campaign, Campaign.c.id == ended.c.campaign_id)
        .where(ended.c.ran_seconds.is_not(None))
        .group_by(Campaign.c.grid_user, Campaign.c.project_id)
    )
    return insert(Usage).from_select(["grid_user", "project_id", "used", "asked", "at"], sums)


class Consumption(NamedTuple):
    """Core-seconds that jobs used and had asked for, the older the less."""

    used: float
    asked: float


def list_usage(conn: Connection, half_life: float) -> dict[tuple[str, str], Consumption]:
    """By user and project: what ended jobs used, half as much after `half_life` days, and what runs has used so far."""
    return {(user, project): Consumption(used, asked) for user, project, used, asked in conn.execute(_sums(half_life))}


@cache
def _sums(half_life: float) -> Select[*tuple[Any, ...]]:
    weight = _weight(half_life)
    ended = select(Usage.c.grid_user, Usage.c.project_id, Usage.c.used * weight, Usage.c.asked * weight)
    halted = Job.c.halted_seconds + seconds_halted()
    so_far = func.greatest(func.extract("epoch", func.now() - Job.c.started_at) - halted, 0.0)
    running = (
        select(Campaign.c.grid_user, Campaign.c.project_id, Job.c.width * so_far, Job.c.width * Job.c.walltime)
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .where(Job.c.state == JobState.RUNNING, Job.c.started_at.is_not(None))
    )
    every = union_all(ended, running).subquery("every")
    user, project_id, used, asked = every.c
    return (
        select(
            user,
            func.coalesce(Project.c.name, ""),
            cast(func.sum(used), DOUBLE_PRECISION),
            cast(func.sum(asked), DOUBLE_PRECISION),
        )
        .outerjoin(Project, Project.c.id == project_id)
        .group_by(user, Project.c.name)
    )


def add_up_usage(conn: Connection, half_life: float, longest: int = 50) -> None:
    """Replace the usage of users who have gathered many rows by its sum; it changes no total."""
    conn.execute(_added_up(half_life, longest))


@cache
def _added_up(half_life: float, longest: int) -> Insert:
    many = select(Usage.c.grid_user).group_by(Usage.c.grid_user).having(func.count() > longest)
    gone = delete(Usage).where(Usage.c.grid_user.in_(many))
    used, asked = (column * _weight(half_life) for column in (Usage.c.used, Usage.c.asked))
    user, project_id = Usage.c.grid_user, Usage.c.project_id
    added = gone.returning(user, project_id, used.label("used"), asked.label("asked")).cte("added")
    sums = select(added.c.grid_user, added.c.project_id, func.sum(added.c.used), func.sum(added.c.asked), func.now())
    columns = ["grid_user", "project_id", "used", "asked", "at"]
    return insert(Usage).from_select(columns, sums.group_by(added.c.grid_user, added.c.project_id))


def _weight(half_life: float) -> ColumnElement[float]:
    """The factor by which a row counts now: 0.5^(age / half_life), the age and `half_life` in days."""
    age = func.greatest(func.extract("epoch", func.now() - Usage.c.at), 0.0)
    return func.power(0.5, func.least(age / (half_life * DAY), 1000.0))
