"""What batches lie in a user's directory on a cluster, and what their jobs carry: so that an older life's are known."""

import json
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.read_limits import BLOCKS, FILES

HEAD, FOOT = "cigri-batches 1", "cigri-batches end"
BATCH = re.compile(r"= (\d{1,18}) (\d{1,18})", re.ASCII)
WALLTIME_LINE = re.compile(r"walltime (\d{1,9})", re.ASCII)
STARTED = re.compile(r"started (\d{1,9})", re.ASCII)
JOB_LINE = re.compile(r"(\d{1,9})\) cigri_job (\d{1,18}) \d{1,9} \d{1,9} (\d{1,9}) ([0-9a-f]{16})", re.ASCII)
TASK = re.compile(r"cigri_task (\d{1,18}) (\d{1,18}) (\d{1,9}) .*", re.ASCII)


def new_batch_id() -> int:
    """Never the same again, also when the database was restored to a time before: batches are named so on clusters.

    Of 16 digits, which any reader of JSON holds exactly.
    """
    return 10**15 + secrets.randbelow(8 * 10**15)


class ManifestTask(NamedTuple):
    """A task of a job: its id, its number in the campaign, and which attempt at it."""

    task_id: int
    number: int
    attempt: int


class ManifestJob(NamedTuple):
    """A job as its batch directory has it; `is_started`: it has a journal. `digest`: of what its tasks were."""

    campaign_id: int
    batch_id: int
    array_index: int
    job_id: int
    side: int
    walltime: int
    digest: str
    tasks: tuple[ManifestTask, ...]
    is_started: bool


def digest(campaign_from: datetime, tasks: Sequence[tuple[int, int, object]]) -> str:
    """Tells these tasks (id, number, parameter) of the campaign submitted then from all others that had such ids."""
    text = json.dumps([campaign_from.timestamp(), [list(task) for task in tasks]], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def list_batches(base: str) -> str:
    """sh text that prints the numbers of all batches that lie there."""
    return f"""\
cigri_base={base}
echo '{HEAD}'
cd -- "$cigri_base" 2>/dev/null && find . -name . -o -type d -name 'c*' ! -name '*[!c0-9]*' -o \\
    -type d -name 'b*' ! -name '*[!b0-9]*' -prune -print -o -prune | head -n {FILES}
echo '{FOOT}'
"""


def parse_batches(answer: ShellResult) -> dict[int, int]:
    """The campaign of each batch, as the directories say."""
    places = [re.fullmatch(r"\./c(\d{1,18})/b(\d{1,18})", line, re.ASCII) for line in _lines(answer)]
    return {int(place[2]): int(place[1]) for place in places if place}


def read_batches(base: str, places: Sequence[tuple[int, int]]) -> str:
    """sh text that prints what the jobs of these batches (campaign, batch) carry; commands are left out."""
    calls = "".join(f"cigri_show {campaign_id:d} {batch_id:d}\n" for campaign_id, batch_id in places)
    return f"""\
cigri_base={base}
cigri_show() {{
    echo "= $1 $2"
    cd -- "$cigri_base/c$1/b$2" || return 0
    find . ! -name . -prune -type f -name job -size -{BLOCKS + 1} -exec \\
        sed -n 's/^.* cigri_walltime=\\([0-9]*\\) .*$/walltime \\1/p' {{}} +
    find . ! -name . -prune -type f -name 'journal.*' | sed -n 's,^\\./journal\\.\\([0-9]*\\)$,started \\1,p'
    find . ! -name . -prune -type f -name 'tasks.*' -size -{BLOCKS + 1} -exec \\
        sed -n -e '/^[0-9]*) cigri_job /p' -e 's/^\\(cigri_task [0-9]* [0-9]* [0-9]* \\).*/\\1/p' {{}} +
}} 2>/dev/null
echo '{HEAD}'
{calls}echo '{FOOT}'
"""


def parse_jobs(answer: ShellResult) -> list[ManifestJob]:
    """The jobs that carry tasks; what is no line of ours is passed over, as anybody may write there."""
    jobs: list[ManifestJob] = []
    campaign_id = batch_id = walltime = 0
    started: set[tuple[int, int]] = set()
    for line in _lines(answer):
        if batch := BATCH.fullmatch(line):
            campaign_id, batch_id, walltime = int(batch[1]), int(batch[2]), 0
        elif limit := WALLTIME_LINE.fullmatch(line):
            walltime = walltime or int(limit[1])
        elif index := STARTED.fullmatch(line):
            started.add((batch_id, int(index[1])))
        elif job := JOB_LINE.fullmatch(line):
            fields = (campaign_id, batch_id, int(job[1]), int(job[2]), int(job[3]), walltime, job[4], ())
            jobs.append(ManifestJob(*fields, (batch_id, int(job[1])) in started))
        elif jobs and (task := TASK.fullmatch(line)):
            carried = ManifestTask(int(task[1]), int(task[2]), int(task[3]))
            jobs[-1] = jobs[-1]._replace(tasks=(*jobs[-1].tasks, carried))
    return [job for job in jobs if job.tasks and job.walltime and job.side]


def _lines(answer: ShellResult) -> list[str]:
    lines = answer.out.split("\n")
    if answer.status or lines[0] != HEAD or lines[-2:] != [FOOT, ""]:
        raise UnreadableOutput(f"the batches did not come whole (exit status {answer.status}): {excerpt(answer.err)!r}")
    return lines[1:-2]
