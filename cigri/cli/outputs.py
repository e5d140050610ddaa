"""Brings what a job wrote from its cluster: all its tasks in one remote command, as the account that ran them."""

import sys
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from cigri.cli.command import safe
from cigri.cli.wording import moment
from cigri.errors import CigriError, NotFound
from cigri.flow.views.jobs import AttemptView, JobView
from cigri.states import JobKind, JobState
from cigri.wrapper import JobKey
from cigri.wrapper.directory import Stream

if TYPE_CHECKING:
    from cigri.flow.clusters import ClusterRow

MAX_BYTES = 1_000_000


class OutputFile(NamedTuple):
    """An output of a job; `title` is for a person."""

    position: int
    stream: Stream
    title: str


def require_owner(job: JobView, user: str) -> None:
    """An output belongs to the campaign's owner."""
    if user not in (job.user, "root"):
        raise NotFound(f"job {job.id} belongs to {job.user}: only {job.user} and root may read its output")


def print_outputs(
    cluster: "ClusterRow", key: str, job: JobView, attempts: Sequence[AttemptView], streams: Sequence[Stream]
) -> int:
    """Print each output, under a title where there are several; 1 when one of them is missing."""
    places = _places(job, attempts, streams)
    texts = _fetch(cluster, key, job, places)
    missing = [place for place, text in zip(places, texts, strict=True) if text is None]
    if len(missing) == len(places):
        raise NotFound(_why_missing(job))
    for place, text in zip(places, texts, strict=True):
        if text is None:
            print(f"job {job.id}: {place.title}: {_why_missing(job)}", file=sys.stderr)
            continue
        if len(places) > 1:
            print(f"==> {place.title} <==")
        _write(text, ends_line=len(places) > 1)
    return 1 if missing else 0


def _fetch(cluster: "ClusterRow", key: str, job: JobView, places: Sequence[OutputFile]) -> list[str | None]:
    from cigri.gateway import Gateway
    from cigri.orders import ReadTail

    if job.batch_id is None or job.array_index is None or job.local_user is None:
        raise NotFound(_why_missing(job))
    where = JobKey(job.campaign_id, job.batch_id, job.array_index)
    tails = [ReadTail(key, where, place.position, place.stream, MAX_BYTES) for place in places]
    with closing(Gateway()) as gateway:
        answers = gateway.ask_all(cluster, job.local_user, tails)
    return [answers.of(tail) for tail in tails]


def _places(job: JobView, attempts: Sequence[AttemptView], streams: Sequence[Stream]) -> list[OutputFile]:
    if job.kind is not JobKind.TASKS:
        return [OutputFile(1, stream, f"{job.kind} std{stream}") for stream in streams]
    if not attempts:
        raise CigriError(f"job {job.id} carries no task")
    return [
        OutputFile(attempt.position, stream, f"task {attempt.task_number}, attempt {attempt.number}, std{stream}")
        for attempt in attempts
        for stream in streams
    ]


def _why_missing(job: JobView) -> str:
    if job.batch_id is None or (job.state is JobState.ENDED and job.submitted_at is None):
        return f"job {job.id} has not been submitted: there is no output"
    if job.state is not JobState.ENDED:
        return f"job {job.id} is {job.state}: its output is not there yet; try again once it runs"
    if job.purged_at is not None:
        return f"the files of campaign {job.campaign_id} were removed from the clusters on {moment(job.purged_at)}"
    return (
        f"there is no output of job {job.id} on {job.cluster}: its task never started there, or the file was removed, "
        "or replaced by something that is no plain file"
    )


def _write(text: str, *, ends_line: bool) -> None:
    if len(text.encode()) >= MAX_BYTES:
        print(f"only the last {MAX_BYTES} bytes are shown", file=sys.stderr)
    sys.stdout.write(safe(text) if sys.stdout.isatty() else text)
    if ends_line and text and not text.endswith("\n"):
        sys.stdout.write("\n")
