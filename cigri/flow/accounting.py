"""Accounting: the core-hours of ended jobs by day, user, project and cluster.
Given by: operator, predictor, runner, updator, users; taken by: users.
"""

from sqlalchemy import Connection, Interval, and_, cast, column, delete, exists, func, literal, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, insert
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.selectable import FromClause

from cigri.answers.figures import AccountedWork
from cigri.database.typed_rows import read_all
from cigri.states import Outcome
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.jobs import ACCOUNTED_ALIKE, Accounting, Attempt

LONGEST_JOB = 400  # days; a cluster may say that a job began long before there were clusters
MANY_NEWS = 1000
ADDED_UP = ("jobs", "core_seconds")


def accounted(ended: FromClause) -> Insert:
    """Of jobs that have just ended: `ended` has their id, cluster_id, outcome and USED. None that never started."""
    a_day = cast(literal("1 day"), Interval)
    earliest = ended.c.ended_at - cast(literal(f"{LONGEST_JOB} days"), Interval)
    began = func.greatest(func.least(ended.c.started_at, ended.c.ended_at), earliest)
    series = func.generate_series(func.date_trunc("day", began), ended.c.ended_at, a_day)
    days = series.table_valued(column("day", Accounting.c.day.type)).render_derived(name="days")
    day = days.c.day
    within = func.least(ended.c.ended_at, day + a_day) - func.greatest(ended.c.started_at, day)
    each = (
        select(
            day.label("day"),
            Campaign.c.grid_user,
            func.coalesce(Project.c.name, "").label("project"),
            Cluster.c.name.label("cluster"),
            ended.c.outcome,
            exists().where(Attempt.c.job_id == ended.c.id, Attempt.c.is_replica).label("is_replica"),
            (day == func.date_trunc("day", ended.c.ended_at)).label("is_last"),
            (ended.c.width * func.greatest(func.extract("epoch", within), 0.0)).label("used"),
        )
        .select_from(ended)
        .join(Campaign, Campaign.c.id == ended.c.campaign_id)
        .join(Cluster, Cluster.c.id == ended.c.cluster_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .join(days, literal(True))
        .where(ended.c.started_at.is_not(None))
        .subquery("each")
    )
    group = [each.c[name] for name in ACCOUNTED_ALIKE]
    sums = select(*group, func.count().filter(each.c.is_last), func.sum(each.c.used)).group_by(*group)
    return insert(Accounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP], sums)


def add_up_accounting(conn: Connection, longest: int = MANY_NEWS) -> None:
    """Add many new rows to the sums; it changes no total."""
    is_new = Accounting.c.is_sum.is_(False)
    if (conn.scalar(select(func.count()).where(is_new)) or 0) <= longest:
        return
    columns = [Accounting.c[name] for name in (*ACCOUNTED_ALIKE, *ADDED_UP)]
    gone = delete(Accounting).where(is_new).returning(*columns).cte("gone")
    group = [gone.c[name] for name in ACCOUNTED_ALIKE]
    sums = select(*group, *(func.sum(gone.c[name]) for name in ADDED_UP), literal(True)).group_by(*group)
    added = insert(Accounting).from_select([*ACCOUNTED_ALIKE, *ADDED_UP, "is_sum"], sums)
    more = {name: Accounting.c[name] + added.excluded[name] for name in ADDED_UP}
    alike = list(ACCOUNTED_ALIKE)
    conn.execute(added.on_conflict_do_update(index_elements=alike, index_where=Accounting.c.is_sum, set_=more))


def list_accounted(conn: Connection, days: int, user: str = "") -> list[AccountedWork]:
    """Of the last `days`, today's with them: of everybody, or one; sorted by user, project and cluster."""
    row = Accounting.c
    first = func.date_trunc("day", func.now()) - cast(literal(f"{days - 1} days"), Interval)
    is_well = and_(row.outcome == Outcome.SUCCESS, row.is_replica.is_(False))
    is_lost = and_(row.outcome != Outcome.SUCCESS, row.is_replica.is_(False))
    used = (
        cast(func.coalesce(func.sum(row.core_seconds).filter(which), 0.0), DOUBLE_PRECISION).label(name)
        for name, which in (("well", is_well), ("lost", is_lost), ("replicas", row.is_replica))
    )
    who = (row.grid_user.label("user"), row.project, row.cluster)
    statement = (
        select(*who, cast(func.sum(row.jobs), row.jobs.type).label("jobs"), *used)
        .where(row.day >= first)
        .group_by(row.grid_user, row.project, row.cluster)
        .order_by(row.grid_user, row.project, row.cluster)
    )
    return read_all(conn, AccountedWork, statement.where(row.grid_user == user) if user else statement)
