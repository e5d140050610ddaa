"""Quotas that operators declare: what the jobs of users, projects, queues and types may have.
Given by: users; taken by: campaign schedulers, metascheduler, operator, users.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Interval, and_, cast, delete, func, insert, literal, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement, Label
from sqlalchemy.sql.selectable import Select

from cigri.api_models.policy import QuotaView
from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.eligibility.quotas import QuotaKey, QuotaRule, as_words, in_force, least
from cigri.errors import NotFound
from cigri.flow.affinities_and_targets import find_cluster_id
from cigri.formats.units import HOUR
from cigri.states import JobKind, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.jobs import Accounting, Job
from cigri.tables.sharing import Quota


class QuotaAmounts(NamedTuple):
    """Cores, jobs and core-seconds, these within so many days; None: any number."""

    cores: int | None
    jobs: int | None
    core_seconds: int | None
    days: int | None


class QuotaUse(NamedTuple):
    """What jobs have, or one has: core-seconds are those that they may use, and with those that others have used."""

    cores: int
    jobs: int
    core_seconds: int


class CountedQuota(NamedTuple):
    """What a quota counts: the jobs of a rule on a cluster, or (None) on all; its core-hours within so many days."""

    rule: QuotaRule
    cluster_id: int | None
    days: int | None = None


OneCluster = int | None
Declared = Mapping[OneCluster, Mapping[QuotaRule, QuotaAmounts]]
NO_USE = QuotaUse(0, 0, 0)


class DeclaredQuotas:
    """Those that were declared, and which of them hold for jobs; it remembers, for most jobs are alike."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._held: dict[tuple[QuotaKey, int], list[tuple[CountedQuota, QuotaAmounts]]] = {}

    def __bool__(self) -> bool:
        return any(self._declared.values())

    def over(self, jobs: QuotaKey, cluster_id: int) -> list[tuple[CountedQuota, QuotaAmounts]]:
        """What such jobs on the cluster are under."""
        held = self._held.get((jobs, cluster_id))
        if held is None:
            held = self._held[jobs, cluster_id] = list(self._over(jobs, cluster_id))
        return held

    def windows(self) -> set[int]:
        """Days within which core-hours are counted."""
        return {amounts.days for rules in self._declared.values() for amounts in rules.values() if amounts.days}

    def _over(self, jobs: QuotaKey, cluster_id: int) -> Iterator[tuple[CountedQuota, QuotaAmounts]]:
        for place in (None, cluster_id):
            for rule, several in in_force(self._declared.get(place, {}), jobs).items():
                cores, jobs_, seconds, days = (least(amounts) for amounts in zip(*several, strict=True))
                yield CountedQuota(rule, place, days), QuotaAmounts(cores, jobs_, seconds, days)


class _DeclaredQuota(NamedTuple):
    queue: str
    project: str
    type: str
    user: str
    cluster_id: int | None
    cores: int | None
    jobs: int | None
    core_hours: float | None
    days: int | None


class _LiveWork(NamedTuple):
    queue: str
    project: str
    type: str
    user: str
    cluster_id: int
    cores: int
    jobs: int
    core_seconds: int


class _Accounted(NamedTuple):
    user: str
    project: str
    cluster_id: int
    core_seconds: float


def find_quotas(conn: Connection) -> DeclaredQuotas:
    """All that are declared now."""
    declared: dict[OneCluster, dict[QuotaRule, QuotaAmounts]] = defaultdict(dict)
    for row in read_all(conn, _DeclaredQuota, _rows()):
        seconds = None if row.core_hours is None else int(row.core_hours * HOUR)
        amounts = QuotaAmounts(row.cores, row.jobs, seconds, row.days)
        declared[row.cluster_id][QuotaRule(row.queue, row.project, row.type, row.user)] = amounts
    return DeclaredQuotas(declared)


def used_of_quotas(conn: Connection, quotas: DeclaredQuotas) -> dict[CountedQuota, QuotaUse]:
    """What live jobs that carry tasks have of each, and what ended ones used within its days."""
    used: Counter[tuple[CountedQuota, str]] = Counter()
    for row in read_all(conn, _LiveWork, _live()):
        for counted, _ in quotas.over(QuotaKey(row.queue, row.project, row.type, row.user), row.cluster_id):
            for name in QuotaUse._fields:
                used[counted, name] += getattr(row, name)
    for days in quotas.windows():
        for past in _accounted(conn, days):
            # quotas of core-hours ask for no queue and every type: any stands for all
            for counted, amounts in quotas.over(QuotaKey("", past.project, "normal", past.user), past.cluster_id):
                if amounts.days == days:
                    used[counted, "core_seconds"] += int(past.core_seconds)
    return {counted: QuotaUse(*(used[counted, name] for name in QuotaUse._fields)) for counted, _ in used}


