"""The command `cigri`: starts, stops, shows, checks and sets up this installation; one file a sub-command.

Each has `run`, which takes the words behind the sub-command and gives the exit status; its docstring is the file's.
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from importlib import import_module

from cigri.cli.command import CommandParser, command
from cigri.errors import UsageError

COMMANDS = {
    "up": "start the database, bring it up to date, and start the almighty",
    "down": "stop all that `up` has started; jobs go on",
    "uninstall": "end the grid of this user and remove it, but no results",
    "status": "what runs, how the modules are, and the clusters",
    "run": "one pass of a module by hand, or passes for ever",
    "almighty": "cycle the modules, in the foreground",
    "portal": "serve people, in the foreground",
    "db": "the database's schema and address",
    "key": "the name of this grid on clusters",
    "cluster": "declare, test and change clusters",
    "resources": "describe sites, clusters and queues, and what they have",
    "pools": "what jobs demand of queues, and how many are eligible",
    "campaign": "give a campaign a priority",
    "limit": "say how much of something, as licences, all jobs may use together",
    "quota": "say how many cores users and projects may have at a time",
    "target": "say how much of the grid is due to users and projects",
    "affinity": "say which users go first on which clusters",
    "accounting": "make the core-hours that are told what ended jobs add up to",
    "doctor": "check that the tables keep their promises, and say what is stuck",
    "config": "the settings in force and where each comes from",
    "import-cigri3": "take over what a CiGri 3 has",
    "completion": "print what a shell needs to complete the words of all commands",
    "man": "print or write the man pages of all commands",
    "simulate": "the modules in virtual time against simulated clusters, and a report",
}
HERE_ONLY = {
    "up": "it starts this host's processes",
    "down": "it ends this host's processes",
    "uninstall": "it ends this host's processes and removes their files",
    "status": "it looks for this host's processes, and tells of a database or a portal that does not answer",
    "run": "it is a module, which writes the tables",
    "almighty": "it is the modules, which write the tables",
    "portal": "it is the portal",
    "db": "it changes the schema, which no portal may",
    "key": "it says which grid the database is, after a copy or a restore",
    "cluster test": "it runs a job with this host's keys and tells each step as it goes",
    "accounting": "it reads every ended job, which takes longer than the portal has for an answer",
    "doctor": "it asks clusters with this host's keys, and looks at its files",
    "config": "it tells this host's settings",
    "import-cigri3": "it reads another database, and stores campaigns of others",
    "completion": "it tells of the commands of this host",
    "man": "it tells of the commands of this host",
    "simulate": "it is a program of its own, which needs no grid",
}
"""Sub-commands that do their work where they are called, and why; all others ask the portal where there is one."""
EXAMPLES = """\
  cigri up                          a grid on this host, ready for gridsub
  cigri cluster add dahu --driver slurm --ssh cigri@dahu.example.org
  cigri cluster test dahu
  cigri COMMAND --help"""


@command
def main(argv: list[str]) -> int:
    """Exit status of the sub-command; 2 when there is none of that name."""
    with _hangups_kept() if argv[:1] == ["portal"] else nullcontext():
        return dispatch("cigri", "Operate a CiGri grid.", COMMANDS, EXAMPLES, argv)


@contextmanager
def _hangups_kept() -> Iterator[None]:
    """Keep SIGHUP back: it would end the portal in the half second of imports before the portal can take it.

    Whoever comes afterwards in this process, and the processes that it starts, get the signal as before.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def dispatch(name: str, description: str, commands: Mapping[str, str], examples: str, argv: list[str]) -> int:
    """Run the sub-command that `argv` names; only its own file is imported."""
    width = max(map(len, commands))
    listing = "".join(f"  {word:{width}}  {text}\n" for word, text in commands.items())
    parser = CommandParser(name, f"{description}\n\ncommands:\n{listing}", examples)
    parser.add_argument("command", metavar="COMMAND", help="one of the commands above")
    word = parser.parse_args(argv[:1]).command
    if word not in commands:
        near = get_close_matches(word, list(commands), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(commands)}"
        raise UsageError(f"{name} has no command {word!r}; {hint}")
    run = import_module(f"{__name__}.{'.'.join(map(module_of, [*name.split()[1:], word]))}").run
    status: int = run(argv[1:])
    return status


def module_of(word: str) -> str:
    """The name of the file of a sub-command."""
    return word.replace("-", "_")
