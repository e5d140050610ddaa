"""gridtoken keys: register, list and remove the SSH keys whose signatures give tokens of yours."""

import sys
from pathlib import Path

from cigri.api_models.ssh_keys import SshKeyView
from cigri.cli.command import DONE, CommandParser, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.ssh_keys import add_key, get_keys, remove_key
from cigri.errors import UsageError
from cigri.formats.json_values import to_json_value
from cigri.presentation.formatting import format_time
from cigri.ssh_keys.public_keys import LONGEST_PUBLIC_KEY, WHICH_FILE, read_public_key

KEY_COLUMNS = ("id", "user", "state", "added", "fingerprint", "comment")
STANDARD_INPUT = "-"
EXAMPLES = """\
  gridtoken keys add ~/.ssh/id_ed25519.pub    who signs with it may have tokens of yours
  gridtoken keys list
  gridtoken keys remove 3                     it gives none any more, and those that it gave are revoked"""


def keys(argv: list[str]) -> int:
    parser = CommandParser(
        "gridtoken keys", "Register, list and remove SSH keys, whose signatures give tokens.", EXAMPLES
    )
    parser.add_argument("action", choices=tuple(ACTIONS), help="gridtoken keys add --help tells its options")
    return ACTIONS[parser.parse_args(argv[:1]).action](argv[1:])


def _add(argv: list[str]) -> int:
    parser = _parser("gridtoken keys add", "Register a public SSH key.")
    parser.add_argument("file", metavar="FILE", help="its public part, as ~/.ssh/id_ed25519.pub; - is standard input")
    parser.add_argument("--user", default="", metavar="NAME", help="whose it is; for operators, if it is not yours")
    parser.add_argument("--root", action="store_true", help="yes, it is to give tokens that may do everything")
    options = parser.parse_args(argv)
    line = _read(options.file)
    read_public_key(line)  # before anything is sent: it may be the private one
    with open_grid() as grid:
        added = grid.call(add_key, public_key=line, user=options.user, for_root=options.root)
    _tell(added, f"SSH key {added.id} of {added.user} is registered: {added.fingerprint}", as_json=options.json)
    return DONE


def _list(argv: list[str]) -> int:
    options = _parser("gridtoken keys list", "Your SSH keys; operators see those of everybody.").parse_args(argv)
    with open_grid() as grid:
        found = walk(grid, get_keys)
    if options.json:
        print_json(to_json_value(found))
    else:
        print_table(KEY_COLUMNS, [_row(key) for key in found], prose=["comment"])
    return DONE


def _remove(argv: list[str]) -> int:
    parser = _parser("gridtoken keys remove", "Let a key give no more tokens, and revoke those that it gave.")
    parser.add_argument("id", type=int, metavar="ID", help="its number, as `gridtoken keys list` shows it")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        removed = grid.call(remove_key, key_id=options.id)
    _tell(removed, f"SSH key {removed.id} of {removed.user} is removed", as_json=options.json)
    return DONE


ACTIONS = {"add": _add, "list": _list, "remove": _remove}


def _parser(name: str, description: str) -> CommandParser:
    parser = CommandParser(name, description, EXAMPLES)
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    return parser


def _read(name: str) -> str:
    """No more than a key may have: whatever file is named."""
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.read(LONGEST_PUBLIC_KEY + 1)
        with Path(name).open() as file:
            return file.read(LONGEST_PUBLIC_KEY + 1)
    except UnicodeDecodeError:
        raise UsageError(f"{name}: this is no public key: {WHICH_FILE}") from None
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None


def _row(key: SshKeyView) -> tuple[object, ...]:
    state = "removed" if key.removed_at else "valid"
    return (key.id, key.user, state, format_time(key.created_at), key.fingerprint, key.comment)


def _tell(key: SshKeyView, sentence: str, *, as_json: bool) -> None:
    print_json(to_json_value(key)) if as_json else print(sentence)
