"""`gridget`: brings what the tasks of a campaign wrote, from all clusters to one directory."""

import sys
import time
from argparse import ArgumentTypeError, Namespace
from base64 import b64decode
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from cigri.answers.campaigns import WholeCampaign
from cigri.answers.outputs import FetchedOutput, WrittenTask
from cigri.cli.brought import Brought, Output
from cigri.cli.command import DONE, FAILED, Parser, command, complain, ids
from cigri.cli.grid import open_grid
from cigri.cli.wording import moment, size
from cigri.endpoints.calling import Grid
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.jobs import STREAMS
from cigri.endpoints.outputs import FETCHED_AT_ONCE, fetch_outputs, written
from cigri.endpoints.paging import walk
from cigri.errors import CigriError
from cigri.text.alike_failures import as_ranges
from cigri.text.id_ranges import read_ids, written_ids
from cigri.text.units import localised

EXAMPLES = """\
  gridget 3                     standard output and error of all tasks that have ended, to campaign-3/
  gridget 3 results             to another directory: results/17.out and results/17.err are those of task 17
  gridget 3 --failed --stderr   only the standard error of tasks that failed
  gridget 3 --tasks 3,7-9

What is there already is not brought again; what was interrupted goes on. An empty output makes no file."""
MOST_WRONG = 5  # sentences about what went wrong
TOLD_AGAIN = 0.5  # seconds between two lines on a terminal


@command
def main(argv: list[str]) -> int:
    """Exit status 1 when something that has been asked for is not there."""
    asked = _parse(argv)
    with open_grid() as grid:
        whole = grid.ask(campaign, campaign_id=asked.id)
        listed = walk(grid, written, campaign_id=asked.id, numbers=asked.tasks or "", failed=asked.failed)
        place = asked.directory or Path(f"campaign-{asked.id}")
        bringing = _Bringing(grid, Brought(place, asked.id, whole.campaign.submitted_at), asked.id, asked.streams)
        bringing.bring(listed)
    _tell(bringing, whole, len(listed), asked)
    is_missing = _missing(listed, asked)
    return FAILED if bringing.wrong or bringing.absent or is_missing else DONE


def _parse(argv: list[str]) -> Namespace:
    parser = Parser("gridget", "Bring what the tasks of a campaign wrote to one directory.", EXAMPLES)
    parser.add_argument("id", metavar="ID", type=_one, help="the campaign")
    parser.add_argument("directory", metavar="DIR", type=Path, nargs="?", help="where to; usually campaign-ID")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--failed", action="store_true", help="only of tasks that failed")
    chosen.add_argument("--tasks", metavar="N", type=_numbers, help="only of these tasks: 3, 3,5 or 3-7")
    parser.add_argument("-O", "--stdout", action="store_true", help="only standard output")
    parser.add_argument("-E", "--stderr", action="store_true", help="only standard error")
    asked = parser.parse_args(argv)
    wanted = ["out"] * asked.stdout + ["err"] * asked.stderr
    asked.streams = wanted or list(STREAMS)
    return asked


