"""The options that a batch system takes from users: a table, and how words are read by it; no other text passes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from cigri.errors import UsageError

INDEXED = re.compile(r"(\D+?)(\d+)")
HELP = frozenset({"-h", "--help"})


class BackendOption(NamedTuple):
    """One option. `read` checks its value, perhaps writes it anew, and says in a ValueError what it should be.

    `attributes`: other names for it, as resource attributes of a job have them. `field`: what it overrides in a
    campaign's description. `joint`: what stands between its values where it may be given more than once.
    """

    name: str
    read: Callable[[str], str]
    help: str
    short: str = ""
    attributes: tuple[str, ...] = ()
    field: str = ""
    joint: str = ""

    @property
    def spelling(self) -> str:
        """As on a command line: `-c, --cpus-per-task`."""
        return f"{self.short}, --{self.name}" if self.short else f"--{self.name}"


class BackendOptionTable(NamedTuple):
    """`elsewhere`: options that are no business of this table, and what says the same; `note` goes below the table.

    `one_shape`: why an attribute may have no index but 0.
    """

    options: tuple[BackendOption, ...] = ()
    elsewhere: Mapping[str, str] = {}
    one_shape: str = "all nodes of a job have one shape here"
    note: str = ""

    def find(self, word: str) -> BackendOption:
        """The option that is called so, with its dashes or without; ValueError names the nearest."""
        bare = word.removeprefix("--")
        for option in self.options:
            if word == option.short or bare in (option.name, *option.attributes):
                return option
        indexed = INDEXED.fullmatch(bare)
        if indexed and any(indexed[1] in (option.name, *option.attributes) for option in self.options):
            if int(indexed[2]) == 0:
                return self.find(indexed[1])
            raise ValueError(f"{bare}: {self.one_shape}; leave {bare} out")
        if word in HELP or bare == "help":
            raise ValueError("help is for the command line: `gridsub -b -h`")
        if instead := self.elsewhere.get(word):
            raise ValueError(f"{word} is not for here; {instead}")
        raise ValueError(f"unknown option {word}{self._near(word)}")

    def _near(self, word: str) -> str:
        spellings = {f"--{option.name}": option for option in self.options}
        spellings |= {f"--{name}": option for option in self.options for name in option.attributes}
        near = get_close_matches(f"--{word.lstrip('-')}", spellings, n=1)
        if near:
            return f"; did you mean {near[0]}?"
        shorts = ", ".join(option.short or f"--{option.name}" for option in self.options)
        return f"; there are: {shorts}" if shorts else "; this batch system takes none"


def read_options(table: BackendOptionTable, words: Sequence[str]) -> dict[str, str]:
    """Values by the options' names, from words such as -c 4, -c4, --mem=2G, --mem 2G; ValueError tells all problems."""
    values: dict[str, str] = {}
    problems: list[str] = []
    remaining = iter(words)
    is_known = True
    for word in remaining:
        if not is_known and not word.startswith("-"):
            continue  # the value of an option that is not known
        is_known = True
        try:
            put_option(values, *_taken(table, word, remaining))
        except ValueError as problem:
            problems.append(str(problem))
            is_known = False
    if problems:
        raise ValueError("; ".join(problems))
    return values


def put_option(values: dict[str, str], option: BackendOption, value: str) -> None:
    """Check a value and keep it; ValueError when it is wrong, or given twice."""
    try:
        value = option.read(value)
    except ValueError as wrong:
        raise ValueError(f"{option.spelling}: {wrong}") from None
    if option.name in values and not option.joint:
        raise ValueError(f"{option.spelling} is given twice")
    values[option.name] = f"{values[option.name]}{option.joint}{value}" if option.name in values else value


def matching(pattern: str, expected: str) -> Callable[[str], str]:
    """A reader of values that match the pattern as a whole; `expected` is its ValueError's word for them."""

    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"expected {expected}, not {value!r}")
        return value

    return read


def between(lowest: int, highest: int, unless: str = "") -> Callable[[str], str]:
    """A reader of whole numbers in these bounds; `unless` is added to its ValueError."""

    def read(value: str) -> str:
        if not re.fullmatch(r"[+-]?\d{1,9}", value) or not lowest <= int(value) <= highest:
            raise ValueError(f"expected a whole number from {lowest} to {highest}{unless}, not {value!r}")
        return str(int(value))

    return read


def _taken(table: BackendOptionTable, word: str, remaining: Iterator[str]) -> tuple[BackendOption, str]:
    """One option and its value, which may be the next word."""
    if word == ":":
        raise ValueError(f"':' begins another shape of nodes: {table.one_shape}")
    if not re.match(r"--?\w", word):
        raise ValueError(f"{word!r} is no option; quote a value that holds blanks")
    name, equals, value = word.partition("=")
    if not word.startswith("--"):
        name, value = word[:2], word[2:].removeprefix("=")
        equals = value
    option = table.find(name)
    if not equals:
        value = next(remaining, "")
    if not value:
        raise ValueError(f"{option.spelling} needs a value")
    return option, value


# Options of one submission in the batch systems' own spelling, as `gridsub -b` and the API take them.

IGNORED = "takes no such options: what is given there is ignored"

ONE_CLUSTER = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(.*)", re.DOTALL)


class ClusterBackendOptions(NamedTuple):
    """Options for one cluster, or for all of the campaign (cluster "")."""

    cluster: str
    words: list[str]


def read_choices(texts: Sequence[str]) -> list[ClusterBackendOptions]:
    """`OPTIONS`, or `CLUSTER:OPTIONS`; raise UsageError where a quote is open or nothing is chosen."""
    from cigri.jdl.quoting import is_balanced, split

    choices = []
    for text in texts:
        of_cluster = ONE_CLUSTER.fullmatch(text)
        options = of_cluster[2] if of_cluster else text
        if not is_balanced(options):
            raise UsageError(f"-b {text}: a quote is not closed, or a backslash ends the line")
        if not split(options):
            raise UsageError(f"-b {text!r}: no option is given; `gridsub -b -h` shows what there is")
        choices.append(ClusterBackendOptions(of_cluster[1] if of_cluster else "", split(options)))
    return choices
