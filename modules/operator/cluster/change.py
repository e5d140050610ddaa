"""`cigri cluster change`: some settings of a declared cluster; all others stay."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_declarations import change_cluster, declared_clusters
from cigri.endpoints.paging import walk
from modules.operator.cluster import fallback
from modules.operator.cluster.declaration import add_options, put_together

EXAMPLES = """\
  cigri cluster change dahu --set max_waiting=50 --set poll_interval=10
  cigri cluster change dahu --host dahu2.example.org"""


def run(argv: list[str]) -> int:
    parser = CommandParser("cigri cluster change", "Change settings of a declared cluster.", EXAMPLES)
    add_options(parser)
    options = parser.parse_args(argv)
    with open_grid() as grid:
        [stored] = walk(grid, declared_clusters, names=[options.name])
        config = fallback.decide(grid, options.name, put_together(options, stored.standing.config))
        done = grid.call(change_cluster, cluster=options.name, config=config)
    fallback.warn(options.name, config)
    print(escape_text(done.message))
    return 0
