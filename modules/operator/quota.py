"""`cigri quota`: the most cores, jobs and core-hours that jobs of users, projects, queues and types may have."""

from argparse import Namespace

from cigri.api_models.policy import QuotaView
from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.eligibility.quotas import of_subject
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import quotas, remove_quota, set_quota
from cigri.formats.json_values import to_json_value


def run(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    amounts = {name: getattr(options, name) for name in ("cores", "jobs", "core_hours", "within")}
    has_amounts = any(amount is not None for amount in amounts.values())
    if options.action == "list":
        if options.kind or options.cluster or has_amounts:
            parser.error("list takes no other word")
        return _list(as_json=options.json)
    if not options.name or (options.action == "set") != has_amounts or options.json:
        wanted = " and CORES, --jobs or --core-hours" if options.action == "set" else ""
        parser.error(f"{options.action} takes user|project|rule NAME{wanted}")
    with open_grid() as grid:
        if options.action == "remove":
            done = grid.call(remove_quota, rule=_rule(options), cluster=options.cluster)
        else:
            done = grid.call(set_quota, rule=_rule(options), cluster=options.cluster, **amounts)
    print(escape_text(done.message))
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "cigri quota",
        "Say how many cores, jobs and core-hours the jobs of a user or a project may have, on all clusters together\n"
        "or on one. The name '*' is everybody who has no quota of their own there, each for themselves.\n"
        "A rule QUEUE,PROJECT,TYPE,USER counts jobs as OAR's quotas do: a name, * (all together) or / (each) in each\n"
        "place. The type * is all types but best-effort, `all` is all. `set` replaces what was said of the same.",
        "  cigri quota set user alice 500\n  cigri quota set project '*' 200 --cluster dahu\n"
        "  cigri quota set user alice --core-hours 10000 --days 30\n"
        "  cigri quota set rule '*,*,normal,/' 64 --jobs 20\n  cigri quota list",
    )
    parser.add_argument("action", choices=("set", "remove", "list"))
    parser.add_argument("kind", nargs="?", choices=("user", "project", "rule"), metavar="user|project|rule")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("cores", nargs="?", type=int, metavar="CORES")
    parser.add_argument("--jobs", type=int, metavar="N", help="jobs at a time")
    parser.add_argument("--core-hours", type=float, metavar="N", help="used within --days, and that live jobs may use")
    parser.add_argument(
        "--days", dest="within", type=int, metavar="N", help="within which core-hours count, today with them; else 30"
    )
    parser.add_argument("--cluster", metavar="CLUSTER", default="", help="on this cluster; else on all together")
    parser.add_argument("--json", action="store_true", help="with list: for programs")
    return parser


def _rule(options: Namespace) -> str:
    return str(options.name if options.kind == "rule" else of_subject(options.kind, options.name))


def _list(*, as_json: bool) -> int:
    with open_grid() as grid:
        declared = walk(grid, quotas)
    if as_json:
        print_json(to_json_value(declared))
    else:
        print_table(QuotaView._fields, declared)
    return 0
