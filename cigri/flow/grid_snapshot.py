"""A picture of the grid as it stands, for the laboratory to play how it goes on: taken here, put into a copy.
Given by: laboratory; taken by: users.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Table, and_, cast, func, insert, literal, select, tuple_
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from cigri.database import server_time
from cigri.database.typed_rows import read_all, read_by
from cigri.states import CampaignState, TaskState
from cigri.tables.campaigns import Bucket, BucketAverage, Campaign, CampaignCluster, Hold
from cigri.tables.clusters import Cluster, ClusterRate, ClusterState, ClusterUsage
from cigri.tables.grid import Project
from cigri.tables.resources import Queue
from cigri.tables.sharing import Affinity, CampaignLimit, Limit, Quota, Target, Usage
from cigri.tables.tasks import Task, TaskCount

WHOLE: Sequence[Table[Any]] = (Project, Cluster, Queue, Affinity, Target, Limit, Quota, Usage)
TABLES_OF_CAMPAIGNS: Sequence[Table[Any]] = (CampaignCluster, CampaignLimit, Bucket, Hold)
COPIED = (*WHOLE, Campaign, *TABLES_OF_CAMPAIGNS, BucketAverage)
NUMBERED = (Project, Cluster, Queue, Quota, Usage, Campaign, Bucket, Hold)
HISTORY = timedelta(days=7)
USAGE_STEP = 1800.0  # seconds for which one figure of the cores that others use holds

RowsByTable = dict[str, list[dict[str, Any]]]
"""Whole rows, by table."""


class SnapshotCluster(NamedTuple):
    """A cluster as it was last seen, in cores, and as it was measured; null: not yet."""

    total: int
    unavailable: int
    others: int
    cycle: float | None
    start_rate: float | None
    queue_delay: float | None
    hazard: float | None


class CommandStatistics(NamedTuple):
    """What a user's command did on a cluster in all campaigns: tasks that succeeded, their seconds, the squares."""

    user: str
    command: str
    cluster_id: int
    done: int
    seconds: float
    squares: float


class GridSnapshot(NamedTuple):
    """`rows` are those of open campaigns, and of what concerns all; `left` their tasks that are not done.

    `clusters` are those that were ever visited. `others`: cores that other people used on a cluster, the mean of each
    USAGE_STEP of the last days up to `at`, the oldest first.
    """

    at: datetime
    rows: RowsByTable
    left: Mapping[int, int]
    clusters: Mapping[int, SnapshotCluster]
    past: Sequence[CommandStatistics]
    others: Mapping[int, Sequence[float]]


def take_picture(conn: Connection, commands: Collection[tuple[str, str]]) -> GridSnapshot:
    """`commands` are users and commands whose past is wanted beside that of open campaigns. It only reads."""
    at = server_time(conn)
    open_ones = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT)
    rows = {table.name: _rows(conn, table) for table in WHOLE}
    rows[Campaign.name] = _rows(conn, Campaign, Campaign.c.id.in_(open_ones))
    rows |= {table.name: _rows(conn, table, table.c.campaign_id.in_(open_ones)) for table in TABLES_OF_CAMPAIGNS}
    buckets = select(Bucket.c.id).where(Bucket.c.campaign_id.in_(open_ones))
    rows[BucketAverage.name] = _rows(conn, BucketAverage, BucketAverage.c.bucket_id.in_(buckets))
    rows[Hold.name] = [row for row in rows[Hold.name] if row["job_id"] is None]
    users = {row["id"]: row["grid_user"] for row in rows[Campaign.name]}
    shares = rows[CampaignCluster.name]
    in_use = {(users[row["campaign_id"]], row["settings"]["exec_file"]) for row in shares}
    past = _past(conn, {*commands, *in_use})
    return GridSnapshot(at, rows, _left(conn), _clusters(conn), past, _others(conn, at))


