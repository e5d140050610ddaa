"""Ceilings: limits and quotas that operators declare, and what live jobs use of them.
Given by: users; taken by: campaign schedulers, metascheduler, users.

The same is asked, under a lock, when jobs are made: so none is exceeded, whoever makes jobs at the same time.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, delete, func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.elements import ColumnElement

from cigri.answers.policy import LimitView, QuotaView
from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.errors import CigriError, NotFound
from cigri.flow.precedence import Subject, find_cluster_id
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, CeilingKind, JobKind, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.jobs import Job
from cigri.tables.policy import CampaignLimit, Limit, Quota

EVERYBODY = "*"
CEILINGS_LOCK = "cigri.ceilings"

Share = tuple[int, int]
"""A campaign and a cluster."""


class Ceiling(NamedTuple):
    """A limit in tokens, a quota in cores (on one cluster; None: on all together), or a campaign's max_jobs there.

    Or so many jobs of tests of a user there: that goes before all others, and would be a way around fairness.
    """

    kind: CeilingKind
    name: str
    cluster_id: int | None = None


class Ceilings(NamedTuple):
    """By ceiling, the most that was declared and what live jobs use; by share, what one more job takes of which."""

    most: Mapping[Ceiling, int]
    used: Mapping[Ceiling, int]
    costs: Mapping[Share, Mapping[Ceiling, int]]


class _Part(NamedTuple):
    campaign_id: int
    cluster_id: int
    width: int
    max_jobs: int | None
    user: str
    project: str


class Left:
    """How many tokens, cores or jobs are left under each ceiling while jobs are given out."""

    def __init__(self, ceilings: Ceilings) -> None:
        self._costs, self._most = ceilings.costs, ceilings.most
        self._left = {ceiling: most - ceilings.used.get(ceiling, 0) for ceiling, most in ceilings.most.items()}
        self._campaigns = {campaign_id for campaign_id, _ in ceilings.costs}

    def most(self, ceiling: Ceiling) -> int:
        """What was declared, in tokens, cores or jobs by the ceiling's kind."""
        return self._most[ceiling]

    def left(self, ceiling: Ceiling) -> int:
        """In the same unit as `most`; below 0 where live jobs have more than is declared now."""
        return self._left[ceiling]

    def is_over(self, campaign_id: int) -> bool:
        """Is the campaign under any ceiling, on whatever cluster?"""
        return campaign_id in self._campaigns

    def lowest(self, share: Share) -> tuple[int, Ceiling] | None:
        """How many jobs of it fit, and the ceiling that keeps it from more; None: it is under none."""
        costs = self._costs.get(share)
        if not costs:
            return None
        return min((max(0, self._left[ceiling] // cost), ceiling) for ceiling, cost in costs.items())

    def take(self, share: Share, jobs: int) -> None:
        """So many jobs of the share are made; it does not ask whether they fit (`lowest` says)."""
        for ceiling, cost in self._costs.get(share, {}).items():
            self._left[ceiling] -= jobs * cost


def find_ceilings(conn: Connection, tests: int) -> Ceilings:
    """Limits and quotas that campaigns in treatment are under; others may use them up meanwhile.

    A user may have so many jobs of `tests` on a cluster.
    """
    of_tests = _ceilings_of_tests(conn, tests)
    declared = _declared(conn)
    if not declared:
        return of_tests
    in_force = _costs(conn, declared, Campaign.c.state == CampaignState.IN_TREATMENT)
    costs = dict(in_force.costs)
    for share, test_cost in of_tests.costs.items():
        costs[share] = {**costs.get(share, {}), **test_cost}
    return Ceilings({**in_force.most, **of_tests.most}, live_use(conn) | dict(of_tests.used), costs)


def lock_ceilings(conn: Connection, campaign_id: int) -> Ceilings:
    """All that a campaign is under, its max_jobs too; nobody else makes such jobs before the end of the transaction."""
    ceilings = _costs(conn, _declared(conn), Campaign.c.id == campaign_id, with_max_jobs=True)
    if not ceilings.costs:
        return ceilings
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(CEILINGS_LOCK, 0))))
    return ceilings._replace(used=live_use(conn) | _used_of_max_jobs(conn, campaign_id))


def _ceilings_of_tests(conn: Connection, tests: int) -> Ceilings:
    part, live = CampaignCluster.c, select(func.count()).where(_is_live())
    live = live.where(Job.c.campaign_id == part.campaign_id, Job.c.cluster_id == part.cluster_id)
    shares = conn.execute(
        select(part.campaign_id, part.cluster_id, Campaign.c.grid_user, live.scalar_subquery())
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.type == CampaignType.TEST)
    )
    most, used, costs = dict[Ceiling, int](), Counter[Ceiling](), dict[Share, Mapping[Ceiling, int]]()
    for campaign_id, cluster_id, user, jobs in shares:
        ceiling = Ceiling(CeilingKind.TESTS, user, cluster_id)
        most[ceiling] = tests
        used[ceiling] += jobs
        costs[campaign_id, cluster_id] = {ceiling: 1}
    return Ceilings(most, used, costs)


