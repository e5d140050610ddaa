"""Ceilings: limits and quotas of operators, and what live jobs use of them.
Given by: users; taken by: campaign schedulers, metascheduler, users.

The same is asked, under a lock, when jobs are made: so none is exceeded, whoever makes jobs at the same time.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, delete, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.api_models.policy import LimitView
from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.eligibility.quotas import QuotaKey
from cigri.errors import CigriError, NotFound
from cigri.flow.queue_limits import list_campaign_rooms
from cigri.flow.quotas import (
    CountedQuota,
    DeclaredQuotas,
    QuotaAmounts,
    QuotaUse,
    find_quotas,
    kinship_columns,
    used_of_quotas,
)
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, CeilingKind, JobKind, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.grid import Project
from cigri.tables.jobs import Job
from cigri.tables.sharing import CampaignLimit, Limit

CEILINGS_LOCK = "cigri.ceilings"

CampaignClusterKey = tuple[int, int]
"""A campaign and a cluster."""


class Ceiling(NamedTuple):
    """A limit in tokens, a quota (on one cluster; None: on all together), or a campaign's max_jobs there.

    Or what its batch system takes of an account at a time, as learnt. Or so many jobs of tests of a user there: that
    goes before all others, and would be a way around fairness. A quota is in cores, in jobs, or in core-seconds, and
    its name is what it counts.
    """

    kind: CeilingKind
    name: str
    cluster_id: int | None = None


class Ceilings(NamedTuple):
    """By ceiling, the most that was declared and what live jobs use; by share, what one more job takes of which."""

    most: Mapping[Ceiling, int]
    used: Mapping[Ceiling, int]
    costs: Mapping[CampaignClusterKey, Mapping[Ceiling, int]]


class _CeilingRow(NamedTuple):
    campaign_id: int
    cluster_id: int
    width: int
    walltime: int
    max_jobs: int | None
    jobs: QuotaKey


class RemainingCeilings:
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

    def lowest(self, share: CampaignClusterKey) -> tuple[int, Ceiling] | None:
        """How many jobs of it fit, and the ceiling that keeps it from more; None: it is under none."""
        costs = self._costs.get(share)
        if not costs:
            return None
        return min(((max(0, self._left[ceiling] // cost), ceiling) for ceiling, cost in costs.items()), key=_rank)

    def take(self, share: CampaignClusterKey, jobs: int) -> None:
        """So many jobs of the share are made; it does not ask whether they fit (`lowest` says)."""
        for ceiling, cost in self._costs.get(share, {}).items():
            self._left[ceiling] -= jobs * cost


def find_ceilings(conn: Connection, tests: int) -> Ceilings:
    """Limits and quotas that campaigns in treatment are under; others may use them up meanwhile.

    A user may have so many jobs of `tests` on a cluster.
    """
    in_treatment = Campaign.c.state == CampaignState.IN_TREATMENT
    undeclared = _joined(_ceilings_of_tests(conn, tests), _ceilings_of_queues(conn, in_treatment))
    declared = _declared(conn)
    if not declared:
        return undeclared
    in_force = _costs(conn, declared, in_treatment)
    return _joined(in_force._replace(used=_used(conn, declared)), undeclared)


def lock_ceilings(conn: Connection, campaign_id: int) -> Ceilings:
    """All that a campaign is under, its max_jobs too; nobody else makes such jobs before the end of the transaction."""
    declared = _declared(conn)
    of_it = Campaign.c.id == campaign_id
    ceilings = _costs(conn, declared, of_it, with_max_jobs=True)
    if not ceilings.costs and not list_campaign_rooms(conn, of_it):
        return ceilings
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(CEILINGS_LOCK, 0))))
    used = _used(conn, declared) | _used_of_max_jobs(conn, campaign_id)
    return _joined(ceilings._replace(used=used), _ceilings_of_queues(conn, of_it))


def _joined(some: Ceilings, others: Ceilings) -> Ceilings:
    costs = dict(some.costs)
    for share, cost in others.costs.items():
        costs[share] = {**costs.get(share, {}), **cost}
    return Ceilings({**some.most, **others.most}, {**some.used, **others.used}, costs)


def _ceilings_of_queues(conn: Connection, which: ColumnElement[bool]) -> Ceilings:
    """What batch systems take of an account. Where arrays count, there is a ceiling only once no more fits."""
    most, used, costs = dict[Ceiling, int](), dict[Ceiling, int](), dict[CampaignClusterKey, Mapping[Ceiling, int]]()
    for campaign_id, cluster_id, user, room in list_campaign_rooms(conn, which):
        if room.counts_arrays and room.left:
            continue
        ceiling = Ceiling(CeilingKind.QUEUE_LIMIT, user, cluster_id)
        most[ceiling], used[ceiling] = room.allowed, room.used
        costs[campaign_id, cluster_id] = {ceiling: 1}
    return Ceilings(most, used, costs)


def _ceilings_of_tests(conn: Connection, tests: int) -> Ceilings:
    part, live = CampaignCluster.c, select(func.count()).where(_is_live())
    live = live.where(Job.c.campaign_id == part.campaign_id, Job.c.cluster_id == part.cluster_id)
    shares = conn.execute(
        select(part.campaign_id, part.cluster_id, Campaign.c.grid_user, live.scalar_subquery())
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.type == CampaignType.TEST)
    )
    most, used, costs = dict[Ceiling, int](), Counter[Ceiling](), dict[CampaignClusterKey, Mapping[Ceiling, int]]()
    for campaign_id, cluster_id, user, jobs in shares:
        ceiling = Ceiling(CeilingKind.TESTS, user, cluster_id)
        most[ceiling] = tests
        used[ceiling] += jobs
        costs[campaign_id, cluster_id] = {ceiling: 1}
    return Ceilings(most, used, costs)


class _Declarations(NamedTuple):
    limits: Mapping[str, int]
    quotas: DeclaredQuotas

    def __bool__(self) -> bool:
        return bool(self.limits or self.quotas)


def _declared(conn: Connection) -> _Declarations:
    limits = conn.execute(select(Limit.c.name, Limit.c.capacity))
    return _Declarations({name: capacity for name, capacity in limits}, find_quotas(conn))


def _costs(
    conn: Connection, declared: _Declarations, which: ColumnElement[bool], *, with_max_jobs: bool = False
) -> Ceilings:
    """Nothing used so far; shares that are under no ceiling are left out."""
    most, costs = dict[Ceiling, int](), dict[CampaignClusterKey, Mapping[Ceiling, int]]()
    tokens = _tokens(conn, which) if declared.limits else {}
    for row in read_all(conn, _CeilingRow, _parts().where(which)):
        share = row.campaign_id, row.cluster_id
        over = {ceiling: (declared.limits[ceiling.name], cost) for ceiling, cost in tokens.get(share, ())}
        one = QuotaUse(row.width, 1, row.width * row.walltime)
        for counted, amounts in declared.quotas.over(row.jobs, row.cluster_id) if declared.quotas else ():
            over |= {ceiling: (limit, cost) for ceiling, limit, cost in _of_quota(counted, amounts, one)}
        if with_max_jobs and row.max_jobs is not None:
            over[_max_jobs(row.campaign_id, row.cluster_id)] = row.max_jobs, 1
        if over:
            most.update({ceiling: limit for ceiling, (limit, _) in over.items()})
            costs[share] = {ceiling: cost for ceiling, (_, cost) in over.items()}
    return Ceilings(most, {}, costs)


@cache
def _parts() -> Select[*tuple[object, ...]]:
    part = CampaignCluster.c
    walltime = cast(part.settings["walltime"].astext, BigInteger).label("walltime")
    return (
        select(part.campaign_id, part.cluster_id, part.width, walltime, part.max_jobs, *kinship_columns())
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
    )


def _of_quota(counted: CountedQuota, amounts: QuotaAmounts, has: QuotaUse) -> Iterator[tuple[Ceiling, int, int]]:
    """A ceiling for each thing that the quota says the most of, this, and what jobs have of it."""
    name, place = str(counted.rule), counted.cluster_id
    kinds = (CeilingKind.QUOTA_CORES, CeilingKind.QUOTA_JOBS, CeilingKind.QUOTA_CORE_HOURS)
    for kind, most, number in zip(kinds, amounts, has, strict=False):
        if most is not None:
            yield Ceiling(kind, name, place), most, number


def _tokens(conn: Connection, which: ColumnElement[bool]) -> dict[CampaignClusterKey, list[tuple[Ceiling, int]]]:
    need = CampaignLimit
    needs = conn.execute(
        select(need.c.campaign_id, need.c.cluster_id, need.c.limit_name, need.c.tokens)
        .join(Campaign, Campaign.c.id == need.c.campaign_id)
        .where(which)
    )
    tokens: dict[CampaignClusterKey, list[tuple[Ceiling, int]]] = defaultdict(list)
    for campaign_id, cluster_id, name, number in needs:
        tokens[campaign_id, cluster_id].append((Ceiling(CeilingKind.LIMIT, name), number))
    return tokens


def _used(conn: Connection, declared: _Declarations) -> dict[Ceiling, int]:
    used = _live_tokens(conn) if declared.limits else {}
    if declared.quotas:
        any_amount = QuotaAmounts(0, 0, 0, None)
        for counted, has in used_of_quotas(conn, declared.quotas).items():
            used |= {ceiling: number for ceiling, _, number in _of_quota(counted, any_amount, has)}
    return used


def _live_tokens(conn: Connection) -> dict[Ceiling, int]:
    """What live jobs that carry tasks have of each limit."""
    need = CampaignLimit
    here = and_(Job.c.campaign_id == need.c.campaign_id, Job.c.cluster_id == need.c.cluster_id)
    tokens = conn.execute(
        select(need.c.limit_name, cast(func.sum(need.c.tokens), BigInteger))
        .join(Job, here)
        .where(_is_live())
        .group_by(need.c.limit_name)
    )
    return {Ceiling(CeilingKind.LIMIT, name): number for name, number in tokens}


def _used_of_max_jobs(conn: Connection, campaign_id: int) -> dict[Ceiling, int]:
    live = select(Job.c.cluster_id, func.count()).where(Job.c.campaign_id == campaign_id, _is_live())
    counts = conn.execute(live.group_by(Job.c.cluster_id))
    return {_max_jobs(campaign_id, cluster_id): number for cluster_id, number in counts}


def _max_jobs(campaign_id: int, cluster_id: int) -> Ceiling:
    return Ceiling(CeilingKind.MAX_JOBS, str(campaign_id), cluster_id)


def _is_live() -> ColumnElement[bool]:
    return and_(Job.c.state != JobState.ENDED, Job.c.kind == JobKind.TASKS)


def _rank(found: tuple[int, Ceiling]) -> tuple[int, str, str, int]:
    """Of those that let the same number fit, one on all clusters together goes before one on a single cluster."""
    fit, ceiling = found
    return fit, ceiling.kind, ceiling.name, ceiling.cluster_id or 0


def fitting(ceilings: Ceilings, campaign_id: int, jobs: Sequence[tuple[int, int]]) -> list[bool]:
    """Which of the jobs of a campaign are under all ceilings, the first ones first; (cluster, tasks side by side)."""
    left, fits = RemainingCeilings(ceilings), []
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
    used = _live_tokens(conn)
    limits = conn.execute(select(Limit.c.name, Limit.c.capacity).order_by(Limit.c.name))
    return [LimitView(name, capacity, used.get(Ceiling(CeilingKind.LIMIT, name), 0)) for name, capacity in limits]
