"""The outbox of a user on a cluster: one file per ended task, collected, stored, and only then removed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cigri.errors import AnswerUnreadable
from cigri.remote import Answer
from cigri.wrapper.records import TaskRecord, parse_end

NAME = re.compile(r"(\d{1,250})-(\d{1,250})-(\d{1,250})", re.ASCII)
HEAD = "cigri-outbox 1"
FOOT = re.compile(r"cigri-outbox end (\d{1,18}) (\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Posted:
    """A record and where its file's name says that it comes from; both are the user's to write, so check them."""

    batch_id: int
    index: int
    record: TaskRecord

    @property
    def name(self) -> str:
        """The file to acknowledge once the record is stored."""
        return f"{self.batch_id}-{self.index}-{self.record.position}"


class Collected(NamedTuple):
    """What an outbox holds: `unreadable` files are perhaps being written, `left` were beyond the limit."""

    records: tuple[Posted, ...]
    unreadable: tuple[str, ...]
    left: int

    @property
    def names(self) -> list[str]:
        """The files to acknowledge once all records are stored."""
        return [posted.name for posted in self.records]


def place_of(name: str) -> tuple[int, int]:
    """Batch and index, as the name of a file in an outbox says them."""
    batch_id, index, _ = name.split("-")
    return int(batch_id), int(index)


def collect(base: str, acknowledged: Sequence[str], limit: int = 5000) -> str:
    """sh text that removes the acknowledged files and prints the others; no process is started for each."""
    if any(not NAME.fullmatch(name) for name in acknowledged):
        raise ValueError("a name that no outbox holds")
    names = "".join(f"{name}\n" for name in acknowledged)
    remove = f"xargs rm -f <<'EOF' || exit 74\n{names}EOF\n" if names else ""
    return f"""\
cigri_base={base}
echo '{HEAD}'
cd -- "$cigri_base/outbox" 2>/dev/null || {{ echo 'cigri-outbox end 0 0'; exit 0; }}
{remove}cigri_shown=0 cigri_all=0
for cigri_name in *-*-*; do
    case $cigri_name in *[!0-9-]* | -* | *- | *--* | *-*-*-*) continue ;; esac
    [ -f "$cigri_name" ] && [ ! -L "$cigri_name" ] || continue
    cigri_all=$((cigri_all + 1))
    [ $cigri_shown -lt {limit} ] || continue
    cigri_shown=$((cigri_shown + 1)) cigri_line=
    IFS= read -r cigri_line <"$cigri_name"
    printf '%s %s\\n' "$cigri_name" "$cigri_line"
done 2>/dev/null
echo "cigri-outbox end $cigri_shown $cigri_all"
"""


def parse_collect(answer: Answer) -> Collected:
    """The records; raise AnswerUnreadable when the answer is not whole."""
    lines = answer.out.removesuffix("\n").split("\n")
    foot = FOOT.fullmatch(lines[-1])
    if answer.status or lines[0] != HEAD or not foot or int(foot[1]) != len(lines) - 2:
        raise AnswerUnreadable(f"the outbox did not come whole (exit status {answer.status}): {answer.err[-300:]!r}")
    records, unreadable = [], []
    for line in lines[1:-1]:
        name, _, text = line.partition(" ")
        source, record = NAME.fullmatch(name), parse_end(text)
        if not source:
            continue
        if record and record.position == int(source[3]):
            records.append(Posted(int(source[1]), int(source[2]), record))
        else:
            unreadable.append(name)
    return Collected(tuple(records), tuple(unreadable), int(foot[2]) - int(foot[1]))