def put_picture(conn: Connection, rows: RowsByTable, left: Mapping[int, int]) -> None:
    """Insert these rows into a database that has the schema and nothing else; each campaign gets `left` new tasks."""
    for table in COPIED:
        if rows[table.name]:
            conn.execute(insert(table), rows[table.name])
    for table in NUMBERED:
        if last := max((row["id"] for row in rows[table.name]), default=0):
            conn.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), last)))
    buckets: dict[int, list[int]] = defaultdict(list)
    for row in rows[Bucket.name]:
        buckets[row["campaign_id"]].append(row["id"])
    for campaign_id, tasks in left.items():
        own_buckets = buckets[campaign_id]  # in turn: of a test each is for another cluster
        for first, bucket_id in enumerate(own_buckets):
            number = func.generate_series(first, tasks - 1, len(own_buckets)).column_valued("number")
            values = select(literal(campaign_id), literal(bucket_id), number, func.to_jsonb(number))
            conn.execute(insert(Task).from_select(["campaign_id", "bucket_id", "number", "parameter"], values))


def _rows(conn: Connection, table: Table[Any], *wanted: Any) -> list[dict[str, Any]]:
    columns = [column for column in table.c if column.computed is None]
    return [dict(row) for row in conn.execute(select(*columns).where(*wanted)).mappings()]


def _left(conn: Connection) -> dict[int, int]:
    statement = (
        select(TaskCount.c.campaign_id, cast(func.sum(TaskCount.c.n), BigInteger))
        .join(Campaign, Campaign.c.id == TaskCount.c.campaign_id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .where(TaskCount.c.state.in_((TaskState.BLOCKED, TaskState.WAITING, TaskState.ASSIGNED)))
        .group_by(TaskCount.c.campaign_id)
        .having(func.sum(TaskCount.c.n) > 0)
    )
    return {campaign_id: n for campaign_id, n in conn.execute(statement)}


def _clusters(conn: Connection) -> dict[int, SnapshotCluster]:
    state, measured = ClusterState.c, ClusterRate.c
    statement = select(
        state.cluster_id,
        state.total,
        state.unavailable,
        func.greatest(state.used - state.used_by_us, 0, type_=BigInteger).label("others"),
        measured.cycle,
        measured.start_rate,
        measured.queue_delay,
        measured.hazard,
    ).outerjoin(ClusterRate, measured.cluster_id == state.cluster_id)
    return read_by(conn, "cluster_id", SnapshotCluster, statement)


def _past(conn: Connection, commands: Collection[tuple[str, str]]) -> list[CommandStatistics]:
    part = CampaignCluster.c
    command = part.settings["exec_file"].astext
    statement = (
        select(
            Campaign.c.grid_user.label("user"),
            command.label("command"),
            part.cluster_id,
            cast(func.sum(part.done), BigInteger).label("done"),
            cast(func.sum(part.seconds), DOUBLE_PRECISION).label("seconds"),
            cast(func.sum(part.squares), DOUBLE_PRECISION).label("squares"),
        )
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .where(tuple_(Campaign.c.grid_user, command).in_(sorted(commands)), part.done > 0)
        .group_by(Campaign.c.grid_user, command, part.cluster_id)
    )
    return read_all(conn, CommandStatistics, statement)


def _others(conn: Connection, at: datetime) -> dict[int, list[float]]:
    """By cluster, the cores that others used in each step; a step of which nothing was seen is as the one before it."""
    usage = ClusterUsage.c
    age = func.extract("epoch", literal(at) - usage.at) / USAGE_STEP
    ago = cast(func.floor(age), BigInteger).label("ago")
    mean = cast(func.avg(func.greatest(usage.used - usage.used_by_us, 0)), DOUBLE_PRECISION)
    statement = (
        select(usage.cluster_id, ago, mean)
        .where(and_(usage.at > at - HISTORY, usage.at <= at))
        .group_by(usage.cluster_id, ago)
        .order_by(usage.cluster_id, ago.desc())
    )
    means: dict[int, list[float]] = defaultdict(list)
    expected: dict[int, int] = {}
    for cluster_id, steps_ago, cores in conn.execute(statement):
        gap = expected.get(cluster_id, steps_ago) - steps_ago
        means[cluster_id] += [means[cluster_id][-1]] * gap if gap > 0 else []
        means[cluster_id].append(cores)
        expected[cluster_id] = steps_ago - 1
    return means
