"""The parsers of all commands, as they build them themselves: for completion, man pages and docs/reference."""

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, metadata
from types import MappingProxyType
from typing import Any, NamedTuple

import shtab

from cigri.cli import gridtoken, gridtoken_keys
from cigri.cli.command import PARSER_WANTED, CommandParser, ParserBuilt
from modules import operator

COMPLETED_PATHS: Mapping[str, Any] = MappingProxyType({"FILE": shtab.FILE, "DIR": shtab.DIRECTORY})
"""What a shell completes where a word has this metavar."""
NOTHING_BELOW: Mapping[str, "CommandTree"] = MappingProxyType({})


class CommandTree(NamedTuple):
    """The parser of a command, and the commands that are one word longer, by that word."""

    parser: CommandParser
    below: Mapping[str, "CommandTree"] = NOTHING_BELOW

    def walk(self) -> Iterator[CommandParser]:
        """Yield the parser of the command and those of all that are longer."""
        yield self.parser
        for tree in self.below.values():
            yield from tree.walk()


def list_programs() -> dict[str, CommandTree]:
    """Return all programs of this installation by name, sorted."""
    entries = metadata.distribution("cigri").entry_points.select(group="console_scripts")
    special = {"cigri": _operator_tree, "gridtoken": _token_tree}
    found = {entry.name: entry for entry in entries}
    return {
        name: special[name]() if name in special else CommandTree(find_parser(inspect.unwrap(found[name].load())))
        for name in sorted(found)
    }


def operator_commands() -> Iterator[list[str]]:
    """Yield the words of each command of operators, without `cigri`; of those that have actions, each action."""
    for word in operator.COMMANDS:
        below = getattr(import_module(f"modules.operator.{operator.module_of(word)}"), "ACTIONS", None)
        yield from [[word, one] for one in below] if below else [[word]]


def parser_of(words: list[str]) -> CommandParser:
    """Return the parser of `cigri WORDS`."""
    return find_parser(import_module(".".join(["modules.operator", *map(operator.module_of, words)])).run)


def find_parser(begin: Callable[[list[str]], object]) -> CommandParser:
    """Return the parser that a command has built when it is about to look at its words."""
    try:
        begin([PARSER_WANTED])
    except ParserBuilt as built:
        return built.parser
    raise AssertionError(f"{begin} has asked no parser")


def joined(tree: CommandTree) -> ArgumentParser:
    """Return one parser for a program with all of its sub-commands, of which a shell's completion is made."""
    if not tree.below:
        _complete_files(tree.parser)
        return tree.parser
    parser = ArgumentParser(tree.parser.prog, description=tree.parser.description)
    _fill(parser, tree)
    return parser


def summary(parser: ArgumentParser) -> str:
    """Return the first sentence of its description on one line, without its full stop."""
    text = " ".join((parser.description or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".")


def _fill(parser: ArgumentParser, tree: CommandTree) -> None:
    below = parser.add_subparsers(parser_class=ArgumentParser)
    for word, one in tree.below.items():
        told = summary(one.parser).replace("%", "%%")
        if one.below:
            _fill(below.add_parser(word, help=told), one)
        else:
            _complete_files(one.parser)
            below.add_parser(word, help=told, parents=[one.parser], add_help=False)


def _complete_files(parser: ArgumentParser) -> None:
    for action in parser._actions:
        if action.metavar in COMPLETED_PATHS:
            vars(action)["complete"] = COMPLETED_PATHS[str(action.metavar)]


def _operator_tree() -> CommandTree:
    below: dict[str, CommandTree] = {}
    for word in operator.COMMANDS:
        actions = getattr(import_module(f"modules.operator.{operator.module_of(word)}"), "ACTIONS", ())
        below[word] = CommandTree(parser_of([word]), {one: CommandTree(parser_of([word, one])) for one in actions})
    return CommandTree(find_parser(inspect.unwrap(operator.main)), below)


def _token_tree() -> CommandTree:
    below = {word: CommandTree(find_parser(act)) for word, act in gridtoken.ACTIONS.items()}
    keys = {word: CommandTree(find_parser(act)) for word, act in gridtoken_keys.ACTIONS.items()}
    below["keys"] = CommandTree(below["keys"].parser, keys)
    return CommandTree(find_parser(inspect.unwrap(gridtoken.main)), below)
