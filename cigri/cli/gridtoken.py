"""gridtoken: make, list and revoke the tokens by which the grid knows you where no socket tells who you are."""

from argparse import ArgumentTypeError, Namespace

from cigri.answers.tokens import TokenView
from cigri.cli.command import DONE, Parser, command, complain, print_json, told_even_if_lost
from cigri.cli.grid import open_grid
from cigri.cli.tables import print_table
from cigri.cli.wording import moment
from cigri.endpoints.tokens import USUAL_LIFE, create_token, get_tokens, revoke_token
from cigri.rules.callers import Scope
from cigri.text.plain import plain
from cigri.text.units import HOW_DURATION, as_local, read_duration

TOKEN_COLUMNS = ("id", "user", "scope", "state", "created", "expires", "last used", "comment")
EXAMPLES = """\
  gridtoken create                               a token that may look, for 30 days; it is printed once
  gridtoken create --scope submit --expires 7d   one that may submit, for a week
  gridtoken list
  gridtoken revoke 12                            it opens nothing any more"""


@command
def main(argv: list[str]) -> int:
    parser = Parser("gridtoken", "Make, list and revoke tokens: who shows one of yours is you.", EXAMPLES)
    parser.add_argument("action", choices=tuple(ACTIONS), help="gridtoken create --help tells its options")
    return ACTIONS[parser.parse_args(argv[:1]).action](argv[1:])


def _create(argv: list[str]) -> int:
    parser = Parser("gridtoken create", "Make a token, and print it once.", EXAMPLES)
    parser.add_argument(
        "--scope", choices=[str(scope) for scope in Scope], default="read", help="what it allows; usually read"
    )
    parser.add_argument(
        "--expires", type=_seconds, default=USUAL_LIFE, metavar="TIME", help="12h, 30d (usually), 90d at most"
    )
    parser.add_argument("--comment", default="", metavar="TEXT", help="what it is for")
    parser.add_argument("--root", action="store_true", help="yes, root wants a token that may do everything")
    options = _parse(parser, argv)
    with open_grid() as grid:
        made = grid.ask(
            create_token,
            scope=Scope(options.scope),
            expires_in=options.expires,
            comment=options.comment,
            for_root=options.root,
        )
    with told_even_if_lost(lambda: f"the token was not shown; `gridtoken revoke {made.id}`, and make another"):
        print_json(plain(made)) if options.json else print(made.token)
    until = as_local(made.expires_at)
    complain(f"token {made.id} of {made.user} allows to {made.scope} until {until}; it is not shown again")
    return DONE


def _list(argv: list[str]) -> int:
    options = _parse(Parser("gridtoken list", "Your tokens; operators see those of everybody.", EXAMPLES), argv)
    with open_grid() as grid:
        tokens = grid.ask(get_tokens)
    if options.json:
        print_json(plain(tokens))
    else:
        print_table(TOKEN_COLUMNS, [_row(token) for token in tokens], prose=["comment"])
    return DONE


def _revoke(argv: list[str]) -> int:
    parser = Parser("gridtoken revoke", "Make a token worthless.", EXAMPLES)
    parser.add_argument("id", type=int, metavar="ID", help="its number, as `gridtoken list` shows it")
    options = _parse(parser, argv)
    with open_grid() as grid:
        revoked = grid.ask(revoke_token, token_id=options.id)
    if options.json:
        print_json(plain(revoked))
    else:
        print(f"token {revoked.id} of {revoked.user} is revoked")
    return DONE


ACTIONS = {"create": _create, "list": _list, "revoke": _revoke}


def _parse(parser: Parser, argv: list[str]) -> Namespace:
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    return parser.parse_args(argv)


def _row(token: TokenView) -> tuple[object, ...]:
    state = "valid" if token.is_valid else "revoked" if token.revoked_at else "expired"
    times = map(moment, (token.created_at, token.expires_at, token.last_used_at))
    return (token.id, token.user, token.scope, state, *times, token.comment)


def _seconds(text: str) -> int:
    try:
        seconds = read_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r}: {error}") from None
    if seconds is None:
        raise ArgumentTypeError(f"{text!r} is no time: {HOW_DURATION}")
    return int(seconds)
