"""`cigri doctor --clusters`: CiGri jobs on a cluster that the database does not know, and the reverse."""

from collections.abc import Set
from typing import NamedTuple

from cigri.database import Database
from cigri.drivers import RemoteJob
from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.views.stuck_items import UnendedJob, list_accounts, list_known
from cigri.gateway.requests import CancelJobs, ListJobs
from cigri.gateway.transport_gateway import TransportGateway

ArrayPosition = tuple[str, int]


class JobDifferences(NamedTuple):
    """`orphans` by account; `absent`: submitted as far as we know, in no queue; `problems`: who could not be asked."""

    orphans: dict[str, list[RemoteJob]]
    absent: list[UnendedJob]
    problems: list[str]


def compare(database: Database, gateway: TransportGateway, cluster: ClusterRow, key: str) -> JobDifferences:
    """Look twice: what differs both times was not just on its way from one to the other."""
    first, second = (_compare_once(database, gateway, cluster, key) for _ in range(2))
    again = {job.remote_id for jobs in first.orphans.values() for job in jobs}
    orphans = {
        user: both for user, jobs in second.orphans.items() if (both := [job for job in jobs if job.remote_id in again])
    }
    absent = [job for job in second.absent if job in first.absent]
    return JobDifferences(orphans, absent, second.problems)


def kill(gateway: TransportGateway, cluster: ClusterRow, orphans: dict[str, list[RemoteJob]]) -> int:
    """How many jobs were killed; raise TransportError or UnreadableOutput."""
    for user, jobs in orphans.items():
        gateway.request(cluster, user, CancelJobs([job.remote_id for job in jobs]))
    return sum(map(len, orphans.values()))


def _compare_once(database: Database, gateway: TransportGateway, cluster: ClusterRow, key: str) -> JobDifferences:
    """The database before and after: a job is known when either says so, and absent when both do."""
    with database.begin() as conn:
        before, accounts = list_known(conn, cluster.id), list_accounts(conn, cluster.id)
    listed, problems = _ask(gateway, cluster, accounts, f"cigri.{key}.")
    with database.begin() as conn:
        after = list_known(conn, cluster.id)
    recorded = {(job.tag, job.array_index) for job in [*before, *after]}
    orphans = {user: _strangers(jobs, recorded) for user, jobs in listed.items()}
    there = {(job.tag, job.index) for jobs in listed.values() for job in jobs}
    absent = [
        job
        for job in before
        if job in after and job.is_submitted and job.local_user in listed and (job.tag, job.array_index) not in there
    ]
    return JobDifferences({user: jobs for user, jobs in orphans.items() if jobs}, absent, problems)


def _ask(
    gateway: TransportGateway, cluster: ClusterRow, accounts: list[str], prefix: str
) -> tuple[dict[str, list[RemoteJob]], list[str]]:
    listed, problems = {}, []
    for user in accounts:
        try:
            listed[user] = gateway.request(cluster, user, ListJobs(prefix))
        except (TransportError, UnreadableOutput) as error:
            problems.append(f"{user}: {error}")
    return listed, problems


def _strangers(jobs: list[RemoteJob], recorded: Set[ArrayPosition]) -> list[RemoteJob]:
    return [job for job in jobs if (job.tag, job.index) not in recorded]
