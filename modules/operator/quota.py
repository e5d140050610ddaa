"""`cigri quota`: the most cores that the jobs of a user or a project may have at a time."""

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.errors import UsageError
from cigri.estimates.plausible import LARGEST_INTEGER
from cigri.flow.ceilings import QuotaView, list_quotas, put_quota, remove_quota
from cigri.flow.precedence import Subject
from cigri.states import SubjectKind


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
    subject = Subject(SubjectKind(options.kind), options.name)
    where = f" on {options.cluster}" if options.cluster else ""
    with open_database() as database, database.begin() as conn:
        if options.action == "remove":
            remove_quota(conn, subject, options.cluster)
            print(f"{subject.kind.capitalize()} {subject.name} has no quota{where} any more")
        else:
            if not 0 <= options.cores <= LARGEST_INTEGER:
                raise UsageError("a quota is a whole number of cores, 0 or more")
            put_quota(conn, subject, options.cores, options.cluster)
            print(f"{subject.kind.capitalize()} {subject.name} may have {options.cores} cores{where}")
    return 0


def _list(*, as_json: bool) -> int:
    with open_database() as database, database.begin() as conn:
        quotas = list_quotas(conn)
    if as_json:
        print_json([view._asdict() for view in quotas])
    else:
        print_table(QuotaView._fields, quotas)
    return 0
