"""What all grid* commands share: options, exit statuses, the way to the database, and how answers are printed."""

import argparse
import atexit
import errno
import functools
import gc
import io
import json
import os
import pwd
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from cigri.cli.text_wrapping import width_of, wrap_text
from cigri.errors import CigriError, ConfigError, DatabaseUnavailable, UsageError
from cigri.formats.id_ranges import LONGEST_ID as LONGEST_ID  # for all commands
from cigri.formats.id_ranges import read_ids
from cigri.formats.untrusted_text import escape_text as escape_text  # for all commands
from cigri.formats.untrusted_text import safe_json

if TYPE_CHECKING:
    from cigri.database import Database

DONE, FAILED, BAD_USAGE = 0, 1, 2
INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell shows SIGINT and SIGPIPE
QUIET_IMPORTS = 200_000  # objects; looking for garbage at Python's own pace takes a fifth of a short command's time
WRONG_SCHEMA = ("42P01", "42703", "42704")  # no such table, column, type
LONGEST_RANGE = 10_000
OF_THE_HOST = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_NO_TEXT = re.compile("[\ud800-\udfff]")  # what Python makes of other bytes


PARSER_WANTED = "--parser-wanted"
"""A word that nobody types: instead of looking at words, the parser that gets it first raises ParserBuilt."""


class ParserBuilt(Exception):
    """Carries the parser of a command to who has asked for it, with all its options."""

    def __init__(self, parser: "CommandParser") -> None:
        super().__init__(parser.prog)
        self.parser = parser


class CommandParser(argparse.ArgumentParser):
    """Whole option names only, a version, and examples after the help."""

    def __init__(self, name: str, description: str, examples: str) -> None:
        super().__init__(
            prog=name,
            description=description,
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")

    def parse_args(  # type: ignore[override]  # our programs need no namespace of their own
        self, args: Sequence[str] | None = None
    ) -> argparse.Namespace:
        """Options and other words in any order, all of them text."""
        if args and args[0] == PARSER_WANTED:
            raise ParserBuilt(self)
        for number, word in enumerate(args or (), start=1):
            if _NO_TEXT.search(word):
                self.error(f"word {number} is not UTF-8 text: {ascii(word)[1:-1]}")
        return self.parse_intermixed_args(args)

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message on standard error, an option that may be meant with it; exit status 2."""
        self.print_usage(sys.stderr)
        self.exit(BAD_USAGE, f"{self.prog}: {message}{self._suggestion(message)}; see `{self.prog} --help`\n")

    def _suggestion(self, message: str) -> str:
        options = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        wrong = [word.partition("=")[0] for word in message.split() if word.startswith("--")]
        near = get_close_matches(wrong[0], options, n=1) if wrong and wrong[0] not in options else []
        return f" (did you mean {near[0]}?)" if near else ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        print(f"{parser.prog} {metadata.version('cigri')}")
        parser.exit()


def command(body: Callable[[list[str]], int]) -> Callable[[Sequence[str] | None], int]:
    """Make `body` a program: it gets the arguments, prints, and gives its exit status; its errors become ours."""

    @functools.wraps(body)
    def main(argv: Sequence[str] | None = None) -> int:
        gc.set_threshold(QUIET_IMPORTS)
        atexit.register(gc.freeze)  # what is left when Python ends goes with the process, unsearched
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 still shows all
        try:
            status = body(sys.argv[1:] if argv is None else list(argv))
            sys.stdout.flush()
        except BrokenPipeError:
            _close_output()
            return BROKEN_PIPE
        except KeyboardInterrupt:
            return INTERRUPTED
        except SystemExit as done:  # argparse has printed help or an error
            return done.code if isinstance(done.code, int) else FAILED
        except CigriError as error:
            print_error(str(error))
            return BAD_USAGE if isinstance(error, UsageError | ConfigError) else FAILED
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OF_THE_HOST:
                _close_output()
                print_error(_refused_by_host(error))
                return FAILED
            traceback.print_exc()
            print_error("this is a bug in CiGri: please report the lines above")
            return FAILED
        return status

    return main


def _close_output() -> None:
    """Throw away what could not be written: Python would try again at its end, and fail with a status of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused_by_host(error: OSError) -> str:
    subject = error.filename or ("this" if isinstance(error, PermissionError) else "the answer cannot be written")
    owner = f" (you are {grid_user()})" if isinstance(error, PermissionError) else ""
    return f"{subject}: {error.strerror}{owner}"


@contextmanager
def told_even_if_lost(sentence: Callable[[], str]) -> Iterator[None]:
    """For what is done and must not be done again: it is told on standard error, too, where the answer is lost."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        print_error(sentence())
        raise


def grid_user() -> str:
    """The name under which the caller is known: that of the account, whatever the environment says."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise CigriError(f"the account with number {os.geteuid()} has no name on this host") from None


@contextmanager
def open_database() -> "Iterator[Database]":
    """The database of this installation; raise what a person can act on when it is away or of another version."""
    from sqlalchemy.exc import ProgrammingError

    from cigri import installation
    from cigri.database import Database

    database = Database(installation.find_database())
    try:
        yield database
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) in WRONG_SCHEMA:
            raise ConfigError("the database was not made for this version of CiGri: run `cigri db upgrade`") from error
        raise
    except DatabaseUnavailable as error:
        raise DatabaseUnavailable(f"{error}\ntry again later, or check database.url with `cigri config`") from error
    finally:
        database.close()


def ids(text: str) -> list[int]:
    """Ids as typed: "3", "3,5" or "3-7"; for argparse."""
    try:
        return read_ids(text, LONGEST_RANGE)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def print_error(message: str) -> None:
    """A line for a person, on standard error, under the command's name; on a terminal as many as it takes."""
    lines = f"{os.path.basename(sys.argv[0])}: {escape_text(message)}".splitlines()
    width = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
    for line in lines:
        parts = wrap_text(line, width) if width and width_of(line) > width else [line]
        print("\n".join(parts), file=sys.stderr)


def print_json(value: object) -> None:
    """For programs; dates as ISO 8601."""
    print(safe_json(json.dumps(value, indent=2, ensure_ascii=False, default=_plain)))


def _plain(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
