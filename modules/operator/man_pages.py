"""Man pages, made of the parsers of commands: roff, as man(7) describes it; pure.

argparse-manpage would do it, too, but comes without a wheel, and needs setuptools where CiGri is installed.
"""

import argparse
from collections.abc import Iterator, Sequence
from importlib import metadata

from modules.operator.parsers import summary

EXAMPLES_TITLE = "examples:\n"


def page_name(command: str) -> str:
    """Return the name of a command's page, as git has it: `cigri-cluster-add`."""
    return command.replace(" ", "-")


def man_page(parser: argparse.ArgumentParser, commands: Sequence[str]) -> str:
    """Return the page of a command in section 1; `commands`: all that have a page, some of which it names."""
    vars(parser)["color"] = False  # from Python 3.14 on a usage has colours where standard output is a terminal
    name = page_name(parser.prog)
    usage = parser.format_usage().removeprefix("usage: ")
    epilog = (parser.epilog or "").removeprefix(EXAMPLES_TITLE)
    lines = [f'.TH "{_text(name.upper())}" 1 "" "cigri {metadata.version("cigri")}" "CiGri"']
    lines += [".SH NAME", f"{_text(name)} \\- {_text(summary(parser))}"]
    lines += [".SH SYNOPSIS", *_as_it_is(usage)]
    lines += [".SH DESCRIPTION", *_as_it_is(parser.description or "")]
    lines += [".SH OPTIONS", *_options(parser)]
    lines += [".SH EXAMPLES", *_as_it_is(epilog)]
    lines += [".SH SEE ALSO", ",\n".join(f"\\fB{_text(page_name(one))}\\fR(1)" for one in _near(parser.prog, commands))]
    return "\n".join(lines) + "\n"


def _near(command: str, commands: Sequence[str]) -> list[str]:
    """Return the commands one word longer or shorter, or else all programs, without the command itself."""
    words = command.split()
    close = [one for one in commands if one.split()[:-1] == words or one.split() == words[:-1]]
    return close or [one for one in commands if " " not in one and one != command]


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser.formatter_class(prog=parser.prog)
    for action in parser._actions:
        if action.help is argparse.SUPPRESS:
            continue
        yield ".TP"
        value = _value(parser, action)
        names = [f"\\fB{_text(name)}\\fR" for name in action.option_strings]
        yield ", ".join(names) + (f" {value}" if names and value else value)
        yield _text(formatter._expand_help(action) if action.help else "")


def _value(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return what stands behind an option, or for an argument, in italics; empty: nothing."""
    if action.option_strings and action.nargs == 0:
        return ""
    shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.metavar is None and action.choices:
        shown = "|".join(map(str, action.choices))
    return f"\\fI{_text(shown)}\\fR"


def _as_it_is(text: str) -> Iterator[str]:
    """Yield lines that are neither filled nor broken."""
    yield ".nf"
    yield from (_text(line) for line in text.rstrip().splitlines())
    yield ".fi"


def _text(text: str) -> str:
    """Return text that means itself: no line of it is a request, and hyphens can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith((".", "\\(aq")) else escaped
