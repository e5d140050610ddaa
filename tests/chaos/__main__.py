"""Attack a grid on the real clusters of the testbed, and account for each task: `scripts/chaos --help`."""

import argparse
import random
import signal
import sys
from collections.abc import Iterator

from tests.chaos.experiment import Account, play
from tests.chaos.injections import KINDS


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/chaos", description="Kill parts of a grid at random on four real clusters; account for each task."
    )
    parser.add_argument(
        "--seed", type=int, action="append", default=[], help="the same injections again; a campaign for each --seed"
    )
    parser.add_argument("--injections", type=int, default=40, help="how many in each campaign (40)")
    parser.add_argument("--tasks", type=int, help="of 4 to 20 s; injections end when none waits (50 an injection)")
    parser.add_argument(
        "--kind", action="append", default=[], choices=sorted(KINDS), help="only these, one for each --kind (all)"
    )
    options = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("chaos: asked to end; the clusters are emptied"))
    tasks = options.tasks or 50 * options.injections
    is_right = True
    for seed in options.seed or [random.randrange(1_000_000)]:
        print(f"seed {seed}", flush=True)
        account = play(seed, options.injections, tasks, lambda line: print(line, flush=True), options.kind)
        print("\n".join(_told(account)), flush=True)
        is_right &= account.is_right
    return 0 if is_right else 1


def _told(account: Account) -> Iterator[str]:
    yield from account.stories
    kinds = ", ".join(f"{count} x {name}" for name, count in sorted(account.injections.items()))
    yield f"{account.injections.total()} injections in {account.seconds:.0f} s: {kinds}"
    yield f"{account.tasks} tasks: {account.undone} not done, lost {account.lost}, doubled {account.doubled}"
    yield f"nothing went on after: {account.hung}"
    yield f"had failed, and done again as their user asked: {account.resubmitted}"
    yield f"longest recovery {account.longest_recovery:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
