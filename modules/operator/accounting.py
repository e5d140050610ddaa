"""`cigri accounting`: compares the core-hours that are told with what ended jobs add up to, and mends them."""

from collections.abc import Sequence

from cigri.cli.command import CommandParser, open_database
from cigri.cli.table_printing import print_table
from cigri.flow.accounting import Correction, list_corrections, rebuild
from cigri.formats.units import HOUR

ALIKE = ("day", "user", "project", "cluster", "type", "outcome", "replicas")
TITLES = (*ALIKE, "had jobs", "has jobs", "had hours", "has hours", "had asked", "has asked")


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri accounting",
        "Make the core-hours of gridusage what ended jobs add up to, with what is kept of archived ones, and tell\n"
        "what was not so: for when rows of the table `accounting` were lost or changed. Jobs may end meanwhile.",
        "  cigri accounting rebuild --check\n  cigri accounting rebuild",
    )
    parser.add_argument("action", choices=("rebuild",))
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1: something differs")
    options = parser.parse_args(argv)
    with open_database() as database, database.begin() as conn:
        wrong = list_corrections(conn) if options.check else rebuild(conn)
    if not wrong:
        print("Nothing differs: the core-hours are those of the jobs that have ended")
        return 0
    _print(wrong)
    sums = f"{len(wrong)} {'sum' if len(wrong) == 1 else 'sums'}"
    print(f"{sums} would change: `cigri accounting rebuild`" if options.check else f"{sums} changed")
    return 1 if options.check else 0


def _print(wrong: Sequence[Correction]) -> None:
    rows = [
        (
            one.day.date(),
            one.user,
            one.project,
            one.cluster,
            one.type,
            one.outcome,
            "yes" if one.is_replica else "no",
            one.had_jobs,
            one.jobs,
            f"{one.had_core_seconds / HOUR:.2f}",
            f"{one.core_seconds / HOUR:.2f}",
            f"{one.had_asked / HOUR:.2f}",
            f"{one.asked / HOUR:.2f}",
        )
        for one in wrong
    ]
    print_table(TITLES, rows)
