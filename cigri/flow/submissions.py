"""Submissions: campaigns, and more tasks for them, as their users hand them over.
Given by: matcher, operator, users; taken by: operator, users.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, and_, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from cigri.database import interval, wake
from cigri.eligibility.quotas import BEST_EFFORT, QuotaKey, as_owner, as_words
from cigri.errors import CigriError, IdempotencyKeyReused, NotFound, RequirementError
from cigri.flow.buckets import BucketWriter, copy_tasks
from cigri.flow.campaigns import reopen_campaign, require_open_to_tasks
from cigri.flow.dependencies import NewDependency, is_shut, put_dependencies, require_same, shut_again
from cigri.flow.quotas import DeclaredQuotas, find_quotas
from cigri.flow.stored_inputs import NewInput, put_needed
from cigri.flow.submit_pools import put_pools
from cigri.flow.subscriptions import put_subscription
from cigri.flow.task_inputs import copy_task_inputs
from cigri.flow.views.queue_verdicts import choose_clusters, list_misses, unheard_of
from cigri.formats.subscriptions import SubscriptionRequest
from cigri.formats.units import HOUR
from cigri.identity.callers import Caller
from cigri.states import CampaignState, CampaignType, StepState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.inputs import CampaignClusterInput
from cigri.tables.sharing import CampaignLimit, Limit
from cigri.tables.tasks import Task
from cigri.tables.transitions import initial_state

KEY_LIFE = 86_400.0  # seconds in which the same key means the same campaign


T = TypeVar("T")


class NewCampaign(NamedTuple):
    """`clusters` gives the settings (ClusterSettings as JSON) by name; `requirements` are those of the bucket.

    `replica_budget` and `max_replicas` are those of the table; both None: no task is replicated. `wanted`: what it
    requires of nodes, as it was written. `anywhere`: the clusters are the grid's choice, and these are used as soon as
    they are eligible: others than the rules of admission were asked about never are; None: they are the user's.
    `written` is the description as its user wrote it, without parameters that are not computed. `notify`: who is told.
    `sent_from`: where relative paths of its inputs begin, on the host of its user.
    """

    name: str
    user: str
    type: CampaignType
    project: str
    scheduler: str
    requirements: Mapping[str, Any]
    clusters: Mapping[str, "NewCampaignCluster"]
    replica_budget: float | None = None
    max_replicas: int | None = None
    wanted: str | Mapping[str, Any] | None = None
    anywhere: Mapping[str, "NewCampaignCluster"] | None = None
    own_priority: int = 0
    written: Mapping[str, Any] | None = None
    notify: Sequence[SubscriptionRequest] = ()
    sent_from: str | None = None


class NewCampaignCluster(NamedTuple):
    settings: Mapping[str, Any]
    width: int
    max_jobs: int | None
    has_prologue: bool
    has_epilogue: bool
    limits: Mapping[str, int] = MappingProxyType({})


class ExtensibleCampaign(NamedTuple):
    """What more tasks of a campaign come to: its user, the number of its tasks and the first parameter, and the
    settings on each cluster."""

    user: str
    tasks: int
    parameter: object | None
    settings: Mapping[str, Mapping[str, Any]]


class IdempotencyKey(NamedTuple):
    """What a user sends to ask again whether a campaign is stored, and the digest of what was sent with it."""

    text: str
    digest: str


def find_submission(conn: Connection, user: str, key: IdempotencyKey | None) -> int | None:
    """The campaign that the user has submitted with this key within a day; None also without a key.

    Raise IdempotencyKeyReused where something else was sent with it. Until this transaction ends, others who look for
    it wait.
    """
    return next(iter(reversed(list_submissions(conn, user, key))), None)


def find_sent(conn: Connection, user: str, key: str) -> int | None:
    """The last campaign that the user has sent with this key, however long ago."""
    sent = select(func.max(Campaign.c.id)).where(Campaign.c.grid_user == user, Campaign.c.submission_key == key)
    return conn.scalar(sent)


def list_submissions(conn: Connection, user: str, key: IdempotencyKey | None) -> list[int]:
    """As find_submission, of stages that were sent together: all of them, in their order."""
    if key is None:
        return []
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"submission {user} {key.text}", 0))))
    row = Campaign.c
    is_late = row.submitted_at > func.now() - interval(KEY_LIFE)
    sent = select(row.id, row.submission_digest).where(
        and_(row.grid_user == user, row.submission_key == key.text, is_late)
    )
    found = conn.execute(sent.order_by(row.id)).all()
    if found and found[-1].submission_digest not in (None, key.digest):
        raise IdempotencyKeyReused(
            f"the key {key.text!r} was sent with another submission, which is campaign {found[-1].id}: "
            "send a new key with each, and the same key only with the same"
        )
    return [campaign.id for campaign in found]


def put_campaign(
    conn: Connection,
    campaign: NewCampaign,
    parameters: Iterable[object],
    key: IdempotencyKey | None = None,
    sums: Iterable[Sequence[str]] | None = None,
    after: Sequence[NewDependency] = (),
) -> int:
    """Store a campaign and its tasks, wake the almighty, and give the campaign's id; it waits for those of `after`.

    A test gets one task for each of its clusters, whatever the number of parameters. By `key` find_submission knows it.
    `sums`: of the files that each of its tasks takes along.
    """
    campaign_id = conn.execute(
        insert(Campaign)
        .values(
            name=campaign.name,
            grid_user=campaign.user,
            project_id=_project(conn, campaign.project),
            type=campaign.type,
            state=initial_state(Campaign.c.state, CampaignState.IN_TREATMENT),
            scheduler=campaign.scheduler,
            submitted_at=func.now(),
            replica_budget=campaign.replica_budget,
            max_replicas=campaign.max_replicas,
            wanted=campaign.wanted,
            anywhere=_plain(campaign.anywhere),
            own_priority=campaign.own_priority,
            written=None if campaign.written is None else dict(campaign.written),
            submission_key=key and key.text,
            submission_digest=key and key.digest,
            tasks_have_inputs=sums is not None,
            sent_from=campaign.sent_from,
        )
        .returning(Campaign.c.id)
    ).scalar_one()
    ids = {row.name: row.id for row in conn.execute(select(Cluster.c.name, Cluster.c.id))}
    if unknown := set(campaign.clusters) - set(ids):
        raise NotFound(f"no cluster {', '.join(sorted(unknown))}; there are: {', '.join(sorted(ids)) or 'none'}")
    if problems := [*list_impossible(conn, campaign)]:
        raise CigriError("; ".join(problems))
    put_needed(conn, campaign_id, campaign.user, _inputs(campaign))
    for wish in campaign.notify:
        put_subscription(conn, campaign.user, wish, campaign_id)
    put_dependencies(conn, campaign_id, after)
    insert_campaign_clusters(conn, campaign_id, {ids[name]: part for name, part in campaign.clusters.items()})
    tested = [ids[name] for name in campaign.clusters] if campaign.type is CampaignType.TEST else []
    buckets = BucketWriter(conn, campaign_id, campaign.requirements, tested)
    of_each = tested_tasks(parameters, len(tested)) if tested else parameters
    tasks = copy_tasks(conn, campaign_id, buckets, 0, of_each, are_blocked=bool(after))
    if sums is not None:
        of_tasks = tested_tasks(sums, len(tested)) if tested else sums
        copy_task_inputs(conn, campaign_id, campaign.user, 0, tasks, of_tasks)
    buckets.finish()
    put_pools(conn, [campaign_id])
    if not tested:  # what cannot be tested on one cluster is tested on the others, and `gridstat` says why
        _require_places(conn, buckets.made)
    wake(conn)
    return campaign_id


def tested_tasks(parameters: Iterable[T], clusters: int) -> Iterator[T]:
    """The parameters of a test, one for each cluster, from the first again where there are too few; none of none."""
    return islice(cycle(parameters), clusters)


def _inputs(campaign: NewCampaign) -> Iterator[NewInput]:
    """On its clusters, and on those that it may use later."""
    for part in (*campaign.clusters.values(), *(campaign.anywhere or {}).values()):
        for needed in part.settings.get("inputs", ()):
            yield NewInput(needed["path"], needed["sha256"])


def _plain(parts: Mapping[str, NewCampaignCluster] | None) -> dict[str, Any] | None:
    if parts is None:
        return None
    return {
        name: part._asdict() | {"settings": dict(part.settings), "limits": dict(part.limits)}
        for name, part in parts.items()
    }


def insert_campaign_clusters(conn: Connection, campaign_id: int, parts: Mapping[int, NewCampaignCluster]) -> None:
    """The campaign uses these clusters, given by id, from now on."""
    share = CampaignCluster.c
    conn.execute(
        insert(CampaignCluster),
        [
            {
                "campaign_id": campaign_id,
                "cluster_id": cluster_id,
                "settings": dict(part.settings),
                "width": part.width,
                "max_jobs": part.max_jobs,
                "prologue": initial_state(share.prologue, StepState.WAITING if part.has_prologue else StepState.NONE),
                "epilogue": initial_state(share.epilogue, StepState.WAITING if part.has_epilogue else StepState.NONE),
                "lacks_inputs": bool(part.settings.get("inputs")),
            }
            for cluster_id, part in parts.items()
        ],
    )
    if inputs := {
        (cluster_id, needed["sha256"], needed["packed"])
        for cluster_id, part in parts.items()
        for needed in part.settings.get("inputs", ())
    }:
        columns = ("campaign_id", "cluster_id", "sha256", "is_packed")
        conn.execute(
            insert(CampaignClusterInput), [dict(zip(columns, (campaign_id, *needed), strict=True)) for needed in inputs]
        )
    if needs := [
        {"campaign_id": campaign_id, "cluster_id": cluster_id, "limit_name": name, "tokens": tokens}
        for cluster_id, part in parts.items()
        for name, tokens in part.limits.items()
    ]:
        conn.execute(insert(CampaignLimit), needs)


def list_impossible(conn: Connection, campaign: NewCampaign) -> Iterator[str]:
    """A sentence for each kind of job that could never be made under the present limits, quotas and queues."""
    parts = {name: part.settings for name, part in campaign.clusters.items()}
    try:
        unheard = unheard_of(conn, campaign.project, campaign.wanted)
        sites = () if unheard.has_known_site else unheard.sites
        miss = choose_clusters(conn, campaign.project, campaign.wanted, parts).miss
    except RequirementError as error:
        yield from (f"requirements: {problem}" for problem in error.problems)
    else:
        yield from (f"requirements: {unknown}" for unknown in sites)
        yield from [f"requirements: no queue is eligible for its jobs; {miss}"] if miss and not sites else ()
    limits = {row.name: row.capacity for row in conn.execute(select(Limit.c.name, Limit.c.capacity))}
    quotas, ids = find_quotas(conn), {row.name: row.id for row in conn.execute(select(Cluster.c.name, Cluster.c.id))}
    for cluster, part in campaign.clusters.items():
        for name, tokens in part.limits.items():
            if name not in limits:
                yield f"clusters.{cluster}.limits: no limit {name}; there are: {', '.join(sorted(limits)) or 'none'}"
            elif tokens > limits[name]:
                change = f"`cigri limit set {name} {tokens}` would change that"
                problem = f"a job takes {tokens} of {name}, and there are {limits[name]}; {change}"
                yield f"clusters.{cluster}.limits: {problem}"
        for problem in _above_quotas(quotas, campaign, cluster, ids.get(cluster, 0)):
            yield f"clusters.{cluster}.resources: {problem}"


def _above_quotas(quotas: DeclaredQuotas, campaign: NewCampaign, cluster: str, cluster_id: int) -> Iterator[str]:
    part = campaign.clusters[cluster]
    settings = part.settings
    own = QuotaKey(settings.get("queue", ""), campaign.project, settings.get("type", BEST_EFFORT), campaign.user)
    for counted, most in quotas.over(own, cluster_id):
        command = f"cigri quota set {as_words(counted.rule)}{{}}{f' --cluster {cluster}' if counted.cluster_id else ''}"
        owner, hours = as_owner(counted.rule), ceil(part.width * settings["walltime"] / HOUR)
        if most.cores is not None and part.width > most.cores:
            change = f"`{command.format(f' {part.width}')}` would change that"
            yield f"a job has {part.width} cores, the quota of {owner} is {most.cores}; {change}"
        if most.jobs == 0:
            yield f"the quota of {owner} is no job; `{command.format(' --jobs 1')}` would change that"
        if most.core_seconds is not None and part.width * settings["walltime"] > most.core_seconds:
            change = f"`{command.format(f' --core-hours {hours}')}` would change that"
            problem = f"a job may use {hours} core-hours, the quota of {owner} is {most.core_seconds / HOUR:g}"
            yield f"{problem} in {most.days} days; {change}"


def put_tasks(
    conn: Connection,
    campaign_id: int,
    caller: Caller,
    parameters: Iterable[object],
    sums: Iterable[Sequence[str]] | None = None,
) -> int:
    """Add tasks to a campaign that is not cancelled, opening it again if it had ended; give the number added.

    `sums`: of the files that each of them takes along.
    """
    require_open_to_tasks(conn, campaign_id, caller)
    requirements = select(Bucket.c.requirements).where(Bucket.c.campaign_id == campaign_id)
    requirements = requirements.order_by(Bucket.c.id).limit(1)  # which has no amounts of its own
    buckets = BucketWriter(conn, campaign_id, conn.execute(requirements).scalar_one())
    first = conn.execute(
        select(func.coalesce(func.max(Task.c.number) + 1, 0)).where(Task.c.campaign_id == campaign_id)
    ).scalar_one()
    shut_again(conn, campaign_id)
    added = copy_tasks(conn, campaign_id, buckets, first, parameters, are_blocked=is_shut(conn, campaign_id))
    if sums is not None:
        user = select(Campaign.c.grid_user).where(Campaign.c.id == campaign_id)
        copy_task_inputs(conn, campaign_id, conn.execute(user).scalar_one(), first, added, sums)
    if added:
        require_same(conn, campaign_id, first + added)
        unmatched = func.coalesce(Campaign.c.unmatched_from, first)
        conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(unmatched_from=unmatched))
        _forget_sources(conn, campaign_id)
        reopen_campaign(conn, campaign_id, caller.user)
        _require_places(conn, buckets.made)
        wake(conn)
    return added


def find_extensible_campaign(conn: Connection, campaign_id: int, caller: Caller) -> ExtensibleCampaign:
    """Raise NotFound when the campaign may not get more tasks."""
    require_open_to_tasks(conn, campaign_id, caller)
    of_campaign = Task.c.campaign_id == campaign_id
    first = select(Task.c.parameter).where(of_campaign).order_by(Task.c.number).limit(1)
    tasks = select(func.coalesce(func.max(Task.c.number) + 1, 0)).where(of_campaign)
    user = select(Campaign.c.grid_user).where(Campaign.c.id == campaign_id)
    part = CampaignCluster.c
    parts = select(Cluster.c.name, part.settings).join(Cluster, Cluster.c.id == part.cluster_id)
    shares = conn.execute(parts.where(part.campaign_id == campaign_id))
    settings = {row.name: row.settings for row in shares}
    return ExtensibleCampaign(
        conn.execute(user).scalar_one(), conn.execute(tasks).scalar_one(), conn.scalar(first), settings
    )


def _forget_sources(conn: Connection, campaign_id: int) -> None:
    """Drop the sources of computed parameters from the stored description: they no longer tell which tasks it has."""
    from cigri.jdl.writing import COMPUTED  # takes a moment

    written = conn.scalar(select(Campaign.c.written).where(Campaign.c.id == campaign_id))
    if written and (left := {key: value for key, value in written.items() if key not in COMPUTED}) != written:
        conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(written=left))


def _project(conn: Connection, name: str) -> int | None:
    if not name:
        return None
    conn.execute(upsert(Project).values(name=name).on_conflict_do_nothing())
    return conn.execute(select(Project.c.id).where(Project.c.name == name)).scalar_one()


def _require_places(conn: Connection, bucket_ids: Collection[int]) -> None:
    """Raise CigriError for a bucket whose amounts, now that they are known, are more than any queue can give."""
    for bucket_id, miss in list_misses(conn, bucket_ids):
        first = conn.scalar(select(func.min(Task.c.number)).where(Task.c.bucket_id == bucket_id))
        raise CigriError(f"requirements: no queue is eligible for task {first} and those like it; {miss}")
