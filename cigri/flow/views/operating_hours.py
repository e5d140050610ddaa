"""Which shares of campaigns are outside their hours, and which jobs have to leave.
Read by: killer, metascheduler, runner.
"""

from collections import defaultdict
from typing import NamedTuple

from sqlalchemy import Connection, and_, select, text

from cigri.database import server_time
from cigri.settings.cluster_config import read_config
from cigri.settings.job_types import NIGHTLY, has_to_leave, hours_of, may_start
from cigri.settings.sections import HoursSettings
from cigri.states import OPEN_CAMPAIGNS, JobKind, JobState
from cigri.tables.campaigns import FOLLOWS_HOURS, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Batch, Job

_WALLTIME = CampaignCluster.c.settings["walltime"].as_integer()


class ClosedByHours(NamedTuple):
    """A campaign that may start no jobs on a cluster now."""

    campaign_id: int
    cluster_id: int


def list_closed_by_hours(conn: Connection, grid: HoursSettings) -> set[ClosedByHours]:
    """Of open campaigns whose jobs are nightly; one on a cluster whose configuration cannot be read is shut."""
    part = CampaignCluster
    shares = conn.execute(
        select(part.c.campaign_id, part.c.cluster_id, _WALLTIME, Cluster.c.name, Cluster.c.config)
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .where(text(FOLLOWS_HOURS), part.c.settings["type"].astext == NIGHTLY)
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS))
    ).all()
    time = server_time(conn) if shares else None
    shut = set()
    for campaign_id, cluster_id, walltime, name, values in shares:
        config = read_config(name, values)
        assert time is not None
        if config is None or not may_start(
            NIGHTLY, hours_of(config, grid), time, walltime, overrun=config.hours_overrun
        ):
            shut.add(ClosedByHours(campaign_id, cluster_id))
    return shut


def list_out_of_hours(conn: Connection, grid: HoursSettings) -> dict[int, list[int]]:
    """By cluster id the jobs that have to leave it now, by id; one that is held in the queue is in nobody's way and may
    stay."""
    part = CampaignCluster
    jobs = conn.execute(
        select(
            Job.c.id,
            Job.c.cluster_id,
            Job.c.state,
            Job.c.halted_since,
            Job.c.walltime,
            Batch.c.created_at,
            part.c.settings["type"].astext.label("type"),
            Cluster.c.name,
            Cluster.c.config,
        )
        .select_from(part)
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .join(Job, and_(Job.c.campaign_id == part.c.campaign_id, Job.c.cluster_id == part.c.cluster_id))
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .where(text(FOLLOWS_HOURS))
        .where(Campaign.c.state.in_(OPEN_CAMPAIGNS))
        .where(Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)), Job.c.kind == JobKind.TASKS)
        .order_by(Job.c.id)
    ).all()
    time = server_time(conn) if jobs else None
    configs = {row.cluster_id: read_config(row.name, row.config) for row in jobs}
    leaving: dict[int, list[int]] = defaultdict(list)
    for row in jobs:
        config, is_running = configs[row.cluster_id], row.state is JobState.RUNNING
        assert time is not None
        if config is None:
            continue
        if (is_running or row.halted_since is None) and has_to_leave(
            row.type,
            hours_of(config, grid),
            time,
            row.walltime,
            submitted_at=row.created_at,
            is_running=is_running,
            overrun=config.hours_overrun,
        ):
            leaving[row.cluster_id].append(row.id)
    return dict(leaving)
