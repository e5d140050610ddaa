"""`cigri target`: what is due to users and projects under the policy `fairshare`."""

from math import isfinite

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.errors import UsageError
from cigri.flow.precedence import Subject, list_targets, put_target, remove_target
from cigri.states import SubjectKind


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri target",
        "Say how much of the grid is due to a user or a project, beside the others, when `policy.order` is fairshare.\n"
        "Whoever has no target has 1.",
        "  cigri target set user alice 3\n  cigri target remove user alice\n  cigri target list",
    )
    parser.add_argument("action", choices=("set", "remove", "list"))
    parser.add_argument("kind", nargs="?", choices=[kind.value for kind in SubjectKind], metavar="user|project")
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
    subject = Subject(SubjectKind(options.kind), options.name)
    with open_database() as database, database.begin() as conn:
        if options.action == "remove":
            remove_target(conn, subject)
            print(f"{subject.name} has the target of everybody, 1")
        else:
            if not (isfinite(options.share) and 0 < options.share <= 1e6):
                raise UsageError("a share is a number above 0, at most 1000000; 2 is twice as much as 1")
            put_target(conn, subject, options.share)
            print(f"{subject.name} has the target {options.share:g}")
    return 0


def _list(*, as_json: bool) -> int:
    with open_database() as database, database.begin() as conn:
        targets = list_targets(conn)
    if as_json:
        print_json([{**subject._asdict(), "share": share} for subject, share in targets.items()])
    else:
        print_table(("kind", "name", "share"), [(*subject, share) for subject, share in targets.items()])
    return 0
