"""The journals of jobs: whether an array index was ever started, and how each of its tasks ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.read_limits import ANSWER_BYTES, BLOCKS, JOURNAL_LINES, LONGEST_RECORD
from cigri.wrapper.records import StartRecord, TaskRecord, is_revoked, is_stop, parse_end, parse_start


@dataclass(frozen=True, slots=True)
class JobKey:
    """Which job: an index of a batch of a campaign."""

    campaign_id: int
    batch_id: int
    index: int


class JournalState(StrEnum):
    """What is seen of a job. On NFS a file may be seen a minute late: one ABSENT alone proves nothing."""

    STARTED = "started"
    UNREAD = "unread"  # it has started; the answer was full before its turn came
    ABSENT = "absent"  # the batch is there, and this index has not started
    VOIDED = "voided"  # it has not started, and never will
    NO_BATCH = "no_batch"  # nothing of the batch is there: never written, purged, or the home is not mounted


class JobJournal(NamedTuple):
    """`start` is None in a STARTED one whose line was cut, or that is no plain file; `records`: tasks that have ended.

    `is_stopped`: no other task was begun.
    """

    state: JournalState
    start: StartRecord | None = None
    records: tuple[TaskRecord, ...] = ()
    is_stopped: bool = False


JOURNAL_HEAD = "cigri-journal 1"
JOURNAL_ENTRY = re.compile(rf"= (\d{{1,18}}) (\d{{1,18}}) (\d{{1,18}}) ({'|'.join(JournalState)})", re.ASCII)


def journal(base: str, keys: Sequence[JobKey]) -> str:
    """sh text that prints the lines of ours in the journals of these jobs."""
    calls = "".join(f"cigri_show {key.campaign_id:d} {key.batch_id:d} {key.index:d}\n" for key in keys)
    names = "".join(f"c{key.campaign_id:d}/b{key.batch_id:d}/journal.{key.index:d}\n" for key in keys)
    return f"""\
cigri_base={base}
cigri_show() {{
    cigri_batch=c$1/b$2 cigri_state=absent
    if [ -e "$cigri_batch/journal.$3" ] || [ -L "$cigri_batch/journal.$3" ]; then
        cigri_state=started
    elif [ -e "$cigri_batch.void" ]; then
        cigri_state=voided
    elif [ ! -e "$cigri_batch/job" ]; then
        cigri_state=no_batch
    fi
    echo "= $1 $2 $3 $cigri_state"
}}
echo '{JOURNAL_HEAD}'
cd -- "$cigri_base" 2>/dev/null || cd / # where no batch is
{{
    xargs sh -c 'find "$@" -prune -type f -size -{BLOCKS + 1}' sh 2>/dev/null <<'EOF'
{names}EOF
{calls}}} | LC_ALL=C awk '
    BEGIN {{ left = {ANSWER_BYTES} }}
    NF == 1 {{ is_small[$1]; next }}
    $5 == "started" && left <= 0 {{ $5 = "{JournalState.UNREAD}" }}
    {{ print; name = "c" $2 "/b" $3 "/journal." $4 }}
    $5 == "started" && name in is_small {{
        for (n = 0; n < {JOURNAL_LINES:d} && (getline line <name) > 0; n++) {{
            left -= length(line) + 1
            if (line ~ /^(start|end|stop|revoked) /) print "> " substr(line, 1, {LONGEST_RECORD:d})
        }}
        close(name)
    }}'
echo 'cigri-journal end'
"""


def parse_journal(answer: ShellResult, keys: Sequence[JobKey]) -> dict[JobKey, JobJournal]:
    """The journal of every key; raise UnreadableOutput when the answer is not whole."""
    lines = answer.out.split("\n")
    whole = answer.status == 0 and lines[0] == JOURNAL_HEAD and lines[-2:] == ["cigri-journal end", ""]
    journals: dict[JobKey, JobJournal] = {}
    records: dict[JobKey, list[TaskRecord]] = {}
    key = JobKey(0, 0, 0)
    for line in lines[1:-2] if whole else []:
        if entry := JOURNAL_ENTRY.fullmatch(line):
            key = JobKey(int(entry[1]), int(entry[2]), int(entry[3]))
            journals[key] = JobJournal(JournalState(entry[4]))
        elif record := parse_end(line[2:]):
            records.setdefault(key, []).append(record)
        elif start := parse_start(line[2:]):
            journals[key] = journals[key]._replace(start=start)
        elif is_stop(line[2:]):
            journals[key] = journals[key]._replace(is_stopped=True)
        elif is_revoked(line[2:]):
            journals[key] = journals[key]._replace(state=JournalState.VOIDED)
    if not whole or set(journals) != set(keys):
        raise UnreadableOutput(
            f"the journals did not come whole (exit status {answer.status}): {excerpt(answer.err)!r}"
        )
    return {key: entry._replace(records=tuple(records.get(key, ()))) for key, entry in journals.items()}
