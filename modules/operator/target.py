"""`cigri target`: what is due to users and projects under the policy `fairshare`."""

from cigri.api_models.policy import TargetView
from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import remove_target, set_target, targets
from cigri.formats.json_values import to_json_value
from cigri.states import PrincipalKind


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri target",
        "Say how much of the grid is due to a user or a project, beside the others, when `policy.order` is fairshare.\n"
        "Whoever has no target has 1.",
        "  cigri target set user alice 3\n  cigri target remove user alice\n  cigri target list",
    )
    parser.add_argument("action", choices=("set", "remove", "list"))
    parser.add_argument("kind", nargs="?", choices=[kind.value for kind in PrincipalKind], metavar="user|project")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("share", nargs="?", type=float, metavar="SHARE")
    parser.add_argument("--json", action="store_true", help="with list: for programs")
    options = parser.parse_args(argv)
    if options.action == "list":
        if options.kind:
            parser.error("list takes no other word")
        return _list(as_json=options.json)
    if not options.name or (options.action == "set") != (options.share is not None) or options.json:
        parser.error(f"{options.action} takes user|project NAME{' SHARE' if options.action == 'set' else ''}")
    kind, name = PrincipalKind(options.kind), options.name
    with open_grid() as grid:
        if options.action == "remove":
            done = grid.call(remove_target, kind=kind, name=name)
        else:
            done = grid.call(set_target, kind=kind, name=name, share=options.share)
    print(escape_text(done.message))
    return 0


def _list(*, as_json: bool) -> int:
    with open_grid() as grid:
        declared = walk(grid, targets)
    if as_json:
        print_json(to_json_value(declared))
    else:
        print_table(TargetView._fields, declared)
    return 0
