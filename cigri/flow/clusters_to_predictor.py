"""How long tasks take, as clusters have shown: moving averages by bucket and cluster, of successful tasks only."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Connection, and_, bindparam, delete, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, Insert, insert
from sqlalchemy.sql.selectable import Select
from sqlalchemy.types import TypeEngine

from cigri.database import given, packed
from cigri.durations import averaged
from cigri.states import Outcome
from cigri.tables.campaigns import Bucket, BucketAverage
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task

IDS: Mapping[str, TypeEngine[Any]] = {"id": BigInteger()}
AVERAGES: Mapping[str, TypeEngine[Any]] = {
    "bucket_id": BigInteger(),
    "weight": BigInteger(),
    "seconds": DOUBLE_PRECISION(),
}
REMEMBERED = 500  # latest successes, after which a duration counts for less than a hundredth of a hundredth


def learn(conn: Connection, cluster_id: int, lasted: Mapping[int, float]) -> None:
    """These tasks have succeeded in so many seconds, in this order."""
    buckets: dict[int, list[float]] = defaultdict(list)
    known: dict[int, tuple[int, float]] = {}
    found = conn.execute(_averages(), {"ended": packed(IDS, [(id,) for id in lasted]), "here": cluster_id})
    of = {task_id: (bucket_id, weight, seconds) for task_id, bucket_id, weight, seconds in found}
    for task_id, duration in lasted.items():
        bucket_id, weight, seconds = of[task_id]
        buckets[bucket_id].append(duration)
        known[bucket_id] = weight or 0, seconds or 0.0
    _write(conn, cluster_id, {id: averaged(*known[id], durations) for id, durations in buckets.items()})


def learn_anew(conn: Connection, campaign_id: int, cluster_id: int) -> None:
    """From the latest successes, when it has turned out which ones are none, or are after all."""
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
    mine = select(Bucket.c.id).where(Bucket.c.campaign_id == campaign_id)
    conn.execute(
        delete(BucketAverage).where(BucketAverage.c.cluster_id == cluster_id, BucketAverage.c.bucket_id.in_(mine))
    )
    _write(conn, cluster_id, {id: averaged(0, 0.0, durations) for id, durations in buckets.items()})


def _write(conn: Connection, cluster_id: int, averages: Mapping[int, tuple[int, float]]) -> None:
    if averages:
        values = [(id, *average) for id, average in averages.items()]
        conn.execute(_written(), {"averages": packed(AVERAGES, values), "here": cluster_id})


@cache
def _averages() -> Select[*tuple[Any, ...]]:
    ended = given("ended", IDS)
    average, here = BucketAverage.c, bindparam("here", type_=BigInteger)
    mine = and_(average.bucket_id == Task.c.bucket_id, average.cluster_id == here)
    return (
        select(Task.c.id, Task.c.bucket_id, average.weight, average.seconds)
        .join(ended, ended.c.id == Task.c.id)
        .outerjoin(BucketAverage, mine)
    )


@cache
def _written() -> Insert:
    new, here = given("averages", AVERAGES), bindparam("here", type_=BigInteger)
    values = select(new.c.bucket_id, here, new.c.weight, new.c.seconds)
    statement = insert(BucketAverage).from_select(["bucket_id", "cluster_id", "weight", "seconds"], values)
    return statement.on_conflict_do_update(
        index_elements=[BucketAverage.c.bucket_id, BucketAverage.c.cluster_id],
        set_={name: statement.excluded[name] for name in ("weight", "seconds")},
    )
