"""Clusters, campaigns and jobs in any state, made by the functions that the modules use."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, func, select, update

from cigri.database import Database, interval, server_time
from cigri.database.virtual import VirtualTimeDatabase
from cigri.drivers import Capacity
from cigri.eligibility.quotas import QuotaRule
from cigri.flow.batches import put_batch, put_submitted
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.clusters import find_cluster, put_cluster
from cigri.flow.dependencies import NewDependency
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended
from cigri.flow.events import NewEvent, put_events
from cigri.flow.grid_identity import grid_key
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.live_jobs import ListedJob, list_watched, move_seen
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.flow.quotas import QuotaAmounts, put_quota
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.flow.views.live_attempts import list_attempts
from cigri.lifecycle import CYCLE
from cigri.lifecycle.verdicts import AttemptCounts, decide_verdict
from cigri.settings.sections import JobSettings
from cigri.states import CampaignType, EventLevel, JobState, Outcome, TaskState
from cigri.tables.jobs import Job

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def set_time(place: Database | Connection, moment: datetime) -> None:
    """The rest of this transaction happens then, or all that begin in this database from now on."""
    if isinstance(place, Connection):
        place.execute(select(func.set_config("cigri.now", moment.isoformat(), True)))
        assert server_time(place) == moment
    else:
        assert isinstance(place, VirtualTimeDatabase)
        place.set_time(moment)


def note_passes(conn: Connection, error: str = "", *, by_almighty: bool = False) -> None:
    """Every module has just run, as by cron if not cycled by an almighty; the updator with this error."""
    for name in CYCLE:
        put_pass(conn, ModulePass(name, "host", 1, 0.1, {}, error if name == "updator" else "", by_almighty))


def a_cluster(conn: Connection, name: str = "dahu", *, free: int = 10, used: int = 0, **config: object) -> int:
    """A visited cluster of the local driver."""
    put_cluster(conn, name, {"driver": "local", **config})
    cluster = find_cluster(conn, name)
    assert cluster is not None
    put_cluster_state(conn, cluster.id, Capacity(free + used, free, used, 0), 0)
    return cluster.id


def a_campaign(
    conn: Connection,
    tasks: int | Sequence[object],
    *,
    name: str = "povray",
    user: str = "alice",
    clusters: Sequence[str] = ("dahu",),
    max_replicas: int | None = None,
    after: Sequence[NewDependency] = (),
) -> int:
    """A campaign of tasks that wait: so many, or with these parameters; replicas may use half its core-seconds."""
    parameters: Sequence[object] = [str(i) for i in range(tasks)] if isinstance(tasks, int) else tasks
    settings = {"exec_file": "/bin/true", "walltime": 3600, "retries": 0}
    parts = {cluster: NewCampaignCluster(settings, 1, None, False, False) for cluster in clusters}
    replicas = (0.5, max_replicas) if max_replicas else (None, None)
    campaign = NewCampaign(name, user, CampaignType.DEFAULT, "", "workqueue", {}, parts, *replicas)
    return put_campaign(conn, campaign, parameters, after=after)


def submitted_jobs(conn: Connection, campaign_id: int, cluster_id: int, jobs: int, *, tasks: int = 1) -> list[int]:
    """So many jobs of so many tasks each in the cluster's queue, remote ids r1, r2..."""
    waiting = take_waiting(conn, campaign_id, jobs * tasks)
    assert len(waiting) == jobs * tasks
    chosen = [NewJob(cluster_id, 1, 3600, waiting[i * tasks : (i + 1) * tasks]) for i in range(jobs)]
    put_jobs(conn, campaign_id, chosen)
    return launch_jobs(conn, cluster_id, jobs)


def launch_jobs(conn: Connection, cluster_id: int, jobs: int, *, notice: int | None = None) -> list[int]:
    """So many jobs that wait for it come into the cluster's queue, remote ids r1, r2..."""
    ids = []
    for launch in list_launches(conn, cluster_id, jobs, jobs):
        batch = put_batch(conn, launch, cluster_id, grid_key(conn), notice=notice)
        assert batch is not None
        put_submitted(conn, batch.id, {index: f"r{index}" for index in range(1, len(launch.jobs) + 1)})
        ids += [job.id for job in launch.jobs]
    return ids


def run_jobs(conn: Connection, job_ids: Sequence[int], *, node: str = "node-1") -> None:
    seen = [ListedJob(job_id, JobState.RUNNING, f"r{i}", node) for i, job_id in enumerate(job_ids, start=1)]
    move_seen(conn, seen)


def end_jobs(
    conn: Connection,
    cluster_id: int,
    job_ids: Sequence[int],
    outcome: Outcome = Outcome.SUCCESS,
    *,
    exit_code: int | None = 0,
    seconds: float = 10.0,
    reason: str = "",
    node: str = "node-1",
) -> None:
    """Each task of these jobs ends so after these seconds, as was submitted before; one that is given up is told of."""
    began = func.now() - interval(seconds)
    conn.execute(update(Job).where(Job.c.id.in_(job_ids)).values(submitted_at=func.least(Job.c.submitted_at, began)))
    campaigns = {job.job_id: job.campaign_id for job in list_watched(conn, cluster_id, 0.0)}
    kinds = {job.job_id: job.kind for job in list_watched(conn, cluster_id, 0.0)}
    started = server_time(conn).timestamp() - seconds
    ended = []
    for live in list_attempts(conn, job_ids):
        past = AttemptCounts(live.failures, live.deaths, live.resubmissions, live.retries)
        about = (campaigns[live.job_id], live.job_id, live.task_id, live.number)
        verdict = decide_verdict(outcome, past, JobSettings())
        ended.append(EndedAttempt(*about, outcome, exit_code, started, seconds, verdict))
    jobs = [EndedJob(i, campaigns[i], kinds[i], outcome, exit_code, node, reason, started) for i in job_ids]
    put_ended(conn, cluster_id, ended, jobs)
    for one in ended:
        if one.verdict.state is TaskState.FAILED:
            message = f"{outcome}, exit code {exit_code}; stderr ends: no such file"
            ids = (one.campaign_id, cluster_id, one.job_id, one.task_id)
            put_events(conn, [NewEvent("TASK_FAILED", EventLevel.ERROR, f"task {one.task_id}", message, *ids)])


def a_quota(
    conn: Connection,
    rule: str,
    cores: int | None = None,
    jobs: int | None = None,
    core_hours: float | None = None,
    cluster: str = "",
    days: int = 30,
) -> None:
    """`rule`: QUEUE,PROJECT,TYPE,USER."""
    seconds = None if core_hours is None else round(core_hours * 3600)
    amounts = QuotaAmounts(cores, jobs, seconds, None if core_hours is None else days)
    put_quota(conn, QuotaRule.parse(rule), amounts, cluster)