def kinship_columns() -> tuple[Label[str], ...]:
    """Of a campaign on a cluster, joined with its project: what quotas go by."""
    settings = CampaignCluster.c.settings
    return (
        func.coalesce(settings["queue"].astext, "").label("queue"),
        func.coalesce(Project.c.name, "").label("project"),
        func.coalesce(settings["type"].astext, "best-effort").label("type"),
        Campaign.c.grid_user.label("user"),
    )


def put_quota(conn: Connection, rule: QuotaRule, amounts: QuotaAmounts, cluster: str = "") -> None:
    """Declare it in place of an earlier one; jobs that live already keep what they have."""
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    conn.execute(delete(Quota).where(_is(rule, cluster_id)))
    hours = None if amounts.core_seconds is None else amounts.core_seconds / HOUR
    values = {"cores": amounts.cores, "jobs": amounts.jobs, "core_hours": hours, "days": amounts.days}
    conn.execute(insert(Quota).values(**_named(rule), cluster_id=cluster_id, **values))
    wake(conn)


def remove_quota(conn: Connection, rule: QuotaRule, cluster: str = "") -> None:
    """That of one cluster, or without a name that of all together; raise NotFound when there is none."""
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    if not conn.execute(delete(Quota).where(_is(rule, cluster_id)).returning(Quota.c.id)).all():
        raise NotFound(f"{as_words(rule)} has no such quota; `cigri quota list` shows them")
    wake(conn)


def list_quotas(conn: Connection) -> list[QuotaView]:
    """Sorted by rule and cluster; what is for each of some is in use by nobody in particular."""
    quotas = find_quotas(conn)
    used = used_of_quotas(conn, quotas)
    names = {row.id: row.name for row in conn.execute(select(Cluster.c.id, Cluster.c.name))}
    views = []
    for row in read_all(conn, _DeclaredQuota, _rows()):
        rule = QuotaRule(row.queue, row.project, row.type, row.user)
        own = None if rule.is_of_each else used.get(CountedQuota(rule, row.cluster_id, row.days), NO_USE)
        views.append(
            QuotaView(
                rule=str(rule),
                cluster=names.get(row.cluster_id) if row.cluster_id is not None else None,
                cores=row.cores,
                used_cores=own.cores if own else None,
                jobs=row.jobs,
                used_jobs=own.jobs if own else None,
                core_hours=row.core_hours,
                used_core_hours=round(own.core_seconds / HOUR, 1) if own and row.days else None,
                days=row.days,
            )
        )
    return sorted(views, key=lambda view: (view.rule, view.cluster or ""))


def _rows() -> Select[*tuple[object, ...]]:
    row = Quota.c
    user = row.grid_user.label("user")
    return select(row.queue, row.project, row.type, user, row.cluster_id, row.cores, row.jobs, row.core_hours, row.days)


@cache
def _live() -> Select[*tuple[object, ...]]:
    kinship = kinship_columns()
    part, here = CampaignCluster.c, and_(Job.c.campaign_id == Campaign.c.id, Job.c.state != JobState.ENDED)
    sums = (
        cast(func.sum(Job.c.width), BigInteger).label("cores"),
        func.count().label("jobs"),
        cast(func.sum(Job.c.width * Job.c.walltime), BigInteger).label("core_seconds"),
    )
    return (
        select(*kinship, Job.c.cluster_id, *sums)
        .select_from(Job)
        .join(Campaign, and_(here, Job.c.kind == JobKind.TASKS))
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .group_by(*(column.element for column in kinship), Job.c.cluster_id)
    )


def _accounted(conn: Connection, days: int) -> list[_Accounted]:
    """Today, in UTC, is one of the days."""
    row = Accounting.c
    first = func.date_trunc("day", func.now()) - cast(literal(f"{days - 1} days"), Interval)
    sums = (
        select(
            row.grid_user.label("user"),
            row.project,
            Cluster.c.id.label("cluster_id"),
            cast(func.sum(row.core_seconds), DOUBLE_PRECISION).label("core_seconds"),
        )
        .join(Cluster, Cluster.c.name == row.cluster)
        .where(row.day >= first)
        .group_by(row.grid_user, row.project, Cluster.c.id)
    )
    return read_all(conn, _Accounted, sums)


def _named(rule: QuotaRule) -> dict[str, str]:
    return {"queue": rule.queue, "project": rule.project, "type": rule.type, "grid_user": rule.user}


def _is(rule: QuotaRule, cluster_id: int | None) -> ColumnElement[bool]:
    return and_(
        *(Quota.c[name] == word for name, word in _named(rule).items()),
        Quota.c.cluster_id.is_not_distinct_from(cluster_id),
    )