def _declared(conn: Connection) -> dict[Ceiling, int]:
    limits = conn.execute(select(Limit.c.name, Limit.c.capacity))
    quotas = conn.execute(select(Quota.c.kind, Quota.c.name, Quota.c.cluster_id, Quota.c.cores))
    most = {Ceiling(CeilingKind.LIMIT, name): capacity for name, capacity in limits}
    return most | {Ceiling(CeilingKind(kind), name, cluster): cores for kind, name, cluster, cores in quotas}


def _costs(
    conn: Connection, declared: Mapping[Ceiling, int], which: ColumnElement[bool], *, with_max_jobs: bool = False
) -> Ceilings:
    """Nothing used so far; shares that are under no ceiling are left out."""
    part, most, costs = CampaignCluster, {}, {}
    tokens = _tokens(conn, which) if declared else {}
    statement = (
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.max_jobs,
            Campaign.c.grid_user.label("user"),
            func.coalesce(Project.c.name, "").label("project"),
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(which)
    )
    for row in read_all(conn, _Part, statement):
        share = row.campaign_id, row.cluster_id
        limits_and_costs = {ceiling: (declared[ceiling], cost) for ceiling, cost in tokens.get(share, ())}
        limits_and_costs |= {ceiling: (cores, row.width) for ceiling, cores in _quotas(row, declared)}
        if with_max_jobs and row.max_jobs is not None:
            limits_and_costs[_max_jobs(row.campaign_id, row.cluster_id)] = row.max_jobs, 1
        if limits_and_costs:
            most.update({ceiling: limit for ceiling, (limit, _) in limits_and_costs.items()})
            costs[share] = {ceiling: cost for ceiling, (_, cost) in limits_and_costs.items()}
    return Ceilings(most, {}, costs)


def _quotas(part: _Part, declared: Mapping[Ceiling, int]) -> Iterator[tuple[Ceiling, int]]:
    """A quota by name goes before that of everybody, which each has for itself."""
    for kind, name in ((CeilingKind.USER, part.user), (CeilingKind.PROJECT, part.project)):
        for cluster_id in (None, part.cluster_id) if name else ():
            own = Ceiling(kind, name, cluster_id)
            cores = declared.get(own, declared.get(own._replace(name=EVERYBODY)))
            if cores is not None:
                yield own, cores


def _tokens(conn: Connection, which: ColumnElement[bool]) -> dict[Share, list[tuple[Ceiling, int]]]:
    need = CampaignLimit
    needs = conn.execute(
        select(need.c.campaign_id, need.c.cluster_id, need.c.limit_name, need.c.tokens)
        .join(Campaign, Campaign.c.id == need.c.campaign_id)
        .where(which)
    )
    tokens: dict[Share, list[tuple[Ceiling, int]]] = defaultdict(list)
    for campaign_id, cluster_id, name, number in needs:
        tokens[campaign_id, cluster_id].append((Ceiling(CeilingKind.LIMIT, name), number))
    return tokens


