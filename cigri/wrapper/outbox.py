"""The outbox of a user on a cluster: a file per job, which grows by a line for each task that ends.

A visit reads what is new, stores it, and says so at the next visit; a file is removed when its job has ended and all of
it is stored. Who forgets what was stored reads it again, which changes nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cigri.errors import AnswerUnreadable
from cigri.remote import Answer
from cigri.wrapper.bounds import BLOCKS, FILES
from cigri.wrapper.records import TaskRecord, parse_end

NAME = re.compile(r"(\d{1,250})-(\d{1,250})", re.ASCII)
HEAD = "cigri-outbox 1"
FILE = re.compile(r"= (\d{1,250}-\d{1,250}) (\d{1,18})", re.ASCII)
FOOT = re.compile(r"cigri-outbox end (\d{1,18}) (\d{1,18})", re.ASCII)
LONGEST = 1000  # characters of a line; a record has fewer


@dataclass(frozen=True)
class Receipt:
    """What is stored of an outbox: how many lines of each file, and the files that are not needed any more."""

    lines: Mapping[str, int] = field(default_factory=dict)
    over: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Posted:
    """A record and where its file's name says that it comes from; both are the user's to write, so check them."""

    batch_id: int
    index: int
    record: TaskRecord


class Collected(NamedTuple):
    """What is new in an outbox; `lines` to be told once all records are stored, `left` were beyond the limit.

    The last lines of a file are not counted until they are whole: they are perhaps being written.
    """

    records: tuple[Posted, ...]
    lines: Mapping[str, int]
    left: int


def place_of(name: str) -> tuple[int, int]:
    """Batch and index, as the name of a file in an outbox says them."""
    batch_id, index = name.split("-")
    return int(batch_id), int(index)


def collect(base: str, receipt: Receipt, limit: int = 20_000) -> str:
    """sh text that removes the files that are over, and prints at most `limit` new lines of as many of the others.

    Of what is no file of ours, or too large for one, it tells nothing.
    """
    if any(not NAME.fullmatch(name) for name in (*receipt.lines, *receipt.over)):
        raise ValueError("a name that no outbox holds")
    over = "".join(f"{name}\n" for name in sorted(receipt.over))
    known = "".join(f"{name} {lines:d}\n" for name, lines in receipt.lines.items())
    remove = f"xargs rm -rf <<'EOF'\n{over}EOF\n" if over else ""
    return f"""\
cigri_base={base}
echo '{HEAD}'
cd -- "$cigri_base/outbox" 2>/dev/null || {{ echo 'cigri-outbox end 0 0'; exit 0; }}
{remove}{{
    printf '%s' '{known}'
    find . ! -name . -prune -type f -size -{BLOCKS + 1} \\
        -name '*-*' ! -name '*[!0-9-]*' ! -name '-*' ! -name '*-' ! -name '*-*-*' | LC_ALL=C sort | head -n {FILES}
}} | LC_ALL=C awk '
    NF == 2 {{ known[$1] = $2; next }}
    {{
        $1 = substr($1, 3)
        seen = headed = 0
        if (!($1 in known)) {{ print "= " $1 " 0"; said++; headed = 1 }}
        while ((getline line <$1) > 0) {{
            if (++seen <= known[$1]) continue
            if (shown >= {limit:d}) {{ left++; continue }}
            if (!headed) {{ print "= " $1 " " known[$1]; said++; headed = 1 }}
            print "> " substr(line, 1, {LONGEST:d})
            said++; shown++
        }}
        close($1)
    }}
    END {{ print "cigri-outbox end " said + 0 " " left + 0 }}'
"""


def parse_collect(answer: Answer) -> Collected:
    """What is new; raise AnswerUnreadable when the answer is not whole."""
    lines = answer.out.removesuffix("\n").split("\n")
    foot = FOOT.fullmatch(lines[-1])
    if answer.status or lines[0] != HEAD or not foot or int(foot[1]) != len(lines) - 2:
        raise AnswerUnreadable(f"the outbox did not come whole (exit status {answer.status}): {answer.err[-300:]!r}")
    records, stored = [], {}
    for name, known, new in _files(lines[1:-1]):
        stored[name] = known
        batch_id, index = place_of(name)
        for number, line in enumerate(new, start=known + 1):
            if record := parse_end(line):
                records.append(Posted(batch_id, index, record))
                stored[name] = number
    return Collected(tuple(records), stored, int(foot[2]))


def _files(lines: Iterable[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Name, lines known before, and new lines of each file."""
    name, known, new = "", 0, list[str]()
    for line in lines:
        if found := FILE.fullmatch(line):
            if name:
                yield name, known, new
            name, known, new = found[1], int(found[2]), []
        else:
            new.append(line[2:])
    if name:
        yield name, known, new
