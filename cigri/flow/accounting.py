"""Accounting: the core-hours of ended jobs by day, user, project, cluster and type.
Given by: janitor, operator, predictor, runner, updator, users; taken by: operator, users.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Interval,
    Table,
    and_,
    case,
    cast,
    column,
    delete,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, insert
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CTE, FromClause, Select, Subquery

from cigri.api_models.metrics import AccountingEntry, UsedWork
from cigri.database import interval
from cigri.database.typed_rows import null_column, read_all
from cigri.eligibility.quotas import BEST_EFFORT
from cigri.flow.fair_share_usage import USED
from cigri.formats.units import DAY
from cigri.states import NEVER_RAN, Outcome
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.jobs import ACCOUNTED_ALIKE, Accounting, ArchivedAccounting, Attempt, Job

LONGEST_JOB = 400  # days; a cluster may say that a job began long before there were clusters
MANY_NEWS = 1000
SUMS_KEY = func.hashtextextended("cigri.accounting", 0)  # whose lock has who replaces rows by others
ROUNDING, ROUNDED_SECONDS = 1e-9, 1e-3  # how far sums of the same, in another order, may differ
ADDED_UP = ("jobs", "core_seconds", "asked")
COMPARED = (*(f"had_{name}" for name in ADDED_UP), *ADDED_UP)
FAILED_ITSELF = (Outcome.FAILURE, Outcome.WALLTIME, Outcome.OUT_OF_MEMORY)
WELL = and_(Accounting.c.outcome == Outcome.SUCCESS, Accounting.c.is_replica.is_(False))
FAILED = and_(Accounting.c.outcome.in_(FAILED_ITSELF), Accounting.c.is_replica.is_(False))
LOST = and_(Accounting.c.outcome.not_in((Outcome.SUCCESS, *FAILED_ITSELF)), Accounting.c.is_replica.is_(False))


def accounted(ended: FromClause) -> Insert:
    """Of jobs that have just ended: `ended` has their id, cluster_id, outcome and USED. None that never started."""
    return insert(Accounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP], _shares(ended))


def archived(ended: FromClause) -> Insert:
    """The same of ended jobs that leave their table, for `rebuild`."""
    added = insert(ArchivedAccounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP], _shares(ended))
    more = {name: ArchivedAccounting.c[name] + added.excluded[name] for name in ADDED_UP}
    return added.on_conflict_do_update(index_elements=list(ACCOUNTED_ALIKE), set_=more)


def _shares(ended: FromClause) -> Select[*tuple[Any, ...]]:
    """Of each day, user and so on what they add: ACCOUNTED_ALIKE and ADDED_UP."""
    a_day = cast(literal("1 day"), Interval)
    began = ended.c.ended_at - interval(func.least(ended.c.ran_seconds, LONGEST_JOB * DAY))
    series = func.generate_series(func.date_trunc("day", began), ended.c.ended_at, a_day)
    days = series.table_valued(column("day", Accounting.c.day.type)).render_derived(name="days")
    day, part, parts = days.c.day, CampaignCluster.c, _parts(ended)
    within = func.least(ended.c.ended_at, day + a_day) - func.greatest(began, day)
    each = (
        select(
            day.label("day"),
            Campaign.c.grid_user,
            func.coalesce(Project.c.name, "").label("project"),
            Cluster.c.name.label("cluster"),
            parts.c.outcome,
            parts.c.is_replica,
            and_(parts.c.is_end, day == func.date_trunc("day", ended.c.ended_at)).label("is_end"),
            func.coalesce(part.settings["type"].astext, BEST_EFFORT).label("type"),
            (parts.c.share * ended.c.width * func.greatest(func.extract("epoch", within), 0.0)).label("used"),
            (ended.c.width * ended.c.walltime).label("asked"),
        )
        .select_from(ended)
        .join(Campaign, Campaign.c.id == ended.c.campaign_id)
        .join(Cluster, Cluster.c.id == ended.c.cluster_id)
        .join(CampaignCluster, and_(part.campaign_id == ended.c.campaign_id, part.cluster_id == ended.c.cluster_id))
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .join(days, literal(True))
        .join(parts, parts.c.job_id == ended.c.id)
        .where(ended.c.ran_seconds.is_not(None))
        .subquery("each")
    )
    group = [each.c[name] for name in ACCOUNTED_ALIKE]
    asked = func.coalesce(cast(func.sum(each.c.asked).filter(each.c.is_end), DOUBLE_PRECISION), 0.0)
    sums = func.count().filter(each.c.is_end), func.sum(each.c.used), asked
    return select(*group, *(sum.label(name) for sum, name in zip(sums, ADDED_UP, strict=True))).group_by(*group)


def _parts(ended: FromClause) -> Subquery:
    """By job_id: its end, which is one job of its outcome, and its tasks by how each ended, with a share of its time.

    A task of which no record tells has what the others leave of it; a job that carried none has its time for itself.
    """
    job, row = ended.c.id.label("job_id"), Attempt.c
    ran = and_(row.job_id == ended.c.id, row.outcome.not_in(NEVER_RAN))
    known = func.coalesce(func.sum(row.seconds).over(partition_by=row.job_id), 0.0)
    unknown = func.count().filter(row.seconds.is_(None)).over(partition_by=row.job_id)
    left = func.greatest(ended.c.ran_seconds - known, 0.0) / func.greatest(unknown, 1)
    lasted = func.coalesce(row.seconds, left).label("seconds")
    each = select(job, row.outcome, row.is_replica, lasted).join_from(ended, Attempt, ran).subquery("each_task")
    total, tasks = (sum.over(partition_by=each.c.job_id) for sum in (func.sum(each.c.seconds), func.count()))
    share = case((total > 0, each.c.seconds / total), else_=literal(1.0) / tasks)
    of_tasks = select(each.c.job_id, each.c.outcome, each.c.is_replica, share.label("share"), false().label("is_end"))
    is_replica = exists().where(row.job_id == ended.c.id, row.is_replica).label("is_replica")
    alone = case((exists().where(ran), 0.0), else_=1.0).label("share")
    return union_all(of_tasks, select(job, ended.c.outcome, is_replica, alone, true().label("is_end"))).subquery(
        "parts"
    )


def add_up_accounting(conn: Connection, longest: int = MANY_NEWS) -> None:
    """Add many new rows to the sums; it changes no total."""
    is_new = Accounting.c.is_sum.is_(False)
    if (conn.scalar(select(func.count()).where(is_new)) or 0) <= longest:
        return
    if not conn.scalar(select(func.pg_try_advisory_xact_lock(SUMS_KEY))):
        return  # it is being rebuilt: the next time
    columns = [Accounting.c[name] for name in (*ACCOUNTED_ALIKE, *ADDED_UP)]
    gone = delete(Accounting).where(is_new).returning(*columns).cte("gone")
    group = [gone.c[name] for name in ACCOUNTED_ALIKE]
    sums = select(*group, *(func.sum(gone.c[name]) for name in ADDED_UP), literal(True)).group_by(*group)
    added = insert(Accounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP, "is_sum"], sums)
    more = {name: Accounting.c[name] + added.excluded[name] for name in ADDED_UP}
    alike = list(ACCOUNTED_ALIKE)
    conn.execute(added.on_conflict_do_update(index_elements=alike, index_where=Accounting.c.is_sum, set_=more))


class Correction(NamedTuple):
    """Of jobs that count together, what accounting `had` of them, and what it should have."""

    day: datetime
    user: str
    project: str
    cluster: str
    outcome: Outcome
    is_replica: bool
    type: str
    had_jobs: int
    had_core_seconds: float
    had_asked: float
    jobs: int
    core_seconds: float
    asked: float


def list_corrections(conn: Connection) -> list[Correction]:
    """Where accounting is not what ended jobs and what is kept of archived ones add up to; the oldest first."""
    return read_all(conn, Correction, _corrections(_differing()))


def rebuild(conn: Connection) -> list[Correction]:
    """Make accounting what they add up to, and give what was not so.

    It may go on with jobs ending, and being archived: one statement sees all that such a transaction did, or nothing,
    and what it removes is what it has seen.
    """
    conn.execute(select(func.pg_advisory_xact_lock(SUMS_KEY)))
    differing = _differing()
    wrong = and_(*(Accounting.c[name] == differing.c[name] for name in ACCOUNTED_ALIKE))
    is_due = or_(*(differing.c[name] != 0 for name in ADDED_UP))
    right = select(*(differing.c[name] for name in (*ACCOUNTED_ALIKE, *ADDED_UP))).where(is_due)
    removed = delete(Accounting).where(wrong).cte("removed")
    put = insert(Accounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP], right).cte("put")
    return read_all(conn, Correction, _corrections(differing).add_cte(removed, put))


def _differing() -> CTE:
    """Of ACCOUNTED_ALIKE those that differ: ADDED_UP as it should be, and as accounting `had_` it."""
    ended = select(*(Job.c[name] for name in ("id", "cluster_id", "outcome", *USED))).where(Job.c.outcome.is_not(None))
    due = union_all(_sums_in(ArchivedAccounting), _shares(ended.cte("ended"))).subquery("due")
    none = literal(0, BigInteger), literal(0.0, DOUBLE_PRECISION), literal(0.0, DOUBLE_PRECISION)
    had = [nothing.label(f"had_{name}") for name, nothing in zip(ADDED_UP, none, strict=True)]
    row = Accounting.c
    present = select(*(row[name] for name in ACCOUNTED_ALIKE), *none, *(row[name] for name in ADDED_UP))
    every = union_all(select(*due.c, *had), present).subquery("every")
    sums = [cast(func.sum(column), column.type).label(column.name) for column in (every.c[name] for name in COMPARED)]
    group = [every.c[name] for name in ACCOUNTED_ALIKE]
    differs = or_(*(_differs(every.c[name], every.c[f"had_{name}"]) for name in ADDED_UP))
    return select(*group, *sums).group_by(*group).having(differs).cte("differing")


def _differs(due: ColumnElement[Any], had: ColumnElement[Any]) -> ColumnElement[bool]:
    """By more than what is lost by rounding; jobs are whole."""
    return func.abs(func.sum(due) - func.sum(had)) > ROUNDING * func.sum(due) + ROUNDED_SECONDS


def _sums_in(kept: Table[Any]) -> Select[*tuple[Any, ...]]:
    return select(*(kept.c[name] for name in (*ACCOUNTED_ALIKE, *ADDED_UP)))


def _corrections(differing: CTE) -> Select[*tuple[Any, ...]]:
    row = differing.c
    user, *alike = (row[name] for name in ACCOUNTED_ALIKE[1:])
    return select(row.day, user.label("user"), *alike, *(row[name] for name in COMPARED)).order_by(
        *(row[name] for name in ACCOUNTED_ALIKE)
    )


class Days(NamedTuple):
    """Of UTC, from the first to the last, with both; None: up to today, and so many as `number` says."""

    number: int
    first: date | None = None
    last: date | None = None


def list_accounted(
    conn: Connection,
    days: int | Days,
    user: str = "",
    behind: Sequence[Any] | None = None,
    limit: int | None = None,
) -> list[AccountingEntry]:
    """Of these days, or the last ones, today's with them: of everybody, or one; sorted by user, project and cluster.

    `behind`: such a key; those that come after it.
    """
    row = Accounting.c
    who, apart = (row.grid_user.label("user"), row.project, row.cluster), (row.grid_user, row.project, row.cluster)
    used = (_used("well", WELL), _used("lost", or_(FAILED, LOST)), _used("replicas", row.is_replica))
    statement = (
        select(*who, cast(func.sum(row.jobs), row.jobs.type).label("jobs"), *used)
        .where(*_within(Days(days) if isinstance(days, int) else days, user), *_behind(apart, behind))
        .group_by(*apart)
        .order_by(*apart)
        .limit(limit)
    )
    return read_all(conn, AccountingEntry, statement)


def list_used(
    conn: Connection,
    days: Days,
    groups: Sequence[str],
    user: str = "",
    type: str = "",
    behind: Sequence[Any] | None = None,
    limit: int | None = None,
) -> list[UsedWork]:
    """Of these days, told apart by these of GROUPS, and sorted by them; of one user or type, or of all.

    `behind`: a value of each group; what comes after them.
    """
    row = Accounting.c
    columns: dict[str, Column[Any]] = {
        "day": row.day,
        "user": row.grid_user,
        "project": row.project,
        "cluster": row.cluster,
        "type": row.type,
    }
    apart = [columns[group] for group in groups]
    who = (column.label(group) if group in groups else null_column(group, column) for group, column in columns.items())
    kinds = {"well": WELL, "failed": FAILED, "lost": LOST, "replicas": row.is_replica}
    used = (_used(name, which) for name, which in kinds.items())
    asked = cast(func.sum(row.asked), DOUBLE_PRECISION).label("asked")
    statement = select(*who, cast(func.sum(row.jobs), row.jobs.type).label("jobs"), *used, asked)
    wanted = [*_within(days, user), *([row.type == type] if type else []), *_behind(apart, behind)]
    return read_all(conn, UsedWork, statement.where(*wanted).group_by(*apart).order_by(*apart).limit(limit))


def _within(days: Days, user: str) -> list[ColumnElement[bool]]:
    last = func.date_trunc("day", func.now()) if days.last is None else _began(days.last)
    first = last - cast(literal(f"{days.number - 1} days"), Interval) if days.first is None else _began(days.first)
    row = Accounting.c
    a_day = cast(literal("1 day"), Interval)
    return [row.day >= first, row.day < last + a_day, *([row.grid_user == user] if user else [])]


def _behind(apart: Sequence[ColumnElement[Any]], key: Sequence[Any] | None) -> list[ColumnElement[bool]]:
    if key is None:
        return []
    return [tuple_(*apart) > tuple_(*(literal(value, column.type) for value, column in zip(key, apart, strict=True)))]


def _began(day: date) -> ColumnElement[datetime]:
    return literal(datetime.combine(day, time.min, UTC), Accounting.c.day.type)


def _used(name: str, which: ColumnElement[bool]) -> ColumnElement[float]:
    core_seconds = func.sum(Accounting.c.core_seconds).filter(which)
    return cast(func.coalesce(core_seconds, 0.0), DOUBLE_PRECISION).label(name)
