"""gridweb: a link that lets a browser in, once and within a minute."""

import os

from cigri import installation
from cigri.cli.command import DONE, CommandParser, command, print_error, told_even_if_lost
from cigri.cli.grid_client import open_grid
from cigri.endpoints.identity import create_link, end_sessions
from cigri.endpoints.remote_portal import find_elsewhere
from cigri.errors import ConfigError
from cigri.formats.units import as_local
from cigri.identity.callers import AccessScope

EXAMPLES = """\
  gridweb                  open what it prints: the browser is you for 12 hours
  gridweb --scope read     and may look only
  gridweb --sign-out       all browsers are strangers again"""


@command
def main(argv: list[str]) -> int:
    parser = CommandParser("gridweb", "Print a one-time link, valid for a minute, that signs you in.", EXAMPLES)
    parser.add_argument(
        "--scope",
        choices=[str(scope) for scope in AccessScope],
        default="submit",
        help="what may be done: look; change campaigns of yours (default); what operators may",
    )
    parser.add_argument("--root", action="store_true", help="yes, root wants a browser that may do everything")
    parser.add_argument("--sign-out", action="store_true", help="end all your sessions, in whatever browser")
    options = parser.parse_args(argv)
    if options.sign_out:
        return _sign_out()
    _require_portal()
    with open_grid() as grid:
        made = grid.call(create_link, scope=AccessScope(options.scope), for_root=options.root)
    with told_even_if_lost(lambda: "the link was not shown; `gridweb` makes another"):
        print(made.url)
    print_error(
        f"one-time sign-in link for {made.user}, valid until {as_local(made.opens_until)}; "
        f"the session ends at {as_local(made.expires_at)}"
    )
    return DONE


def _sign_out() -> int:
    with open_grid() as grid:
        told = grid.call(end_sessions)
    print(f"{told.ended} sessions have ended")
    return DONE


def _require_portal() -> None:
    """A link is opened there."""
    if find_elsewhere(os.environ) is None and installation.find_portal() is None:
        raise ConfigError("no portal runs here, which would serve the pages: `cigri up` starts one")
