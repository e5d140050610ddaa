"""Four real clusters and the grid itself under random kills: what became of each task, and how long recovery took."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.bench.table import Row, row
from tests.chaos.experiment import Account, play

SIZE = 40  # injections in each campaign
TASKS = 50  # for each of them
SEEDS = tuple(range(1, 9))  # of a campaign each


def measure(size: int = SIZE, seeds: Sequence[int] = SEEDS) -> Iterator[Row]:
    yield from told([play(seed, size, TASKS * size) for seed in seeds], seeds)


def told(accounts: Sequence[Account], seeds: Sequence[int]) -> Iterator[Row]:
    """The rows of campaigns that were played with these seeds, all together."""
    injections = sum((account.injections for account in accounts), Counter[str]())
    command = " ".join(["scripts/chaos", *(f"--seed {seed}" for seed in seeds)])
    what = (
        f"chaos: {sum(account.tasks for account in accounts):,} tasks on two Slurm, Grid Engine and OAR,"
        f" {injections.total()} injections of {len(injections)} kinds"
        f" in {sum(account.seconds for account in accounts):.0f} s (`{command}`)"
    )
    yield row(f"{what}: lost", str(sum(len(account.lost) for account in accounts)), "at most 0")
    yield row(f"{what}: done twice", str(sum(len(account.doubled) for account in accounts)), "at most 0")
    yield row(f"{what}: after which nothing went on", str(sum(len(account.hung) for account in accounts)), "at most 0")
    yield row(f"{what}: not done", str(sum(account.undone for account in accounts)), "at most 0")
    redone = sum(len(account.resubmitted) for account in accounts)
    yield row(f"{what}: had failed, and done again as their user asked", str(redone))
    yield row(f"{what}: longest recovery", f"{max(account.longest_recovery for account in accounts):.0f} s")
