"""`cigri doctor --clusters --adopt`: jobs of an older life of this grid become jobs of the database again."""

from typing import NamedTuple

from cigri.database import Database
from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.adopted_jobs import list_unknown_batches, put_adopted
from cigri.flow.clusters import ClusterRow
from cigri.flow.views.stuck_items import list_accounts
from cigri.gateway.requests import ListBatches, ListJobs, ReadBatchManifests
from cigri.gateway.transport_gateway import TransportGateway
from cigri.wrapper.manifest import ManifestJob

ADOPTED_AT_ONCE = 200  # batches that one answer tells of
ADOPTED_SHOWN = 20  # jobs that cannot be adopted


class UnknownJobs(NamedTuple):
    """Jobs that ran or wait on a cluster, and that the database does not know; remote ids where they are queued."""

    jobs: list[ManifestJob]
    remote_ids: dict[tuple[int, int], str]


def look(database: Database, gateway: TransportGateway, cluster: ClusterRow, key: str, *, adopts: bool) -> list[str]:
    """Lines about what lies there, and what became of it."""
    with database.begin() as conn:
        accounts = list_accounts(conn, cluster.id)
    lines: list[str] = []
    for user in accounts:
        try:
            older = _find(database, gateway, cluster, key, user)
        except (TransportError, UnreadableOutput) as error:
            lines.append(f"{user}: {error}")
            continue
        if older.jobs and not adopts:
            lines.append(f"{len(older.jobs)} jobs of {user} that ran or wait: `cigri doctor --clusters --adopt`")
        elif older.jobs:
            lines += _adopt(database, cluster, key, user, older)
    return lines


def _find(database: Database, gateway: TransportGateway, cluster: ClusterRow, key: str, user: str) -> UnknownJobs:
    prefix = f"cigri.{key}."
    lying = gateway.request(cluster, user, ListBatches(key))
    with database.begin() as conn:
        unknown = sorted(list_unknown_batches(conn, list(lying)))
    if not unknown:
        return UnknownJobs([], {})
    listed = gateway.request(cluster, user, ListJobs(prefix))
    by_tag = {f"{prefix}{batch_id}": batch_id for batch_id in unknown}
    remote_ids = {(by_tag[job.tag], job.index): job.remote_id for job in listed if job.tag in by_tag}
    jobs: list[ManifestJob] = []
    for first in range(0, len(unknown), ADOPTED_AT_ONCE):
        places = [(lying[batch_id], batch_id) for batch_id in unknown[first : first + ADOPTED_AT_ONCE]]
        written = gateway.request(cluster, user, ReadBatchManifests(key, places))
        jobs += written
    return UnknownJobs(
        [job for job in jobs if job.is_started or (job.batch_id, job.array_index) in remote_ids], remote_ids
    )


def _adopt(database: Database, cluster: ClusterRow, key: str, user: str, older: UnknownJobs) -> list[str]:
    """Take over what can be, batch by batch."""
    refused: dict[int, str] = {}
    for batch_id in sorted({job.batch_id for job in older.jobs}):
        jobs = [job for job in older.jobs if job.batch_id == batch_id]
        with database.begin() as conn:
            refused |= put_adopted(conn, cluster.id, user, f"cigri.{key}.{batch_id}", jobs, older.remote_ids)
    lines = [f"{len(older.jobs) - len(refused)} jobs of {user} were adopted: the updator asks what became of them"]
    lines += [f"job {job_id} of {user} cannot be: {why}" for job_id, why in list(refused.items())[:ADOPTED_SHOWN]]
    return lines + [f"and {len(refused) - ADOPTED_SHOWN} more"] * (len(refused) > ADOPTED_SHOWN)
