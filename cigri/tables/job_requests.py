"""What jobs on clusters are asked for: to end, to save their state, to stand still."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, Named

from cigri.states import JobState, KillReason
from cigri.tables.columns import TableColumns, one_of, table


class KillRequestColumns(TableColumns):
    """A wish to see a job dead; open until the job has ended."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    reason: Named[KillReason] = Column(one_of(KillReason))
    asked_at: Named[datetime]
    asked_by: Named[str]
    sent_at: Named[datetime | None]
    tries: Named[int] = Column(server_default="0")
    is_open: Named[bool] = Column(server_default="true")


KillRequest = table("kills", KillRequestColumns, Index("ix_kills_open", "job_id", postgresql_where="is_open"))


class ShutdownNoticeColumns(TableColumns):
    """When a running job was told that it will be shut down, and its machine; `was_heard`: the files are ours to write.

    `machine_only`: it should be over by then. `is_past`: the time has come, and MACHINEFEATURES tell of it no longer.
    """

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    was_heard: Named[bool]
    machine_only: Named[bool] = Column(server_default="false")
    is_past: Named[bool] = Column(server_default="false")


ShutdownNotice = table("shutdowns", ShutdownNoticeColumns)


class CheckpointRequestColumns(TableColumns):
    """A user's wish to see a running job save its state; open until the task was signalled or the job has ended."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    asked_at: Named[datetime]
    asked_by: Named[str]
    sent_at: Named[datetime | None]
    heard_at: Named[datetime | None]
    looks: Named[int] = Column(server_default="0")
    is_open: Named[bool] = Column(server_default="true")


CheckpointRequest = table(
    "checkpoint_requests",
    CheckpointRequestColumns,
    Index("ix_checkpoint_requests_open", "job_id", postgresql_where="is_open"),
)


class SuspensionColumns(TableColumns):
    """What the killer last told a cluster about a job: stand still (`is_wanted`) or go on, and the job's state then."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    is_wanted: Named[bool]
    state: Named[JobState] = Column(one_of(JobState))
    sent_at: Named[datetime | None]
    tries: Named[int]


Suspension = table("halts", SuspensionColumns)
