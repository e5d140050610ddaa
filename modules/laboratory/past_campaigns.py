"""A campaign that its user ran before the simulation begins: what was learnt of its tasks, by CiGri's own functions.

Nobody knew then how long they take: where each of them ran is drawn, a cluster being the likelier the more work its
cores do in a second. It took as long as that cluster is slow.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.database import server_time
from cigri.flow.campaigns import close_campaigns
from cigri.flow.clusters import find_cluster
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.submissions import NewCampaign, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.lifecycle.verdicts import AttemptCounts, decide_verdict
from cigri.settings.sections import JobSettings
from cigri.states import JobKind, Outcome
from modules.laboratory.cluster.simulated_jobs import SimulatedTask
from modules.laboratory.without_inputs import without_inputs


class ClusterPower(NamedTuple):
    """A cluster: on `cores` tasks last as long as drawn over `speed`."""

    name: str
    speed: float
    cores: int


def run_before(
    conn: Connection,
    campaign: NewCampaign,
    parameters: Iterable[object],
    tasks: Sequence[SimulatedTask],
    forces: Sequence[ClusterPower],
    source: Random,
) -> None:
    """All tasks of the campaign, by number, are done at once; the campaign is over."""
    parts = {name: part._replace(max_jobs=None, limits={}) for name, part in campaign.clusters.items()}
    campaign_id = put_campaign(conn, without_inputs(campaign._replace(clusters=parts)), parameters)
    ids = {force.name: cluster.id for force in forces if (cluster := find_cluster(conn, force.name)) is not None}
    chosen = source.choices(forces, [force.speed * force.cores for force in forces], k=len(tasks))
    waiting = take_waiting(conn, campaign_id, len(tasks))
    jobs = [
        NewJob(ids[force.name], parts[force.name].width, 1, [task]) for task, force in zip(waiting, chosen, strict=True)
    ]
    put_jobs(conn, campaign_id, jobs)
    for force in forces:
        _end(conn, ids[force.name], {number: task.seconds / force.speed for number, task in enumerate(tasks)})
    close_campaigns(conn)


def _end(conn: Connection, cluster_id: int, lasted: Mapping[int, float]) -> None:
    """All jobs there have succeeded; `lasted`: seconds by the number of the task."""
    at = server_time(conn).timestamp()
    attempts, jobs = [], []
    for launch in list_launches(conn, cluster_id, len(lasted), len(lasted), len(lasted)):
        for job in launch.jobs:
            [task] = job.tasks
            seconds = lasted[task.number]
            ended = (launch.campaign_id, job.id, task.id, task.attempt, Outcome.SUCCESS, 0, at, seconds)
            attempts.append(
                EndedAttempt(*ended, decide_verdict(Outcome.SUCCESS, AttemptCounts(0, 0, 0, 0), JobSettings()))
            )
            jobs.append(EndedJob(job.id, launch.campaign_id, JobKind.TASKS, Outcome.SUCCESS, 0, "", "", at))
    put_ended(conn, cluster_id, attempts, jobs)
