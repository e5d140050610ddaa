"""Attack a grid on the real clusters of the testbed, and account for each task: `scripts/chaos --help`."""

import argparse
import random
import signal
import sys

from tests.chaos.experiment import play
from tests.chaos.injections import KINDS


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/chaos", description="Kill parts of a grid at random on four real clusters; account for each task."
    )
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="the same injections again")
    parser.add_argument("--injections", type=int, default=40, help="how many (40)")
    parser.add_argument("--tasks", type=int, help="of 4 to 20 s; injections end when none waits (50 an injection)")
    parser.add_argument(
        "--kind", action="append", default=[], choices=sorted(KINDS), help="only these, one for each --kind (all)"
    )
    options = parser.parse_args(argv)
    print(f"seed {options.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("chaos: asked to end; the clusters are emptied"))
    tasks = options.tasks or 50 * options.injections
    account = play(options.seed, options.injections, tasks, lambda line: print(line, flush=True), options.kind)
    print("".join(f"{story}\n" for story in account.stories), end="")
    kinds = ", ".join(f"{count} x {name}" for name, count in sorted(account.injections.items()))
    print(f"{account.injections.total()} injections in {account.seconds:.0f} s: {kinds}")
    print(f"{account.tasks} tasks: {account.undone} not done, lost {account.lost}, doubled {account.doubled}")
    print(f"nothing went on after: {account.hung}")
    print(f"had failed, and done again as their user asked: {account.resubmitted}")
    print(f"longest recovery {account.longest_recovery:.1f} s")
    return 0 if account.is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
