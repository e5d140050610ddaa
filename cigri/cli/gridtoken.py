"""gridtoken: the tokens by which the grid knows you where no socket tells who you are, and SSH keys that give them."""

from argparse import ArgumentTypeError, Namespace
from pathlib import Path

from cigri.api_models.identity import CreatedToken, TokenView
from cigri.cli.command import DONE, CommandParser, command, grid_user, print_error, print_json, told_even_if_lost
from cigri.cli.grid_client import open_grid
from cigri.cli.gridtoken_keys import keys
from cigri.cli.table_printing import print_table
from cigri.endpoints.identity import USUAL_LIFE, create_token, get_tokens, revoke_token
from cigri.endpoints.paging import walk
from cigri.errors import UsageError
from cigri.formats.json_values import to_json_value
from cigri.formats.units import HOW_DURATION, as_local, read_duration
from cigri.identity.callers import AccessScope
from cigri.presentation.formatting import format_time

TOKEN_COLUMNS = ("id", "user", "scope", "state", "created", "expires", "last used", "SSH key", "comment")
EXAMPLES = """\
  gridtoken create                               a token that may look, for 30 days; it is printed once
  gridtoken create --scope submit --expires 7d   one that may submit, for a week
  gridtoken create --ssh-key ~/.ssh/id_ed25519   from elsewhere (CIGRI_URL), by a key of `gridtoken keys add`
  gridtoken list
  gridtoken keys list                            the SSH keys that give tokens of yours
  gridtoken revoke 12                            it opens nothing any more"""


@command
def main(argv: list[str]) -> int:
    purpose = "Make, list and revoke tokens. Anyone with your token can act as you."
    parser = CommandParser("gridtoken", purpose, EXAMPLES)
    parser.add_argument("action", choices=tuple(ACTIONS), help="gridtoken create --help tells its options")
    return ACTIONS[parser.parse_args(argv[:1]).action](argv[1:])


def _create(argv: list[str]) -> int:
    parser = CommandParser("gridtoken create", "Make a token, and print it once.", EXAMPLES)
    parser.add_argument(
        "--scope", choices=[str(scope) for scope in AccessScope], default="read", help="what it allows; usually read"
    )
    parser.add_argument(
        "--expires", type=_seconds, default=USUAL_LIFE, metavar="TIME", help="12h, 30d (usually), 90d at most"
    )
    parser.add_argument("--comment", default="", metavar="TEXT", help="what it is for")
    parser.add_argument("--root", action="store_true", help="yes, root wants a token that may do everything")
    parser.add_argument(
        "--ssh-key", metavar="FILE", help="sign with it for the grid elsewhere; its .pub alone: the agent signs"
    )
    parser.add_argument(
        "--user", metavar="NAME", help="with --ssh-key: who you are there; the same as here if not said"
    )
    options = _parse(parser, argv)
    if options.user and not options.ssh_key:
        raise UsageError("--user goes with --ssh-key: here the kernel says who you are")
    made = _signed_for(options) if options.ssh_key else _made(options)
    with told_even_if_lost(lambda: f"the token was not shown; `gridtoken revoke {made.id}`, and make another"):
        print_json(to_json_value(made)) if options.json else print(made.token)
    until = as_local(made.expires_at)
    print_error(f"token {made.id} of {made.user} allows to {made.scope} until {until}; it is not shown again")
    return DONE


def _made(options: Namespace) -> CreatedToken:
    asked = {"expires_in": options.expires, "comment": options.comment, "for_root": options.root}
    with open_grid() as grid:
        return grid.call(create_token, scope=AccessScope(options.scope), **asked)


def _signed_for(options: Namespace) -> CreatedToken:
    from cigri.cli.signed_token import create_by_key
    from cigri.ssh_keys.challenge_text import RequestedToken

    user = options.user or grid_user()
    wanted = RequestedToken(user, "", AccessScope(options.scope), options.expires, options.comment)
    return create_by_key(Path(options.ssh_key), wanted, for_root=options.root)


def _list(argv: list[str]) -> int:
    options = _parse(CommandParser("gridtoken list", "Your tokens; operators see those of everybody.", EXAMPLES), argv)
    with open_grid() as grid:
        tokens = walk(grid, get_tokens)
    if options.json:
        print_json(to_json_value(tokens))
    else:
        print_table(TOKEN_COLUMNS, [_row(token) for token in tokens], prose=["comment"])
    return DONE


def _revoke(argv: list[str]) -> int:
    parser = CommandParser("gridtoken revoke", "Make a token worthless.", EXAMPLES)
    parser.add_argument("id", type=int, metavar="ID", help="its number, as `gridtoken list` shows it")
    options = _parse(parser, argv)
    with open_grid() as grid:
        revoked = grid.call(revoke_token, token_id=options.id)
    if options.json:
        print_json(to_json_value(revoked))
    else:
        print(f"token {revoked.id} of {revoked.user} is revoked")
    return DONE


ACTIONS = {"create": _create, "list": _list, "revoke": _revoke, "keys": keys}


def _parse(parser: CommandParser, argv: list[str]) -> Namespace:
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    return parser.parse_args(argv)


def _row(token: TokenView) -> tuple[object, ...]:
    state = "valid" if token.is_valid else "revoked" if token.revoked_at else "expired"
    times = map(format_time, (token.created_at, token.expires_at, token.last_used_at))
    return (token.id, token.user, token.scope, state, *times, token.ssh_key_id, token.comment)


def _seconds(text: str) -> int:
    try:
        seconds = read_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r}: {error}") from None
    if seconds is None:
        raise ArgumentTypeError(f"{text!r} is no time: {HOW_DURATION}")
    return int(seconds)
