"""`gridget`: brings what the tasks of a campaign wrote, from all clusters to one directory."""

import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from cigri.api_models.campaigns import CampaignDetail
from cigri.api_models.files import TaskOutputSummary
from cigri.cli.campaign_names import campaign_ids
from cigri.cli.command import DONE, FAILED, CommandParser, command, ids, print_error
from cigri.cli.download_progress import CLEAR_LINE, DownloadProgress
from cigri.cli.grid_client import open_grid
from cigri.cli.output_file_downloads import OutputFileDownloader
from cigri.cli.output_sharing import OutputSharing
from cigri.cli.stream_downloads import StreamDownloader
from cigri.cli.terminal import may_draw
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.jobs import STREAMS
from cigri.endpoints.outputs import WRITTEN_AT_ONCE, written
from cigri.endpoints.paging import pages
from cigri.formats.id_ranges import as_ranges, read_ids
from cigri.formats.units import localised
from cigri.outputs.brought import Brought, reserve
from cigri.presentation.formatting import format_time

EXAMPLES = """\
  gridget 3                     what all tasks that have ended wrote, to campaign-3/
  gridget 3 results             to another directory: results/17.out and results/17.err are standard output and error of
                                task 17, and results/17/ holds its outputs
  gridget 3 --failed --stderr   only the standard error of tasks that failed
  gridget 3 --tasks 3,7-9
  gridget 3 --follow            until the campaign has ended, what comes

What is there already is not brought again; what was interrupted goes on. An empty output makes no file."""
FOLLOW_PERIOD = 2.0  # seconds between two looks at a campaign that is followed
MOST_WRONG = 5  # sentences about what went wrong


@command
def main(argv: list[str]) -> int:
    """Exit status 1 when something that has been asked for is not there."""
    asked = _parse(argv)
    place = asked.directory or Path(f"campaign-{asked.id}")
    with ExitStack() as held:
        grid = held.enter_context(open_grid())
        whole = grid.call(campaign, campaign_id=asked.id)
        is_new, submitted_at = held.enter_context(reserve(place)), whole.campaign.submitted_at
        brought, delivery = Brought(place, asked.id, submitted_at, is_new=is_new), DownloadProgress()
        sharing = OutputSharing(brought)
        streams = StreamDownloader(grid, brought, delivery, asked.id, asked.streams)
        files = OutputFileDownloader(grid, brought, delivery, asked.id)
        while True:
            delivery.begin_again()
            files.elsewhere.clear()
            tasks, missing = 0, set(read_ids(asked.tasks)) if asked.tasks else set()
            chosen = {"campaign_id": asked.id, "numbers": asked.tasks or "", "failed": asked.failed}
            for page in pages(grid, written, WRITTEN_AT_ONCE, **chosen):
                sharing.follow(page)
                streams.bring(page)
                if asked.with_files:
                    files.bring(page)
                tasks += len(page)
                missing -= {task.number for task in page}
            if not (asked.follow and whole.campaign.is_open):
                break
            time.sleep(FOLLOW_PERIOD)
            whole = grid.call(campaign, campaign_id=asked.id)
    _tell(delivery, place, whole, tasks, asked)
    if files.elsewhere:
        print_error(_elsewhere(files.elsewhere))
    if missing:
        print_error(f"these tasks have not ended, never ran, or are none: {as_ranges(sorted(missing))}")
    return FAILED if delivery.wrong or delivery.absent or missing else DONE


def _parse(argv: list[str]) -> Namespace:
    parser = CommandParser("gridget", "Bring what the tasks of a campaign wrote to one directory.", EXAMPLES)
    parser.add_argument("id", metavar="ID", type=_one, help="the campaign: an id, a name, or last")
    parser.add_argument("directory", metavar="DIR", type=Path, nargs="?", help="where to; usually campaign-ID")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--failed", action="store_true", help="only of tasks that failed")
    chosen.add_argument("--tasks", metavar="N", type=_numbers, help="only of these tasks: 3, 3,5 or 3-7")
    parser.add_argument("--follow", action="store_true", help="go on until the campaign has ended")
    parser.add_argument("-O", "--stdout", action="store_true", help="only standard output")
    parser.add_argument("-E", "--stderr", action="store_true", help="only standard error")
    asked = parser.parse_args(argv)
    wanted = ["out"] * asked.stdout + ["err"] * asked.stderr
    asked.streams, asked.with_files = wanted or list(STREAMS), not wanted
    return asked


def _tell(delivery: DownloadProgress, place: Path, whole: CampaignDetail, tasks: int, asked: Namespace) -> None:
    if sys.stderr.isatty():
        print(f"\r{CLEAR_LINE}" if may_draw(sys.stderr) else "\n", end="", file=sys.stderr, flush=True)
    facts = [f"{delivery.summary} to {place}/"]
    facts += [f"{delivery.had} were there already"] if delivery.had else []
    facts += [f"{delivery.empty} were empty"] if delivery.empty else []
    print("; ".join(facts))
    for sentence in delivery.wrong[:MOST_WRONG]:
        print_error(localised(sentence))
    if len(delivery.wrong) > MOST_WRONG:
        print_error(f"and {len(delivery.wrong) - MOST_WRONG} more like these")
    if delivery.absent:
        print_error(
            f"{delivery.absent} outputs are not there: their tasks never started, or somebody removed the files"
        )
    left = whole.campaign.total - tasks
    if left and not (asked.failed or asked.tasks):
        print_error(f"{left} of {whole.campaign.total} tasks have not ended, or never ran: call it again for theirs")
    if whole.files_until is not None:
        print_error(f"they stay on the clusters until {format_time(whole.files_until)}")


def _elsewhere(tasks: Sequence[TaskOutputSummary]) -> str:
    files = sum(task.files for task in tasks)
    first = f"those of task {tasks[0].number} to {tasks[0].place}"
    return f"{files} files of {len(tasks)} tasks were collected before, {first}"


def _one(text: str) -> int:
    named = campaign_ids(text)
    if len(named) != 1:
        raise ArgumentTypeError("it is one campaign")
    return named[0]


def _numbers(text: str) -> str:
    ids(text)
    return text
