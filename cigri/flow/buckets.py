"""Buckets: tasks sorted by what they ask for, on their way into the tables.
Given by: operator, users.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from psycopg import Copy
from sqlalchemy import Connection, insert, select

from cigri.errors import ConfigError
from cigri.flow.views.queues import list_queues
from cigri.formats.units import MEGABYTE
from cigri.requirements import property_of
from cigri.resources.bucket_amounts import AMOUNTS_KEY, Formulas, formulas_of
from cigri.resources.own_amounts import OWN_KEY
from cigri.states import TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.tasks import Task
from cigri.tables.transitions import initial_state

if TYPE_CHECKING:
    from cigri.jdl.task_amounts import BucketSorter


COPY_BLOCK = 2**18  # characters

BucketKey = tuple[int | None, tuple[int, ...]]
"""The cluster that is tested, and the sizes asked for: tasks that have it in common are in one bucket."""


class BucketWriter:
    """The buckets of a campaign on its clusters, which are there already; each is made when the first task needs it.

    `only` has all tasks where nothing is computed for them. `tested`: task number n of a test is for the n-th of these
    clusters, in a bucket of its own.
    """

    def __init__(
        self, conn: Connection, campaign_id: int, requirements: Mapping[str, Any], tested: Sequence[int] = ()
    ) -> None:
        self._conn, self._campaign_id, self._tested = conn, campaign_id, tested
        self.made: list[int] = []
        self._shared = {name: value for name, value in requirements.items() if name != AMOUNTS_KEY}
        formulas = _formulas(conn, campaign_id)
        self._sorting = _sorting(conn, formulas) if any(formulas.values()) else None
        self.only: int | None = None
        self._ids: dict[BucketKey, int] = {}
        existing = select(Bucket.c.id, Bucket.c.requirements).where(Bucket.c.campaign_id == campaign_id)
        every = conn.execute(existing.order_by(Bucket.c.id)).all()
        rows = [row for row in every if OWN_KEY not in row.requirements]  # new tasks have what is described
        self._is_none = not rows
        if self._sorting is not None:
            sizes = [(row.id, row.requirements.get(AMOUNTS_KEY)) for row in rows]
            self._ids = {(None, self._sorting.key_of(amounts)): id for id, amounts in sizes if amounts is not None}
        elif not tested:
            self.only = rows[0].id if rows else self._insert({})

    def find(self, number: int, parameter: object) -> int | None:
        """The bucket of a task; None when it has to be made."""
        return self.only if self.only is not None else self._ids.get(self._key(number, parameter))

    def make(self, number: int, parameter: object) -> None:
        """Insert the bucket of this task, unless it is there already."""
        if self.only is not None or (key := self._key(number, parameter)) in self._ids:
            return
        cluster_id, sizes = key
        amounts = {AMOUNTS_KEY: self._sorting.amounts(sizes)} if self._sorting is not None else {}
        self._ids[key] = self._insert(amounts, cluster_id)

    def finish(self) -> None:
        """Insert the one bucket of a campaign that has no task yet."""
        if self.only is None and self._is_none and not self._ids:
            self._insert({})

    def _key(self, number: int, parameter: object) -> BucketKey:
        cluster_id = self._tested[number] if self._tested else None
        return cluster_id, () if self._sorting is None else self._sorting.key(parameter, number)

    def _insert(self, amounts: Mapping[str, Any], cluster_id: int | None = None) -> int:
        requirements = {**self._shared, **amounts}
        new = insert(Bucket).values(campaign_id=self._campaign_id, requirements=requirements, cluster_id=cluster_id)
        self.made.append(self._conn.execute(new.returning(Bucket.c.id)).scalar_one())
        return self.made[-1]


def copy_tasks(
    conn: Connection,
    campaign_id: int,
    buckets: BucketWriter,
    first: int,
    parameters: Iterable[object],
    *,
    are_blocked: bool = False,
) -> int:
    """Insert tasks, numbered from `first`, and give their number. COPY pauses only where one is the first of its
    bucket. Those of a campaign that waits for others `are_blocked`."""
    state = initial_state(Task.c.state, TaskState.BLOCKED if are_blocked else TaskState.WAITING)
    raw = conn.connection.driver_connection
    assert raw is not None
    tasks = enumerate(parameters, start=first)
    task = next(tasks, None)
    copied = 0
    with raw.cursor() as cursor:
        while task is not None:
            buckets.make(*task)
            with cursor.copy("COPY tasks (state, campaign_id, bucket_id, number, parameter) FROM STDIN") as out:
                number, task = _copy_known(out, f"{state}\t{campaign_id}", buckets, chain([task], tasks))
            copied += number
    return copied


def _formulas(conn: Connection, campaign_id: int) -> dict[str, Formulas]:
    """By cluster, also those that the grid may choose for the campaign later."""
    part = CampaignCluster.c
    anywhere = conn.scalar(select(Campaign.c.anywhere).where(Campaign.c.id == campaign_id)) or {}
    own_settings = select(Cluster.c.name, part.settings).join(Cluster, Cluster.c.id == part.cluster_id)
    parts = conn.execute(own_settings.where(part.campaign_id == campaign_id))
    settings = {name: place["settings"] for name, place in anywhere.items()} | {name: own for name, own in parts}
    return {name: formulas_of(own) for name, own in settings.items()}


def _sorting(conn: Connection, formulas: Mapping[str, Formulas]) -> "BucketSorter":
    """By what is asked for, and by the most that jobs may have on each cluster, as far as that is known."""
    from cigri.drivers import load
    from cigri.jdl.task_amounts import BucketSorter
    from cigri.settings.cluster_config import parse_config

    sizes: dict[str, set[int]] = defaultdict(set)
    nodes = [properties for queue in list_queues(conn) if queue.cluster in formulas for properties in queue.classes]
    for name in {name for wanted in formulas.values() for name in wanted}:
        node_sizes = (properties.get(property_of(name)) for properties in nodes)
        sizes[name] = {size // MEGABYTE if name == "mem" else size for size in node_sizes if type(size) is int}
    clusters = select(Cluster.c.name, Cluster.c.config).where(Cluster.c.name.in_(formulas))
    for name, values in conn.execute(clusters).all():
        config = parse_config(name, dict(values)).in_use
        try:
            largest = load(config.driver, config.options).largest()
        except ConfigError:  # whoever speaks to that cluster says so; here it only rounds less finely
            continue
        for resource, most in largest.items():
            sizes[resource].add(most)
    return BucketSorter(formulas.values(), {resource: sorted(amounts) for resource, amounts in sizes.items()})


def _copy_known(
    out: Copy, head: str, buckets: BucketWriter, tasks: Iterable[tuple[int, object]]
) -> tuple[int, tuple[int, object] | None]:
    """Copy tasks in blocks of text, which need little memory, up to the first whose bucket is not there yet: the number
    copied, and that task (None: there is none). `head`: the columns in which they are all the same."""
    escape = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines: list[str] = []
    copied = size = 0
    unsorted = None
    for number, parameter in tasks:
        bucket_id = buckets.only or buckets.find(number, parameter)
        if bucket_id is None:
            unsorted = number, parameter
            break
        line = f"{head}\t{bucket_id}\t{number}\t{encode(parameter).translate(escape)}\n"
        lines.append(line)
        copied += 1
        size += len(line)
        if size > COPY_BLOCK:
            out.write("".join(lines))
            lines.clear()
            size = 0
    out.write("".join(lines))
    return copied, unsorted
