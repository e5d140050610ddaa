"""`cigri cluster add`: a declaration is checked, then stored; the next cycle visits the cluster."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_declarations import declare_cluster
from modules.operator.cluster import fallback
from modules.operator.cluster.declaration import add_options, put_together

EXAMPLES = """\
  cigri cluster add dahu --driver slurm --ssh cigri@dahu.example.org --known-hosts /etc/cigri/known_hosts
  cigri cluster add here --driver local --option spool=/var/lib/cigri/local --option 'pools={cpu=8}'
  cigri cluster add luke --file luke.toml --set max_waiting=50"""


def run(argv: list[str]) -> int:
    parser = CommandParser("cigri cluster add", "Declare a cluster.", EXAMPLES)
    add_options(parser)
    options = parser.parse_args(argv)
    values = put_together(options, {})
    with open_grid() as grid:
        config = fallback.decide(grid, options.name, values)
        done = grid.call(declare_cluster, cluster=options.name, config=config)
    fallback.warn(options.name, config)
    print(escape_text(done.message))
    return 0
