"""`gridsub -- COMMAND`: a campaign without any description, run where its user stands."""

import argparse
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cigri.cli.command import CommandParser
from cigri.cli.description_source import DescriptionSource

SEPARATOR = "--"
PARAMETER_OPTIONS = ("--sweep", "--table")
LABEL = "the command"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER})(?::({_NUMBER}))?")


def add_options(parser: CommandParser) -> None:
    """What says with which parameters a command is run, and what it is called."""
    parser.add_argument(
        "--sweep", action="append", type=_axis, metavar="NAME=VALUES",
        help="with -- COMMAND: values of {NAME}, as 1,5,9 or from:to:step; several make all combinations",
    )  # fmt: skip
    parser.add_argument("--table", metavar="FILE", help="with -- COMMAND: a task for each row of a table (.csv, ...)")
    parser.add_argument("--name", metavar="NAME", help="with -- COMMAND: what the campaign is called")


def split_command(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The options, and the words behind --; options of parameters may stand at the end of these, too."""
    if SEPARATOR not in argv:
        return [*argv], None
    place = argv.index(SEPARATOR)
    options, words = [*argv[:place]], [*argv[place + 1 :]]
    if not any(word.partition("=")[0] in PARAMETER_OPTIONS for word in options):
        while len(words) > 2 and _is_ours(words[-2], words[-1], words[:-2]):
            options += [*words[-2:]]
            words = words[:-2]
    return options, words


def command_source(
    parser: CommandParser, options: argparse.Namespace, words: list[str] | None
) -> list[DescriptionSource]:
    """The description of a command in its user's directory; nothing, where no command is given."""
    if words is None:
        if options.sweep or options.table or options.name:
            parser.error("--sweep, --table and --name are about a command: give it behind --, at the end")
        return []
    if not words:
        parser.error("a command is missing behind --")
    if options.campaign is not None or options.files or options.sources:
        parser.error("give a description, or a command behind --, not both")
    described: dict[str, Any] = {"name": options.name or Path(words[0]).name, "exec_file": shlex.join(words)}
    described |= {"exec_directory": "."} | _parameters(parser, options)
    return [DescriptionSource(False, json.dumps(described), LABEL)]


def _parameters(parser: CommandParser, options: argparse.Namespace) -> dict[str, Any]:
    from cigri.jdl.parameter_files import JSON_LINES, TABLE_DELIMITERS, is_table

    if options.table and options.sweep:
        parser.error("--sweep and --table both say what the parameters are: give one of them")
    if options.table and not is_table(options.table):
        endings = ", ".join([*TABLE_DELIMITERS, *JSON_LINES])
        parser.error(f"--table {options.table}: the name of a table ends with one of {endings}")
    if options.table:
        return {"param_file": options.table}
    axes = dict(options.sweep or ())
    if len(axes) < len(options.sweep or ()):
        parser.error("--sweep: a name is given twice")
    return {"sweep": axes} if axes else {"params": [""]}


def _axis(text: str) -> tuple[str, Any]:
    """A name and its values, as a description has them; for argparse."""
    name, is_given, values = text.partition("=")
    if not name or not is_given or not values:
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=1,5,9 or NAME=from:to:step")
    if bounds := _RANGE.fullmatch(values):
        start, end, step = (_number(bound) for bound in bounds.groups("1"))
        return name, {"from": start, "to": end, "step": step}
    return name, values.split(",")


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _is_ours(option: str, value: str, before: Sequence[str]) -> bool:
    """Does a pair of words at the end of a command say what its {name} is? Else it is the program's own."""
    if option == "--sweep":
        return any(f"{{{value.partition('=')[0]}}}" in word for word in before)
    return option == "--table" and Path(value).is_file() and any("{" in word for word in before)
