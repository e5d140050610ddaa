"""The outbox of a user on a cluster: a file per job, which grows by a line for each task that ends.

A visit reads what is new, stores it, and says so at the next visit; a file is removed when its job has ended and all of
it is stored. Who forgets what was stored reads it again, which changes nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.read_limits import ANSWER_BYTES, BLOCKS, FILES, LONGEST_RECORD
from cigri.wrapper.records import TaskRecord, parse_end

OUTBOX_NAME = re.compile(r"(\d{1,250})-(\d{1,250})", re.ASCII)
OUTBOX_HEAD = "cigri-outbox 1"
FILE = re.compile(r"= (\d{1,250}-\d{1,250}) (\d{1,18})", re.ASCII)
FOOT = re.compile(r"cigri-outbox end (\d{1,18}) (\d{1,18})", re.ASCII)
OUTBOX_LINES = 2000  # new ones of one file, at a visit
MOST_OUTBOX_LINES = 20_000  # new ones of all files, at a visit
FEWEST_RECORDS = 100  # files that a visit is told of, however slow the last one was


@dataclass(frozen=True)
class OutboxReceipt:
    """What is stored of an outbox: how many lines of each file, and the files that are not needed any more.

    `files`: how many the next visit may tell of.
    """

    lines: Mapping[str, int] = field(default_factory=dict)
    over: frozenset[str] = frozenset()
    files: int = FILES

    def after_silence(self) -> "OutboxReceipt":
        """For the visit after one that had no answer: perhaps there was too much to read."""
        return replace(self, files=max(FEWEST_RECORDS, self.files // 4))

    def after_answer(self, lines: Mapping[str, int], over: frozenset[str]) -> "OutboxReceipt":
        """For the visit after one that has told this, where this one is of `after_silence`."""
        return OutboxReceipt(lines, over, min(FILES, 8 * self.files))


@dataclass(frozen=True, slots=True)
class OutboxRecord:
    """A record and where its file's name says that it comes from; both are the user's to write, so check them."""

    batch_id: int
    index: int
    record: TaskRecord


class OutboxContents(NamedTuple):
    """What is new in an outbox; `lines` to be told once all records are stored, `left` files have more of them.

    The last lines of a file are not counted until they are whole: they are perhaps being written.
    """

    records: tuple[OutboxRecord, ...]
    lines: Mapping[str, int]
    left: int


def place_of(name: str) -> tuple[int, int]:
    """Batch and index, as the name of a file in an outbox says them."""
    batch_id, index = name.split("-")
    return int(batch_id), int(index)


def collect_script(base: str, receipt: OutboxReceipt, limit: int = MOST_OUTBOX_LINES) -> str:
    """sh text that removes the files that are over, and prints at most `limit` new lines of the others.

    Of what is no plain file, or too large for one of ours, it tells the name alone.
    """
    if any(not OUTBOX_NAME.fullmatch(name) for name in (*receipt.lines, *receipt.over)):
        raise ValueError("a name that no outbox holds")
    over = "".join(f"{name}\n" for name in sorted(receipt.over))
    stored = "".join(f"{name} {lines:d}\n" for name, lines in receipt.lines.items())
    remove = f"xargs rm -rf <<'EOF'\n{over}EOF\n" if over else ""
    return f"""\
cigri_base={base}
echo '{OUTBOX_HEAD}'
cigri_end() {{ echo 'cigri-outbox end 0 0'; exit 0; }}
cd -- "$cigri_base/outbox" 2>/dev/null || cigri_end
{remove}set -- *-*
[ "$*" != '*-*' ] || cigri_end # as most often: then nothing is started
cigri_files=$(
    find . ! -name . -prune -name '*-*' ! -name '*[!0-9-]*' ! -name '-*' ! -name '*-' ! -name '*-*-*' \\
        -print -type f -size -{BLOCKS + 1} -print | head -n {2 * receipt.files:d}
)
[ "$cigri_files" ] || cigri_end
{{
    printf '%s' '{stored}'
    printf '%s\\n' "$cigri_files" | LC_ALL=C sort
}} | LC_ALL=C awk '
    BEGIN {{ room = {ANSWER_BYTES} }}
    NF == 2 {{ known[$1] = $2; next }}
    {{ file = substr($1, 3); is_known = file in known }}
    file != last {{
        last = file
        if (!is_known) {{ print "= " file " 0"; said++ }}
        next
    }}
    {{
        seen = mine = 0
        while ((getline line <file) > 0) {{
            if (++seen <= known[file]) continue
            if ((shown >= {limit:d}) || mine >= {OUTBOX_LINES} || room <= 0) {{ left++; break }}
            if (is_known && !mine) {{ print "= " file " " known[file]; said++ }}
            print "> " substr(line, 1, {LONGEST_RECORD:d})
            said++; shown++; mine++
            room -= length(line) + 1
        }}
        close(file)
    }}
    END {{ print "cigri-outbox end " said + 0 " " left + 0 }}'
"""


def parse_collect(answer: ShellResult) -> OutboxContents:
    """Records and lines that are new; raise UnreadableOutput when the answer is not whole."""
    lines = answer.out.removesuffix("\n").split("\n")
    foot = FOOT.fullmatch(lines[-1])
    if answer.status or lines[0] != OUTBOX_HEAD or not foot or int(foot[1]) != len(lines) - 2:
        raise UnreadableOutput(f"the outbox did not come whole (exit status {answer.status}): {excerpt(answer.err)!r}")
    records, stored = [], {}
    for name, before, new in _files(lines[1:-1]):
        stored[name] = before
        batch_id, index = place_of(name)
        for number, line in enumerate(new, start=before + 1):
            if record := parse_end(line):
                records.append(OutboxRecord(batch_id, index, record))
                stored[name] = number
    return OutboxContents(tuple(records), stored, int(foot[2]))


def _files(lines: Iterable[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Name, lines known before, and new lines of each file."""
    name, before, new = "", 0, list[str]()
    for line in lines:
        if heading := FILE.fullmatch(line):
            if name:
                yield name, before, new
            name, before, new = heading[1], int(heading[2]), []
        else:
            new.append(line[2:])
    if name:
        yield name, before, new