class _Bringing:
    """Cluster by cluster; one that does not answer leaves the others alone."""

    def __init__(self, grid: Grid, brought: Brought, campaign_id: int, streams: list[str]) -> None:
        self.brought = brought
        self.files = self.empty = self.bytes = 0
        self.had = self.absent = 0
        self.wrong: list[str] = []
        self._grid, self._campaign_id, self._streams = grid, campaign_id, streams
        self._begun = self._told = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def bring(self, listed: Sequence[WrittenTask]) -> None:
        by_cluster: dict[str, dict[int, list[str]]] = defaultdict(dict)
        for task in listed:
            if streams := self._lacking(task):
                by_cluster[task.cluster][task.number] = streams
        for cluster, lacking in by_cluster.items():
            try:
                self._bring_of(lacking)
            except CigriError as error:
                self.wrong.append(f"{cluster}: {error}")

    def _lacking(self, task: WrittenTask) -> list[str]:
        outputs = [Output(task.number, task.attempt, stream) for stream in self._streams]
        for output in outputs:
            if self.brought.is_foreign(output):
                place = self.brought.place / output.name
                self.wrong.append(f"{place} was not made by gridget, so it stays: move it, or name another directory")
                return []
        lacking = [output.stream for output in outputs if not self.brought.holds(output)]
        self.had += len(outputs) - len(lacking)
        return lacking

    def _bring_of(self, lacking: dict[int, list[str]]) -> None:
        """By number, the outputs that are not here: many tasks at once that lack the same ones."""
        while lacking:
            streams = lacking[next(iter(lacking))]
            alike = [number for number in islice(lacking, FETCHED_AT_ONCE) if lacking[number] == streams]
            for piece in self._ask(alike, streams):
                self._take(piece)
                lacking[piece.number] = [stream for stream in lacking[piece.number] if stream != piece.stream]
                if not lacking[piece.number]:
                    del lacking[piece.number]

    def _ask(self, numbers: Sequence[int], streams: list[str], offset: int = 0) -> list[FetchedOutput]:
        chosen = written_ids(numbers)
        answer = self._grid.ask(
            fetch_outputs, campaign_id=self._campaign_id, numbers=chosen, streams=streams, offset=offset
        )
        return answer.outputs

    def _take(self, piece: FetchedOutput) -> None:
        output = Output(piece.number, piece.attempt, piece.stream)
        if piece.size is None:
            self.absent += 1
            return
        content = b64decode(piece.content)
        if len(content) < piece.size and self.brought.begun(output) in range(len(content), piece.size + 1):
            self._go_on(output, self.brought.begun(output), piece.size)
        else:
            self.brought.add(output, 0, content)
            self._count(content)
            self._go_on(output, len(content), piece.size)
        self.brought.finish(output, piece.size)
        self.files, self.empty = self.files + (piece.size > 0), self.empty + (piece.size == 0)

    def _go_on(self, output: Output, offset: int, size: int) -> None:
        """To its end."""
        while offset < size:
            (piece,) = self._ask([output.number], [output.stream], offset)
            content = b64decode(piece.content)
            if (piece.attempt, piece.size) != (output.attempt, size) or not content:
                raise CigriError(f"the standard {output.stream} of task {output.number} has changed: call it again")
            self.brought.add(output, offset, content)
            self._count(content)
            offset += len(content)

    def _count(self, content: bytes) -> None:
        self.bytes += len(content)
        if sys.stderr.isatty() and time.monotonic() - self._told > TOLD_AGAIN:
            self._told = time.monotonic()
            print(f"\r{self.summary}\x1b[K", end="", file=sys.stderr, flush=True)

    @property
    def summary(self) -> str:
        return f"{self.files} files, {size(self.bytes)} in {self.seconds:.1f} s ({size(self.bytes / self.seconds)}/s)"


def _tell(bringing: _Bringing, whole: WholeCampaign, tasks: int, asked: Namespace) -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    facts = [f"{bringing.summary} to {bringing.brought.place}/"]
    facts += [f"{bringing.had} were there already"] if bringing.had else []
    facts += [f"{bringing.empty} were empty"] if bringing.empty else []
    print("; ".join(facts))
    for sentence in bringing.wrong[:MOST_WRONG]:
        complain(localised(sentence))
    if len(bringing.wrong) > MOST_WRONG:
        complain(f"and {len(bringing.wrong) - MOST_WRONG} more like these")
    if bringing.absent:
        complain(f"{bringing.absent} outputs are not there: their tasks never started, or somebody removed the files")
    left = whole.campaign.total - tasks
    if left and not (asked.failed or asked.tasks):
        complain(f"{left} of {whole.campaign.total} tasks have not ended, or never ran: call it again for theirs")
    if whole.files_until is not None:
        complain(f"they stay on the clusters until {moment(whole.files_until)}")


def _missing(listed: Sequence[WrittenTask], asked: Namespace) -> bool:
    """Has one of the tasks that were named not ended?"""
    if not asked.tasks:
        return False
    missing = sorted(set(read_ids(asked.tasks)) - {task.number for task in listed})
    if missing:
        complain(f"these tasks have not ended, never ran, or are none: {as_ranges(missing)}")
    return bool(missing)


def _one(text: str) -> int:
    named = ids(text)
    if len(named) != 1:
        raise ArgumentTypeError("it is one campaign")
    return named[0]


def _numbers(text: str) -> str:
    ids(text)
    return text
