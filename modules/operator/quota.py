"""`cigri quota`: the most cores that the jobs of a user or a project may have at a time."""

from cigri.answers.policy import QuotaView
from cigri.cli.command import Parser, print_json, safe
from cigri.cli.grid import open_grid
from cigri.cli.tables import print_table
from cigri.endpoints.policy import quotas, remove_quota, set_quota
from cigri.states import SubjectKind
from cigri.text.plain import plain


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri quota",
        "Say how many cores the jobs of a user or a project may have at a time, on all clusters together or on one.\n"
        "The name '*' is everybody who has no quota of their own there, each for themselves.",
        "  cigri quota set user alice 500\n  cigri quota set project '*' 200 --cluster dahu\n  cigri quota list",
    )
    parser.add_argument("action", choices=("set", "remove", "list"))
    parser.add_argument("kind", nargs="?", choices=[kind.value for kind in SubjectKind], metavar="user|project")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("cores", nargs="?", type=int, metavar="CORES")
    parser.add_argument("--cluster", metavar="CLUSTER", default="", help="on this cluster; else on all together")
    parser.add_argument("--json", action="store_true", help="with list: for programs")
    options = parser.parse_args(argv)
    if options.action == "list":
        if options.kind or options.cluster:
            parser.error("list takes no other word")
        return _list(as_json=options.json)
    if not options.name or (options.action == "set") != (options.cores is not None) or options.json:
        parser.error(f"{options.action} takes user|project NAME{' CORES' if options.action == 'set' else ''}")
    kind, name, cluster = SubjectKind(options.kind), options.name, options.cluster
    with open_grid() as grid:
        if options.action == "remove":
            done = grid.ask(remove_quota, kind=kind, name=name, cluster=cluster)
        else:
            done = grid.ask(set_quota, kind=kind, name=name, cores=options.cores, cluster=cluster)
    print(safe(done.message))
    return 0


def _list(*, as_json: bool) -> int:
    with open_grid() as grid:
        declared = grid.ask(quotas)
    if as_json:
        print_json(plain(declared))
    else:
        print_table(QuotaView._fields, declared)
    return 0
