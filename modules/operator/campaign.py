"""`cigri campaign`: what an operator changes of users' campaigns."""

from cigri.cli.command import CommandParser
from cigri.cli.grid_client import open_grid
from cigri.endpoints.policy import set_grid_priority


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri campaign",
        "Give a campaign a priority: higher ones go first, whatever the policy; 0 is that of a new campaign.",
        "  cigri campaign priority 12 5\n  cigri campaign priority 12 -1",
    )
    parser.add_argument("action", choices=("priority",))
    parser.add_argument("id", type=int, metavar="ID")
    parser.add_argument("priority", type=int, metavar="N")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        print(grid.call(set_grid_priority, campaign_id=options.id, priority=options.priority).message)
    return 0
