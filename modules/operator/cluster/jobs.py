"""`cigri cluster jobs`: the jobs that live on a cluster."""

from collections.abc import Sequence

from cigri.api_models.jobs import ClusterJobView
from cigri.cli.command import CommandParser, print_error, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.clusters import cluster_jobs
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value
from cigri.presentation.formatting import format_time

CLUSTER_JOB_COLUMNS = ("Job", "Campaign", "User", "State", "Cores", "Remote id", "Node", "Submitted", "Started")


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster jobs",
        "Show the jobs of yours that live on a cluster; operators see those of everybody.",
        "  cigri cluster jobs dahu",
    )
    parser.add_argument("name", metavar="CLUSTER", help="its name or number")
    parser.add_argument("--json", action="store_true", help="the list for programs")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        jobs = walk(grid, cluster_jobs, cluster=options.name)
    if options.json:
        print_json(to_json_value(jobs))
    elif jobs:
        _show(jobs)
    else:
        print_error(f"no job of yours lives on {options.name}; `gridclusters` shows how many of the grid's do")
    return 0


def _show(jobs: Sequence[ClusterJobView]) -> None:
    print_table(
        CLUSTER_JOB_COLUMNS,
        [
            (
                job.id,
                job.campaign_id,
                job.user,
                f"{job.state}, held" if job.is_held else job.state,
                job.width,
                job.remote_id or "-",
                job.node or "-",
                format_time(job.submitted_at),
                format_time(job.started_at),
            )
            for job in jobs
        ],
        prose=("User", "Remote id", "Node"),
    )