def live_use(conn: Connection) -> dict[Ceiling, int]:
    """What live jobs that carry tasks have of each limit (tokens) and quota (cores), declared or not."""
    need = CampaignLimit
    here = and_(Job.c.campaign_id == need.c.campaign_id, Job.c.cluster_id == need.c.cluster_id)
    tokens = conn.execute(
        select(need.c.limit_name, cast(func.sum(need.c.tokens), BigInteger))
        .join(Job, here)
        .where(_is_live())
        .group_by(need.c.limit_name)
    )
    used = Counter({Ceiling(CeilingKind.LIMIT, name): number for name, number in tokens})
    cores = conn.execute(
        select(
            Campaign.c.grid_user,
            func.coalesce(Project.c.name, ""),
            Job.c.cluster_id,
            cast(func.sum(Job.c.width), BigInteger),
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(_is_live())
        .group_by(Campaign.c.grid_user, Project.c.name, Job.c.cluster_id)
    )
    for user, project, cluster_id, number in cores:
        for kind, name in ((CeilingKind.USER, user), (CeilingKind.PROJECT, project)):
            for where in (None, cluster_id):
                used[Ceiling(kind, name, where)] += number
    return used


def _used_of_max_jobs(conn: Connection, campaign_id: int) -> dict[Ceiling, int]:
    live = select(Job.c.cluster_id, func.count()).where(Job.c.campaign_id == campaign_id, _is_live())
    counts = conn.execute(live.group_by(Job.c.cluster_id))
    return {_max_jobs(campaign_id, cluster_id): number for cluster_id, number in counts}


def _max_jobs(campaign_id: int, cluster_id: int) -> Ceiling:
    return Ceiling(CeilingKind.MAX_JOBS, str(campaign_id), cluster_id)


def _is_live() -> ColumnElement[bool]:
    return and_(Job.c.state != JobState.ENDED, Job.c.kind == JobKind.TASKS)


def fitting(ceilings: Ceilings, campaign_id: int, jobs: Sequence[tuple[int, int]]) -> list[bool]:
    """Which of the jobs of a campaign are under all ceilings, the first ones first; (cluster, tasks side by side)."""
    left, fits = Left(ceilings), []
    for cluster_id, side in jobs:
        share = campaign_id, cluster_id
        lowest = left.lowest(share)
        fits.append(lowest is None or lowest[0] >= side)
        if fits[-1]:
            left.take(share, side)
    return fits


def put_limit(conn: Connection, name: str, capacity: int) -> None:
    """Declare a limit or change its capacity; jobs that live already keep what they have."""
    new = upsert(Limit).values(name=name, capacity=capacity)
    conn.execute(new.on_conflict_do_update(index_elements=["name"], set_={"capacity": new.excluded.capacity}))
    wake(conn)


def remove_limit(conn: Connection, name: str) -> None:
    """Raise CigriError when an open campaign asks for it, NotFound when there is none."""
    is_limit = CampaignLimit.c.limit_name == name
    asking = select(CampaignLimit.c.campaign_id).join(Campaign, Campaign.c.id == CampaignLimit.c.campaign_id)
    campaign = conn.scalar(asking.where(is_limit, Campaign.c.state.in_(OPEN_CAMPAIGNS)).limit(1))
    if campaign is not None:
        raise CigriError(f"open campaigns ask for {name} (e.g. {campaign}); give it another capacity instead")
    conn.execute(delete(CampaignLimit).where(is_limit))
    if not conn.execute(delete(Limit).where(Limit.c.name == name).returning(Limit.c.name)).all():
        raise NotFound(f"no limit {name}; `cigri limit list` shows them")


def list_limits(conn: Connection) -> list[LimitView]:
    """Sorted by name; `used` are the tokens that live jobs have."""
    used = live_use(conn)
    limits = conn.execute(select(Limit.c.name, Limit.c.capacity).order_by(Limit.c.name))
    return [LimitView(name, capacity, used.get(Ceiling(CeilingKind.LIMIT, name), 0)) for name, capacity in limits]


def put_quota(conn: Connection, subject: Subject, cores: int, cluster: str = "") -> None:
    """The most cores of live jobs of a user or project, on one cluster or on all together."""
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    conn.execute(delete(Quota).where(_is(subject, cluster_id)))
    conn.execute(insert(Quota).values(**subject._asdict(), cluster_id=cluster_id, cores=cores))
    wake(conn)


def remove_quota(conn: Connection, subject: Subject, cluster: str = "") -> None:
    """That of one cluster, or without a name that of all together; raise NotFound when there is none."""
    cluster_id = find_cluster_id(conn, cluster) if cluster else None
    if not conn.execute(delete(Quota).where(_is(subject, cluster_id)).returning(Quota.c.id)).all():
        raise NotFound(f"{subject.kind} {subject.name} has no such quota; `cigri quota list` shows them")
    wake(conn)


def list_quotas(conn: Connection) -> list[QuotaView]:
    """Sorted by kind, name and cluster; the quota of everybody is in use by nobody in particular."""
    used = live_use(conn)
    quotas = conn.execute(
        select(Quota.c.kind, Quota.c.name, Quota.c.cluster_id, Cluster.c.name, Quota.c.cores)
        .outerjoin(Cluster, Cluster.c.id == Quota.c.cluster_id)
        .order_by(Quota.c.kind, Quota.c.name, Cluster.c.name)
    )
    views = []
    for kind, name, cluster_id, cluster, cores in quotas:
        in_use = used.get(Ceiling(CeilingKind(kind), name, cluster_id), 0)
        views.append(QuotaView(kind, name, cluster, cores, None if name == EVERYBODY else in_use))
    return views


def _is(subject: Subject, cluster_id: int | None) -> ColumnElement[bool]:
    here = Quota.c.cluster_id.is_not_distinct_from(cluster_id)
    return (Quota.c.kind == subject.kind) & (Quota.c.name == subject.name) & here
