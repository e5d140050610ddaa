"""Known tasks: how long they take, as clusters have shown; of successful ones only.
Given by: operator, runner, updator, users; taken by: predictor, users.

Moving averages by bucket and cluster, and what each task took last, by the command and the parameter of its user.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Connection,
    DateTime,
    Text,
    Uuid,
    and_,
    bindparam,
    cast,
    column,
    delete,
    func,
    literal,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB, Insert, distinct_on, insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select
from sqlalchemy.types import TypeEngine

from cigri.database import IDS, bound_values_table, rows_as_json, values_table
from cigri.database.typed_rows import read_by
from cigri.estimates.durations import averaged
from cigri.states import Outcome
from cigri.tables.campaigns import Bucket, BucketAverage, Campaign, CampaignCluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import LastDuration, Task

LASTED: Mapping[str, TypeEngine[Any]] = {"id": BigInteger(), "seconds": DOUBLE_PRECISION()}

AVERAGES: Mapping[str, TypeEngine[Any]] = {
    "bucket_id": BigInteger(),
    "weight": BigInteger(),
    "seconds": DOUBLE_PRECISION(),
}
PAST: Mapping[str, TypeEngine[Any]] = {
    "parameter": Text(),
    "seconds": DOUBLE_PRECISION(),
    "at": DateTime(timezone=True),
}
REMEMBERED = 500  # latest successes, after which a duration counts for less than a hundredth of a hundredth
LOOKED_UP = 100_000  # tasks, the first ones; they stand for the others
TASKS_AT_ONCE = 10_000


class PastDurations(NamedTuple):
    """Of so many tasks that were looked up, those that ran before: their seconds in all, and the squares of these."""

    looked_up: int = 0
    done: int = 0
    seconds: float = 0.0
    squares: float = 0.0


class LastSuccess(NamedTuple):
    """Of a task with this parameter: seconds, and when it ended."""

    parameter: object
    seconds: float
    at: datetime


class _AveragedTask(NamedTuple):
    """A task, and the moving average of its bucket on a cluster; None: nothing is known yet."""

    bucket_id: int
    weight: int | None
    seconds: float | None
    campaign_id: int
    expected: float | None


def record_durations(conn: Connection, cluster_id: int, lasted: Mapping[int, float]) -> None:
    """By task id the seconds in which it succeeded, in the order of the ends; for averages, and the same task later.

    Rows of what is remembered are written in one order by all.
    """
    buckets: dict[int, list[float]] = defaultdict(list)
    averages: dict[int, tuple[int, float]] = {}
    ended = {"ended": rows_as_json(IDS, [(id,) for id in lasted]), "here": cluster_id}
    tasks = read_by(conn, "task_id", _AveragedTask, _averages(), ended)
    for task_id, duration in lasted.items():
        task = tasks[task_id]
        buckets[task.bucket_id].append(duration)
        averages[task.bucket_id] = task.weight or 0, task.seconds or 0.0
    _compare(conn, cluster_id, [(task.campaign_id, task.expected) for task in tasks.values()])
    new = {id: averaged(*averages[id], durations) for id, durations in buckets.items()}
    parameters = {"ended": rows_as_json(LASTED, list(lasted.items())), "here": cluster_id}
    conn.execute(_remembered(), {**parameters, "averages": _packed(new)})


def _compare(conn: Connection, cluster_id: int, expected: Iterable[tuple[int, float | None]]) -> None:
    """`expected`: campaigns and seconds (None: it never ran before) of tasks that have succeeded; for the cluster's
    speed."""
    by_campaign: dict[int, list[float]] = defaultdict(list)
    for campaign_id, seconds in expected:
        if seconds is not None:
            by_campaign[campaign_id].append(seconds)
    part = CampaignCluster.c
    for campaign_id, durations in by_campaign.items():
        conn.execute(
            update(CampaignCluster)
            .where(part.campaign_id == campaign_id, part.cluster_id == cluster_id)
            .values(known=part.known + len(durations), expected=part.expected + sum(durations))
        )


def command_of(user: ColumnElement[str], settings: ColumnElement[Any]) -> ColumnElement[UUID]:
    """The digest of a user and of the exec_file in these settings: what is the same for tasks that are the same."""
    return _digest(func.concat(user, literal_column("E'\\n'"), settings["exec_file"].astext))


def parameter_of(parameter: ColumnElement[object]) -> ColumnElement[UUID]:
    """The digest of a task's parameter, whatever the order of its names."""
    return _digest(cast(parameter, Text))


