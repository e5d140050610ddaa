"""`cigri campaign`: what an operator changes of users' campaigns."""

from cigri.cli.command import Parser, open_database
from cigri.errors import UsageError
from cigri.flow.campaigns import set_priority

LARGEST_PRIORITY = 1_000_000


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri campaign",
        "Give a campaign a priority: higher ones go first, whatever the policy; 0 is that of a new campaign.",
        "  cigri campaign priority 12 5\n  cigri campaign priority 12 -1",
    )
    parser.add_argument("action", choices=("priority",))
    parser.add_argument("id", type=int, metavar="ID")
    parser.add_argument("priority", type=int, metavar="N")
    options = parser.parse_args(argv)
    if abs(options.priority) > LARGEST_PRIORITY:
        raise UsageError(f"a priority lies between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}")
    with open_database() as database, database.begin() as conn:
        set_priority(conn, options.id, options.priority)
    print(f"Campaign {options.id} has priority {options.priority}")
    return 0
