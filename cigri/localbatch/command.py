"""The local batch system by hand: `python -P -m cigri.localbatch.command VERB --spool DIR ...`, in words.

It prints and exits as `client`, which says the same in JSON.
"""

import argparse
import json
import os
import sys

from cigri.localbatch import client


def main() -> int:
    """Send the one request that the command line says; gives the exit status, as `client` has it."""
    options = parse(sys.argv[1:])
    request = json.dumps({"verb": options.verb, **REQUESTS[options.verb](options)}).encode()
    pools = None if options.no_start else [f"--pool={pool}" for pool in options.pool]
    return client.tell(request, options.spool, pools)


def parse(argv: list[str]) -> argparse.Namespace:
    """The verb and the options of its request; with wrong ones argparse ends the program, status 2."""
    parser = argparse.ArgumentParser(prog="cigri-local", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    parsers = {verb: verbs.add_parser(verb, allow_abbrev=False) for verb in REQUESTS}
    for each in parsers.values():
        each.add_argument("--spool", required=True, type=os.path.abspath, help="directory of the daemon")
        each.add_argument(
            "--pool", action="append", default=[], metavar="NAME=AMOUNT", help="of a daemon to start or resize"
        )
        each.add_argument("--no-start", action="store_true", help="do not start the daemon")
    for name in ("size", "cpu", "nodes", "mem", "walltime", "notice"):
        default = {"size": None, "walltime": None, "cpu": 1, "nodes": 1}.get(name, 0)
        parsers["submit"].add_argument(f"--{name}", type=int, default=default, required=default is None)
    parsers["submit"].add_argument("--name", required=True)
    parsers["submit"].add_argument("--other", action="append", default=[], type=other, metavar="NAME=AMOUNT")
    parsers["submit"].add_argument("--properties", default="")
    parsers["submit"].add_argument("argv", nargs="+", metavar="COMMAND")
    for verb in ("submit", "capacity"):
        parsers[verb].add_argument("--queue", default="")
    parsers["list"].add_argument("--prefix", default="")
    parsers["list"].add_argument("--everybody", action="store_true")
    return parser.parse_args(argv)


def other(text: str) -> tuple[str, int]:
    """NAME=AMOUNT, the amount a whole number; argparse tells of the ValueError."""
    name, _, amount = text.partition("=")
    return name, int(amount)


def submit(options: argparse.Namespace) -> dict[str, object]:
    """Amounts are those of one job, mem in MB of each node, walltime and notice in seconds, `others` by pool."""
    names = ("name", "size", "cpu", "nodes", "mem", "walltime", "notice", "argv", "queue", "properties")
    return {"others": dict(options.other)} | {name: getattr(options, name) for name in names}


def list_live(options: argparse.Namespace) -> dict[str, object]:
    """Only arrays whose name begins with the prefix; everybody's are shown to all."""
    return {"prefix": options.prefix, "everybody": options.everybody}


def history(options: argparse.Namespace) -> dict[str, object]:
    """A line of standard input is a key: NAME INDEX ID, where ID is - if it is not known."""
    return {"keys": input_lines()}


def jobs(options: argparse.Namespace) -> dict[str, object]:
    """For all verbs that do something to jobs; a line of standard input is an id, ARRAY_INDEX."""
    return {"ids": input_lines()}


def capacity(options: argparse.Namespace) -> dict[str, object]:
    """The daemon refuses any queue: it has none."""
    return {"queue": options.queue, "properties": ""}


def probe(options: argparse.Namespace) -> dict[str, object]:
    """A request of no fields."""
    return {}


def resize(options: argparse.Namespace) -> dict[str, object]:
    """The pools as they shall be; one that is left out is the host's own again (cpu, mem), or goes."""
    return {"pools": dict(map(other, options.pool))}


def input_lines() -> list[str]:
    """Standard input to its end, without empty lines."""
    return [line for line in sys.stdin.read().split("\n") if line]


REQUESTS = {
    "submit": submit,
    "list": list_live,
    "history": history,
    "cancel": jobs,
    "hold": jobs,
    "release": jobs,
    "suspend": jobs,
    "resume": jobs,
    "capacity": capacity,
    "probe": probe,
    "resize": resize,
}


if __name__ == "__main__":
    sys.exit(main())
