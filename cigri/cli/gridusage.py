"""gridusage: who has used how many core-hours, of what, where, and when."""

import csv
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from datetime import date

from cigri.api_models.metrics import UsedWork
from cigri.cli.command import DONE, CommandParser, command, print_error, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.eligibility.quotas import KINDS_OF_JOBS
from cigri.endpoints.metrics import used_work
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value
from cigri.formats.units import HOUR
from cigri.presentation.usage_groups import GROUPS, read_groups, read_type

USED_HOURS = ("well", "failed", "lost", "replicas", "asked")
EXAMPLES = """\
  gridusage                                       by user, of the last 30 days
  gridusage --from 2026-10-01 --to 2026-10-31     of these days, both with them
  gridusage --by project,cluster                  who paid, and where it ran
  gridusage --by type,user                        what was best-effort, and what was not
  gridusage --by day --user alice --csv           for a spreadsheet"""


@command
def main(argv: list[str]) -> int:
    parser = CommandParser("gridusage", "Show the core-hours of jobs that have ended, by day of UTC.", EXAMPLES)
    parser.add_argument("--from", type=_day, dest="since", metavar="DAY", help="the first day, as 2026-10-01")
    parser.add_argument("--to", type=_day, dest="until", metavar="DAY", help="the last day; usually today")
    parser.add_argument(
        "--by", type=_groups, metavar="WHAT", default="user", help=f"{', '.join(GROUPS)}, or several: project,cluster"
    )
    parser.add_argument("--user", metavar="NAME", default="", help="of the campaigns of one user")
    parser.add_argument("--type", type=_type, metavar="TYPE", help=f"of one type: {', '.join(KINDS_OF_JOBS)}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--csv", action="store_true", help="answer as comma-separated values, in core-hours")
    how.add_argument("--json", action="store_true", help="answer in JSON, in core-seconds")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        used = walk(
            grid,
            used_work,
            since=options.since or "",
            until=options.until or "",
            apart=options.by,
            user=options.user,
            type=options.type or "",
        )
    if options.json:
        print_json(to_json_value(used))
        return DONE
    groups = read_groups(options.by)
    rows = [_row(work, groups) for work in used]
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([(*groups, "jobs", *USED_HOURS), *rows])
    elif rows:
        print_table((*groups, "jobs", *USED_HOURS), rows)
    else:
        print_error("no job has ended in these days")
    return DONE


def _row(work: UsedWork, groups: Sequence[str]) -> tuple[object, ...]:
    hours = (f"{getattr(work, name) / HOUR:.2f}" for name in USED_HOURS)
    return (*(getattr(work, group) for group in groups), work.jobs, *hours)


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day: write it as 2026-10-01") from None


def _groups(text: str) -> str:
    try:
        return ",".join(read_groups(text))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _type(text: str) -> str:
    try:
        return read_type(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
