"""Jobs listed again: over, and in their batch system's queue all the same.
Given by: updator; taken by: updator.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.types import TypeEngine

from cigri.database import values_table
from cigri.states import KillReason
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Batch, Job

LISTED: Mapping[str, TypeEngine[Any]] = {"tag": Text(), "array_index": BigInteger(), "remote_id": Text()}
NAMED: Mapping[str, TypeEngine[Any]] = {"id": BigInteger(), "remote_id": Text()}


class RelistedJobs(NamedTuple):
    """How many jobs are over and listed all the same, how many of them were not at the last visit, and one of them."""

    jobs: int
    new: int
    example: str


def list_accounts_with_listed_again(conn: Connection) -> set[tuple[int, str]]:
    """Clusters, and accounts there, of which jobs were listed that are over."""
    theirs = select(Batch.c.cluster_id, Batch.c.local_user).join(Job, Job.c.batch_id == Batch.c.id)
    there = theirs.join(KillRequest, KillRequest.c.job_id == Job.c.id).where(
        KillRequest.c.is_open, KillRequest.c.reason == KillReason.LISTED_AGAIN
    )
    return {(row.cluster_id, row.local_user) for row in conn.execute(there.distinct())}


def put_listed_again(conn: Connection, cluster_id: int, account: str, remote_ids: Mapping[int, str]) -> RelistedJobs:
    """These jobs shall die, by the remote ids that they have now; others of the account not, for that reason."""
    theirs = select(Job.c.id).join(Batch, Batch.c.id == Job.c.batch_id).where(Batch.c.local_user == account)
    gone = theirs.where(Job.c.cluster_id == cluster_id, Job.c.id.not_in(list(remote_ids)))
    is_asked = and_(KillRequest.c.is_open, KillRequest.c.reason == KillReason.LISTED_AGAIN)
    conn.execute(update(KillRequest).where(is_asked, KillRequest.c.job_id.in_(gone)).values(is_open=False))
    if not remote_ids:
        return RelistedJobs(0, 0, "")
    there = values_table("listed", NAMED, list(remote_ids.items()))
    named = update(Job).where(Job.c.id == there.c.id).values(remote_id=there.c.remote_id)
    present = conn.scalars(named.returning(Job.c.id)).all()  # since they were looked for some may have been archived
    if not present:
        return RelistedJobs(0, 0, "")
    wish = {"reason": KillReason.LISTED_AGAIN, "asked_at": func.now(), "asked_by": "updator", "is_open": True}
    statement = insert(KillRequest).values([{"job_id": job_id, **wish} for job_id in present])
    anew = statement.on_conflict_do_update(
        index_elements=[KillRequest.c.job_id], set_={**wish, "sent_at": None, "tries": 0}, where=~KillRequest.c.is_open
    )
    new = conn.execute(anew.returning(KillRequest.c.job_id)).all()
    return RelistedJobs(len(present), len(new), min(remote_ids[job_id] for job_id in present))
