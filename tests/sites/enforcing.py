"""What makes a Slurm with accounting keep to limits."""

from tests.grid import Grid, until


def restart(grid: Grid) -> None:
    grid.site.daemon("stop", "slurmctld")
    grid.site.daemon("start", "slurmctld")
    until(lambda: "UP" in grid.site.sh("scontrol ping || true", user="root"))
    until(lambda: "unk" not in grid.site.sh("sinfo -h -o %t", user="root"))
