"""`cigri import-cigri3`: takes over clusters, accounts, priorities, open campaigns and durations of a CiGri 3."""

from cigri.cli.command import CommandParser, escape_text, grid_user, open_database
from cigri.endpoints.dispatch import InProcessClient
from cigri.identity.callers import Caller
from cigri.settings.loading import load

DAYS_LOOKED_BACK = 365.0


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri import-cigri3",
        "Take over what a CiGri 3 has: clusters, accounts of users, who goes first where, open campaigns with the\n"
        "tasks that are still to be done, and how long tasks took. Without --write it only says what it would do.\n"
        "In CiGri 3's database nothing is written. Stop its server before --write. Exit status 1: something was\n"
        "left out.",
        "  cigri import-cigri3 --url postgresql://cigri3@localhost/cigri3\n"
        "  cigri import-cigri3 --url postgresql://cigri3@localhost/cigri3 --write",
    )
    parser.add_argument("--url", required=True, help="CiGri 3's database, as postgresql://USER@HOST/NAME")
    parser.add_argument("--write", action="store_true", help="do it; again later: what is here already stays as it is")
    parser.add_argument(
        "--days", type=float, default=DAYS_LOOKED_BACK, metavar="N", help="how far back durations are taken (365)"
    )
    options = parser.parse_args(argv)
    if not 0 <= options.days <= 36_500:
        parser.error("--days is between 0 and 36500")
    from modules.operator.import_cigri3.cigri3_database import open_cigri3
    from modules.operator.import_cigri3.taking_over import Cigri3Import

    is_whole = True
    with open_cigri3(options.url) as old, open_database() as database:
        settings = load()
        grid = InProcessClient(database, lambda: settings, Caller(grid_user(), is_operator=True))
        taken = Cigri3Import(old, database, settings, grid, options.days, is_dry=not options.write)
        for title, lines in (
            ("Clusters", taken.clusters()),
            ("Accounts", taken.accounts()),
            ("Users who go first", taken.priorities()),
            ("Campaigns", taken.campaigns()),
            ("Durations", taken.durations()),
        ):
            print(title)
            for line in lines:
                is_whole &= not line.is_left_out
                print(escape_text(f"  {'LEFT OUT: ' if line.is_left_out else ''}{line.text}"))
    if not options.write:
        print("Nothing is written; --write does it.")
    return 0 if is_whole else 1
