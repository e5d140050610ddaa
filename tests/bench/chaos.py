"""Four real clusters and the grid itself under random kills: what became of each task, and how long recovery took."""

from collections.abc import Iterator

from tests.bench.table import Row, row
from tests.chaos.experiment import play

SIZE = 40  # injections
TASKS = 50  # for each of them
SEED = 1


def measure(size: int = SIZE) -> Iterator[Row]:
    account = play(SEED, size, TASKS * size)
    what = (
        f"chaos: {account.tasks:,} tasks on two Slurm, Grid Engine and OAR, {account.injections.total()} injections"
        f" of {len(account.injections)} kinds in {account.seconds:.0f} s (`scripts/chaos --seed {SEED}`)"
    )
    yield row(f"{what}: lost", str(len(account.lost)), "at most 0")
    yield row(f"{what}: done twice", str(len(account.doubled)), "at most 0")
    yield row(f"{what}: after which nothing went on", str(len(account.hung)), "at most 0")
    yield row(f"{what}: not done", str(account.undone), "at most 0")
    yield row(f"{what}: had failed, and done again as their user asked", str(len(account.resubmitted)))
    yield row(f"{what}: longest recovery", f"{account.longest_recovery:.0f} s")
