"""`cigri cluster change`: some settings of a declared cluster; all others stay."""

from cigri.cli.command import Parser, open_database
from cigri.flow.clusters import put_cluster
from modules.operator.cluster import standing_in
from modules.operator.cluster.declaration import add_options, put_together
from modules.operator.cluster.declared import find

EXAMPLES = """\
  cigri cluster change dahu --set max_waiting=50 --set poll_interval=10
  cigri cluster change dahu --host dahu2.example.org"""


def run(argv: list[str]) -> int:
    parser = Parser("cigri cluster change", "Change settings of a declared cluster.", EXAMPLES)
    add_options(parser)
    options = parser.parse_args(argv)
    with open_database() as database:
        with database.begin() as conn:
            stored = find(conn, options.name).config.model_dump(mode="json")
        config = standing_in.decide(options.name, put_together(options, stored))
        with database.begin() as conn:
            standing_in.refuse_under_jobs(conn, options.name, config)
            put_cluster(conn, options.name, config.model_dump(mode="json"))
            standing_in.tell(conn, options.name, config)
    print(f"Cluster {options.name} is changed; now: cigri cluster test {options.name}")
    return 0
