"""`cigri pools`: what jobs demand of queues, and for how many queues each of it is eligible."""

from typing import Any

from cigri.api_models.resources import PoolView
from cigri.cli.command import CommandParser, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.eligibility.queues import read_wanted
from cigri.endpoints import resources
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value
from cigri.presentation.formatting import format_time
from cigri.requirements import JobShape, ValueKind, shown

POOL_COLUMNS = ("Pool", "Project", "Buckets", "Queues", "Computed", "Jobs", "Requirements")
DIGITS = 12  # of a digest that are shown


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri pools",
        "List the submit pools: jobs of a project that demand the same of a queue, the buckets of open campaigns that\n"
        "are of each, and how many queues are eligible. With a queue: only those for which it is eligible.",
        "  cigri pools\n  cigri pools fat@dahu      the queue fat of the cluster dahu; its default queue is dahu\n"
        "  gridstat --why CAMPAIGN   why a queue is not eligible",
    )
    parser.add_argument("queue", nargs="?", metavar="QUEUE@CLUSTER")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        pools = walk(grid, resources.pools, queue=options.queue or "")
    if options.json:
        print_json(to_json_value(pools))
    else:
        print_table(POOL_COLUMNS, [_line(pool) for pool in pools], prose=("Jobs", "Requirements"))
    return 0


def _line(pool: PoolView) -> tuple[Any, ...]:
    wanted = read_wanted(pool.requirements)
    where = f"queue {wanted.queue}, " if wanted.queue else ""
    facts = (pool.digest[:DIGITS], pool.project or None, pool.buckets, pool.queues, format_time(pool.updated_at))
    return *facts, where + _jobs(wanted.shape), str(wanted.requirement) or None


def _jobs(shape: JobShape) -> str:
    """Of each node, if there are several."""
    each = [f"{shape.cpu} core" + ("s" if shape.cpu > 1 else "")]
    each += [shown(shape.mem_bytes, ValueKind.SIZE)] if shape.mem_bytes else []
    each += [f"{name} {amount}" for name, amount in sorted(shape.others.items())]
    nodes = f"{shape.nodes} nodes of " if shape.nodes > 1 else ""
    return f"{nodes}{', '.join(each)}, {shown(shape.walltime, ValueKind.DURATION)}"