def _digest(words: ColumnElement[str]) -> ColumnElement[UUID]:
    whole = func.sha256(func.convert_to(words, literal_column("'UTF8'")))
    return cast(func.encode(func.substr(whole, 1, 16), literal_column("'hex'")), Uuid)


@cache
def _remembered() -> Insert:
    ended, here = bound_values_table("ended", LASTED), bindparam("here", type_=BigInteger)
    part = CampaignCluster.c
    task = (
        select(Task.c.id, Task.c.campaign_id, Task.c.parameter, ended.c.seconds)
        .join(ended, ended.c.id == Task.c.id)
        .cte("task")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    successes = (
        select(
            command_of(Campaign.c.grid_user, part.settings).label("command"),
            parameter_of(task.c.parameter).label("parameter"),
            task.c.seconds,
            task.c.id,
        )
        .join(Campaign, Campaign.c.id == task.c.campaign_id)
        .join(CampaignCluster, and_(part.campaign_id == Campaign.c.id, part.cluster_id == here))
        .subquery()
    )
    same = (successes.c.command, successes.c.parameter)
    last = (
        select(*same, successes.c.seconds, func.now(), here)
        .ext(distinct_on(*same))
        .order_by(*same, successes.c.id.desc())
    )
    statement = insert(LastDuration).from_select(["command", "parameter", "seconds", "at", "cluster_id"], last)
    remembered = statement.on_conflict_do_update(
        index_elements=[LastDuration.c.command, LastDuration.c.parameter],
        set_={name: statement.excluded[name] for name in ("seconds", "at", "cluster_id")},
    )
    return remembered.add_cte(_written().cte("averaged"))


def relearn_durations(conn: Connection, campaign_id: int, cluster_id: int) -> None:
    """From the latest successes, when it has turned out which ones are none, or are after all.

    How fast the cluster is for known tasks is measured on those to come.
    """
    latest = (
        select(Job.c.bucket_id, Attempt.c.seconds)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(Job.c.campaign_id == campaign_id, Job.c.cluster_id == cluster_id, Job.c.bucket_id.is_not(None))
        .where(Attempt.c.outcome == Outcome.SUCCESS)
        .order_by(Job.c.id.desc(), Attempt.c.position.desc())
        .limit(REMEMBERED)
    )
    buckets: dict[int, list[float]] = defaultdict(list)
    for bucket_id, seconds in reversed(conn.execute(latest).all()):
        if bucket_id is not None:
            buckets[bucket_id].append(seconds or 0.0)
    bucket_ids = select(Bucket.c.id).where(Bucket.c.campaign_id == campaign_id)
    conn.execute(
        delete(BucketAverage).where(BucketAverage.c.cluster_id == cluster_id, BucketAverage.c.bucket_id.in_(bucket_ids))
    )
    _write(conn, cluster_id, {id: averaged(0, 0.0, durations) for id, durations in buckets.items()})
    part = CampaignCluster.c
    here = and_(part.campaign_id == campaign_id, part.cluster_id == cluster_id)
    conn.execute(update(CampaignCluster).where(here).values(known=0, expected=0.0))


def _write(conn: Connection, cluster_id: int, averages: Mapping[int, tuple[int, float]]) -> None:
    if averages:
        conn.execute(_written(), {"averages": _packed(averages), "here": cluster_id})


def _packed(averages: Mapping[int, tuple[int, float]]) -> str:
    return rows_as_json(AVERAGES, [(id, *average) for id, average in averages.items()])


@cache
def _averages() -> Select[*tuple[Any, ...]]:
    ended = bound_values_table("ended", IDS)
    average, here = BucketAverage.c, bindparam("here", type_=BigInteger)
    is_same = and_(average.bucket_id == Task.c.bucket_id, average.cluster_id == here)
    return (
        select(Task.c.id.label("task_id"), Task.c.bucket_id, average.weight, average.seconds)
        .add_columns(Task.c.campaign_id, Task.c.expected)
        .join(ended, ended.c.id == Task.c.id)
        .outerjoin(BucketAverage, is_same)
    )


@cache
def _written() -> Insert:
    new, here = bound_values_table("averages", AVERAGES), bindparam("here", type_=BigInteger)
    values = select(new.c.bucket_id, here, new.c.weight, new.c.seconds)
    statement = insert(BucketAverage).from_select(["bucket_id", "cluster_id", "weight", "seconds"], values)
    return statement.on_conflict_do_update(
        index_elements=[BucketAverage.c.bucket_id, BucketAverage.c.cluster_id],
        set_={name: statement.excluded[name] for name in ("weight", "seconds")},
    )


def begin_averages(conn: Connection, campaign_id: int, cluster_id: int, durations: Iterable[float]) -> None:
    """What tasks of a campaign took on a cluster before it came here, the earliest first, for all that it asks for."""
    average = averaged(0, 0.0, durations)
    buckets = conn.scalars(select(Bucket.c.id).where(Bucket.c.campaign_id == campaign_id))
    _write(conn, cluster_id, dict.fromkeys(buckets, average) if average[0] else {})


def remember_durations(
    conn: Connection, user: str, command: str, cluster_id: int, successes: Collection[LastSuccess]
) -> None:
    """What tasks of this exec_file took elsewhere, where nothing later is known of them."""
    rows = [(json.dumps(one.parameter), one.seconds, one.at.isoformat()) for one in successes]
    past = values_table("past", PAST, rows)
    settings = cast(literal(json.dumps({"exec_file": command})), JSONB)
    digests = command_of(literal(user, Text), settings), parameter_of(cast(past.c.parameter, JSONB))
    last = (
        select(*digests, past.c.seconds, past.c.at, literal(cluster_id, BigInteger))
        .ext(distinct_on(digests[1]))
        .order_by(digests[1], past.c.at.desc())
    )
    statement = insert(LastDuration).from_select(["command", "parameter", "seconds", "at", "cluster_id"], last)
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[LastDuration.c.command, LastDuration.c.parameter],
            set_={name: statement.excluded[name] for name in ("seconds", "at", "cluster_id")},
            where=LastDuration.c.at < statement.excluded.at,
        )
    )


