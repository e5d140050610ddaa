"""The wrapper that runs tasks on clusters, the files of a batch, and the records that come back.

Everything here is text: sh text out, results in. In a user's base directory on a cluster lie

    c<campaign>/b<batch>/job                         the wrapper with the settings of the batch before it
    c<campaign>/b<batch>/tasks.<part>                what each array index runs
    c<campaign>/b<batch>/script                      a prologue or epilogue
    c<campaign>/b<batch>/journal.<index>             the truth about a job: its start, the end of each of its tasks
    c<campaign>/b<batch>/<index>.<position>.out/.err
    c<campaign>/b<batch>/<index>.<position>.d/       the outputs of a task that is to bring some
    c<campaign>/b<batch>/<index>.<position>.work/    the directory of a task that has its own
    c<campaign>/b<batch>/checkpoint.<index>          a user's wish for a checkpoint, until the task is signalled
    c<campaign>/b<batch>.void/                       the mark of a batch that must not start, and what was written of it
    cache/<sha256>, cache/<sha256>.d/                 inputs of campaigns, while they come `.part`
    outbox/<batch>-<index>                           the ends of a job's tasks, until they are collected
"""

from cigri.wrapper.batch import BatchSpec, CheckpointSignal, JobSpec, TaskSpec, may_be_set, write_batch
from cigri.wrapper.batch_operations import parse_tail, parse_void, purge_campaign, tail, void_batch
from cigri.wrapper.checkpoint_requests import (
    CheckpointRequestFile,
    CheckpointRequestState,
    ask_checkpoints,
    parse_checkpoints,
)
from cigri.wrapper.journal import JobJournal, JobKey, JournalState, journal, parse_journal
from cigri.wrapper.outbox import OutboxContents, OutboxReceipt, OutboxRecord, collect_script, parse_collect, place_of
from cigri.wrapper.records import StartRecord, TaskEndCause, TaskRecord, TaskUse, parse_end, parse_start
from cigri.wrapper.revocation import parse_revoked, revoke

__all__ = [
    "BatchSpec",
    "CheckpointRequestFile",
    "CheckpointRequestState",
    "CheckpointSignal",
    "JobJournal",
    "JobKey",
    "JobSpec",
    "JournalState",
    "OutboxContents",
    "OutboxReceipt",
    "OutboxRecord",
    "StartRecord",
    "TaskEndCause",
    "TaskRecord",
    "TaskSpec",
    "TaskUse",
    "ask_checkpoints",
    "collect_script",
    "journal",
    "may_be_set",
    "parse_checkpoints",
    "parse_collect",
    "parse_end",
    "parse_journal",
    "parse_revoked",
    "parse_start",
    "parse_tail",
    "parse_void",
    "place_of",
    "purge_campaign",
    "revoke",
    "tail",
    "void_batch",
    "write_batch",
]
