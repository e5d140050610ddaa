"""Clusters: as declared, as seen, and as they are forecast."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Named
from sqlalchemy.dialects.postgresql import JSONB

from cigri.tables.columns import NumberedColumns, TableColumns, table


class ClusterColumns(NumberedColumns):
    """`config` is a ClusterConfig. `blocked_until` is the back-off after `failures` visits in a row that failed.

    `site`: where it stands; empty: at the site of its own name. `clock_skew`: seconds by which the clock of its
    front-end is ahead of the database's, at the least; None: it has not been asked.
    """

    name: Named[str] = Column(unique=True)
    config: Named[dict[str, Any]] = Column(JSONB)
    is_enabled: Named[bool] = Column(server_default="true")
    failures: Named[int] = Column(server_default="0")
    blocked_until: Named[datetime | None]
    visited_at: Named[datetime | None]
    site: Named[str] = Column(server_default="")
    clock_skew: Named[int | None]


Cluster = table(
    "clusters",
    ClusterColumns,
    CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="name"),
    CheckConstraint("site = '' OR site ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="site"),
    CheckConstraint("(failures > 0) = (blocked_until IS NOT NULL)", name="blocked_after_failures"),
)


class UserMappingColumns(TableColumns):
    """The account on a cluster that runs a grid user's jobs; without a row it has the same name."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    grid_user: Named[str] = Column(primary_key=True)
    local_user: Named[str]


UserMapping = table("user_mappings", UserMappingColumns)


class ClusterStateColumns(TableColumns):
    """What a cluster said at the last visit, in cores; `used_by_us` is part of `used`."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    total: Named[int]
    free: Named[int]
    used: Named[int]
    used_by_us: Named[int]
    unavailable: Named[int]


ClusterState = table("cluster_states", ClusterStateColumns)


class ClusterUsageColumns(ClusterStateColumns):
    """The history of cluster_states, one row a period."""

    at: Named[datetime] = Column(primary_key=True)


ClusterUsage = table("cluster_usage", ClusterUsageColumns)


class ClusterRateColumns(TableColumns):
    """How a cluster serves the grid, as measured in the recent past; null: not seen yet.

    cycle: seconds between two forecasts; start_rate: jobs of ours that it starts per second; queue_delay: seconds from
    submission to start when cores are free; arrivals, releases: cores that others take and give back per second;
    hazard: jobs killed per core-second of ours.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    cycle: Named[float | None]
    start_rate: Named[float | None]
    queue_delay: Named[float | None]
    arrivals: Named[float | None]
    releases: Named[float | None]
    hazard: Named[float | None]


ClusterRate = table("cluster_forecasts", ClusterRateColumns)


class QueueLimitColumns(TableColumns):
    """How much of the grid a batch system takes of an account at a time, as it was found out by what it refused.

    `most` was taken, `refused` was not; null: nothing since it was looked for more. `misses`: refusals in a row of no
    more than `most`; `looks`: how often it was looked for more in vain, next at `look_at`. `counts_arrays`: it limits
    arrays, not their jobs. `said`: the last refusal.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    local_user: Named[str] = Column(primary_key=True)
    most: Named[int]
    refused: Named[int | None]
    misses: Named[int]
    looks: Named[int]
    look_at: Named[datetime]
    counts_arrays: Named[bool]
    said: Named[str]


QueueLimit = table("queue_limits", QueueLimitColumns, CheckConstraint("refused > most", name="refused"))


class DrainColumns(TableColumns):
    """An operator's wish to have a cluster empty of our jobs at `deadline`; it is disabled meanwhile.

    `kills`: what runs then is killed, until our jobs have no more than `keep` cores.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    deadline: Named[datetime]
    kills: Named[bool]
    keep: Named[int]
    asked_at: Named[datetime]
    asked_by: Named[str]


Drain = table("drains", DrainColumns, CheckConstraint("keep >= 0", name="keep"))


class NodeDrainColumns(TableColumns):
    """An operator's wish to have a node empty of our jobs at `deadline`; it gets none until it is admitted again."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    node: Named[str] = Column(primary_key=True)
    deadline: Named[datetime]
    asked_at: Named[datetime]
    asked_by: Named[str]


NodeDrain = table("node_drains", NodeDrainColumns)


class ExcludedNodeColumns(TableColumns):
    """A node that gets no job of ours before `until`; after that it is on trial, until a task has ended there well.

    `strikes`: how often in a row it was found to be sick; `asked_by` is cigri, or an operator.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    node: Named[str] = Column(primary_key=True)
    since: Named[datetime]
    until: Named[datetime]
    strikes: Named[int]
    reason: Named[str]
    asked_by: Named[str]


ExcludedNode = table("excluded_nodes", ExcludedNodeColumns, CheckConstraint("strikes > 0", name="strikes"))


class FrontEndStressColumns(TableColumns):
    """What may be asked of a front-end, as a part of the usual: less under stress, for the reason `why`.

    `usual`: seconds in which it answers in good times; `refused`: campaigns whose jobs it has refused since `at`.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    pace: Named[float]
    usual: Named[float | None]
    why: Named[str]
    refused: Named[int]


FrontEndStress = table("cluster_paces", FrontEndStressColumns, CheckConstraint("pace > 0 AND pace <= 1", name="pace"))
