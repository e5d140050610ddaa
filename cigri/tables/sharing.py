"""Who may use what: offers, what cut them, and what operators have said of users, projects and limits."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, Named

from cigri.states import PendingReasonCode, PrincipalKind
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class AffinityColumns(TableColumns):
    """Under the policy `affinity`, the user's campaigns go first on the cluster."""

    grid_user: Named[str] = Column(primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)


Affinity = table("affinities", AffinityColumns)


class TargetColumns(TableColumns):
    """What is due to a user or a project beside the others; 1 without a row."""

    kind: Named[PrincipalKind] = Column(one_of(PrincipalKind, "subject_kind"), primary_key=True)
    name: Named[str] = Column(primary_key=True)
    share: Named[float]


Target = table("targets", TargetColumns, CheckConstraint("share > 0", name="share"))


class UsageColumns(NumberedColumns):
    """Core-seconds that ended jobs used and had asked for, as much as they count at the time `at`.

    The updator appends, the metascheduler adds up.
    """

    grid_user: Named[str]
    project_id: Named[int | None] = Column(ForeignKey("projects.id"))
    used: Named[float]
    asked: Named[float]
    at: Named[datetime]


Usage = table("usages", UsageColumns)


class LimitColumns(TableColumns):
    """What all live jobs together may use of something: tokens, as licences or the load that a file server bears."""

    name: Named[str] = Column(primary_key=True)
    capacity: Named[int]


Limit = table(
    "limits",
    LimitColumns,
    CheckConstraint("capacity >= 0", name="capacity"),
    CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="name"),
)


class CampaignLimitColumns(TableColumns):
    """The tokens of a limit that each job of a campaign takes on a cluster."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    limit_name: Named[str] = Column(ForeignKey("limits.name"), primary_key=True)
    tokens: Named[int]


CampaignLimit = table(
    "campaign_limits",
    CampaignLimitColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("tokens > 0", name="tokens"),
    Index(None, "limit_name"),
)


class QuotaColumns(NumberedColumns):
    """The most cores, jobs or core-hours of the jobs that a rule counts, on a cluster or (null) on all together.

    Queue, project, type and user as in cigri/eligibility/quotas.py. Core-hours are those of the last `days`, and those
    that live jobs may use.
    """

    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    cores: Named[int | None]
    queue: Named[str]
    project: Named[str]
    type: Named[str]
    grid_user: Named[str]
    jobs: Named[int | None]
    core_hours: Named[float | None]
    days: Named[int | None]


RULE_OF_QUOTA = ("queue", "project", "type", "grid_user")

Quota = table(
    "quotas",
    QuotaColumns,
    CheckConstraint("cores >= 0 AND jobs >= 0 AND core_hours >= 0", name="amounts"),
    CheckConstraint("coalesce(cores, jobs) IS NOT NULL OR core_hours IS NOT NULL", name="something"),
    CheckConstraint("(core_hours IS NULL) = (days IS NULL) AND days > 0", name="days"),
    CheckConstraint("core_hours IS NULL OR (queue = '*' AND type = 'all')", name="accounted"),
    Index("uq_quotas_grid", *RULE_OF_QUOTA, unique=True, postgresql_where="cluster_id IS NULL"),
    Index("uq_quotas_cluster", *RULE_OF_QUOTA, "cluster_id", unique=True, postgresql_where="cluster_id IS NOT NULL"),
)


class OfferColumns(TableColumns):
    """What the metascheduler lets a campaign use of a cluster in this cycle: cores, and jobs at the most.

    `at_once` of the jobs can start at once; of all campaigns' jobs that ask for the same at most `most_queued` may wait
    for cores there, beside the `starting` ones that waited for cores that are free.
    """

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    cores: Named[int]
    jobs: Named[int]
    rank: Named[int]
    at: Named[datetime]
    at_once: Named[int]
    most_queued: Named[int]
    starting: Named[int]


Offer = table(
    "offers",
    OfferColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("cores > 0 AND jobs > 0", name="not_empty"),
)


class PendingReasonColumns(TableColumns):
    """What kept a campaign with waiting tasks from more jobs on a cluster in the last cycle, and since when."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    reason: Named[PendingReasonCode] = Column(one_of(PendingReasonCode, "cut_reason"))
    name: Named[str]
    used: Named[int]
    most: Named[int]
    since: Named[datetime]


PendingReason = table(
    "cuts",
    PendingReasonColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
)


class WaitingReasonColumns(TableColumns):
    """What a batch system says of jobs of a campaign that wait: `said` in its words, `meaning` in ours.

    So many `jobs` of the account do, the first since `since`; `is_stuck`: for what does not come by itself.
    `starts_at`: when the batch system means to start the first of them, if it says so.
    """

    cluster_id: Named[int] = Column(primary_key=True)
    local_user: Named[str] = Column(primary_key=True)
    campaign_id: Named[int] = Column(primary_key=True)
    said: Named[str] = Column(primary_key=True)
    meaning: Named[str]
    is_stuck: Named[bool]
    jobs: Named[int]
    starts_at: Named[datetime | None]
    since: Named[datetime]


WaitingReason = table(
    "waiting_reasons",
    WaitingReasonColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("jobs > 0", name="jobs"),
    Index(None, "campaign_id"),
)
