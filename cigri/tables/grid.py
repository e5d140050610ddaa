"""The grid itself: its key, its projects, what happened in it, and how its modules are."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Named
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import EventLevel
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class GridColumns(TableColumns):
    """One row: the short key that names this grid in the jobs and directories it leaves on clusters.

    `resources_version` counts the changes of what is known of clusters, queues and nodes. `identity` and `place` are
    those of the database in which the grid lives (cigri.flow.grid_identity).
    """

    one: Named[bool] = Column(primary_key=True)
    key: Named[str]
    resources_version: Named[int] = Column(server_default="0")
    identity: Named[str | None]
    place: Named[str | None]


Grid = table(
    "grid",
    GridColumns,
    CheckConstraint("one", name="one_row"),
    CheckConstraint("key ~ '^[a-z0-9]{4,8}$'", name="key"),
)


class ProjectColumns(NumberedColumns):
    """Whom campaigns are for."""

    name: Named[str] = Column(unique=True)


Project = table("projects", ProjectColumns)


class EventColumns(NumberedColumns):
    """Something a person may want to know; while open, the same code about the same subject only counts up.

    `is_news`: the notifier has not looked yet whom it is to be told; false where nobody has subscribed to anything.
    """

    code: Named[str]
    level: Named[EventLevel] = Column(one_of(EventLevel))
    subject: Named[str]
    message: Named[str]
    campaign_id: Named[int | None] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    job_id: Named[int | None] = Column(ForeignKey("jobs.id", ondelete="CASCADE"))
    task_id: Named[int | None] = Column(ForeignKey("tasks.id", ondelete="CASCADE"))
    count: Named[int] = Column(server_default="1")
    opened_at: Named[datetime]
    last_at: Named[datetime]
    closed_at: Named[datetime | None]
    closed_by: Named[str | None]
    is_news: Named[bool] = Column(server_default="false")


Event = table(
    "events",
    EventColumns,
    CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name="closed_by"),
    Index("uq_events_open", "code", "subject", unique=True, postgresql_where="closed_at IS NULL"),
    Index("ix_events_campaign", "campaign_id", "id"),
    Index("ix_events_job", "job_id"),
    Index("ix_events_task", "task_id"),
    Index("ix_events_news", "id", postgresql_where="is_news"),
)


class QuarantineColumns(NumberedColumns):
    """A campaign, or a cluster, that has made a module fail in all passes since `since`: it leaves that out `until`."""

    module: Named[str]
    campaign_id: Named[int | None] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    since: Named[datetime]
    until: Named[datetime]
    failures: Named[int]
    error: Named[str]


Quarantine = table(
    "quarantines",
    QuarantineColumns,
    CheckConstraint("num_nonnulls(campaign_id, cluster_id) = 1", name="one_thing"),
    CheckConstraint("failures > 0", name="failures"),
    Index("uq_quarantines_campaign", "module", "campaign_id", unique=True, postgresql_where="campaign_id IS NOT NULL"),
    Index("uq_quarantines_cluster", "module", "cluster_id", unique=True, postgresql_where="cluster_id IS NOT NULL"),
)


class RemoteCommandCountColumns(TableColumns):
    """Remote commands of a module on a cluster since the grid began, answered or not, and their seconds.

    `sessions`: of SSH, that its process kept open there after its last pass.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    module: Named[str] = Column(primary_key=True)
    commands: Named[int]
    seconds: Named[float]
    sessions: Named[int] = Column(server_default="0")


RemoteCommandCount = table("command_counts", RemoteCommandCountColumns)


class GridProcessColumns(TableColumns):
    """The programs that make passes, and the workers of almighties, as they last gave a sign of life.

    `leader`: the pid of the almighty that a worker works for, the own one of others. `activity`: what it is at, since
    `activity_since`. Without another sign by `silent_at`, or still at the same at `late_at`, it counts as stalled; of a
    worker nothing is due, for its almighty ends it.
    """

    host: Named[str] = Column(primary_key=True)
    pid: Named[int] = Column(primary_key=True)
    name: Named[str]
    leader: Named[int]
    seen_at: Named[datetime]
    activity: Named[str] = Column(server_default="")
    activity_since: Named[datetime]
    silent_at: Named[datetime | None]
    late_at: Named[datetime | None]


GridProcess = table("processes", GridProcessColumns)


class ModuleStateColumns(TableColumns):
    """The last pass of each module: what `cigri status` shows.

    `failing_since`: no pass has succeeded since; null: the last one has. `by_almighty`: an almighty cycles it.
    """

    name: Named[str] = Column(primary_key=True)
    host: Named[str]
    pid: Named[int]
    passes: Named[int] = Column(server_default="0")
    failures: Named[int] = Column(server_default="0")
    started_at: Named[datetime]
    seconds: Named[float | None]
    counts: Named[dict[str, Any]] = Column(JSONB)
    error: Named[str | None]
    failing_since: Named[datetime | None]
    by_almighty: Named[bool] = Column(server_default="false")


ModuleState = table(
    "modules",
    ModuleStateColumns,
    CheckConstraint("(error IS NULL) = (failing_since IS NULL)", name="failing_since"),
)