def find_known_past(
    conn: Connection, user: str, commands: Collection[str], parameters: Iterable[object]
) -> PastDurations:
    """What tasks of these parameters took when the user ran one of these commands; past LOOKED_UP none is looked up."""
    settings = (cast(literal(json.dumps({"exec_file": command})), JSONB) for command in commands)
    is_same = or_(*(LastDuration.c.command == command_of(literal(user, Text), of_command) for of_command in settings))
    if conn.scalar(select(LastDuration.c.command).where(is_same).limit(1)) is None:
        return PastDurations()
    past, left = PastDurations(), islice(parameters, LOOKED_UP)
    while block := list(islice(left, TASKS_AT_ONCE)):
        each = func.jsonb_array_elements(cast(literal(json.dumps(block)), JSONB))
        wanted = each.table_valued(column("parameter", JSONB), name="wanted").render_derived()
        seconds = LastDuration.c.seconds
        totals = (func.count(), func.coalesce(func.sum(seconds), 0.0), func.coalesce(func.sum(seconds * seconds), 0.0))
        done, total, squares = conn.execute(
            select(*(totals[0], *(cast(figure, DOUBLE_PRECISION) for figure in totals[1:])))
            .select_from(wanted)
            .join(LastDuration, LastDuration.c.parameter == parameter_of(wanted.c.parameter))
            .where(is_same)
        ).one()
        past = PastDurations(
            past.looked_up + len(block), past.done + done, past.seconds + total, past.squares + squares
        )
    return past
