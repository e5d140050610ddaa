"""`cigri cluster add`: a declaration is checked, then stored; the next cycle visits the cluster."""

from cigri.cli.command import Parser, open_database
from cigri.errors import UsageError
from cigri.flow.clusters import find_cluster, put_cluster
from modules.operator.cluster import standing_in
from modules.operator.cluster.declaration import add_options, put_together

EXAMPLES = """\
  cigri cluster add dahu --driver slurm --ssh cigri@dahu.example.org --known-hosts /etc/cigri/known_hosts
  cigri cluster add here --driver local --option spool=/var/lib/cigri/local --option 'pools={cpu=8}'
  cigri cluster add luke --file luke.toml --set max_waiting=50"""


def run(argv: list[str]) -> int:
    parser = Parser("cigri cluster add", "Declare a cluster.", EXAMPLES)
    add_options(parser)
    options = parser.parse_args(argv)
    config = standing_in.decide(options.name, put_together(options, {}))
    with open_database() as database, database.begin() as conn:
        if find_cluster(conn, options.name):
            raise UsageError(f"cluster {options.name} is declared already; `cigri cluster change {options.name}`")
        put_cluster(conn, options.name, config.model_dump(mode="json"))
        standing_in.tell(conn, options.name, config)
    print(f"Cluster {options.name} is declared; now: cigri cluster test {options.name}")
    return 0
