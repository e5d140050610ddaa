"""`cigri cluster undrain`: the cluster gets jobs again, and those that run are told that they may go on."""

from cigri.cli.command import Parser, open_database
from cigri.errors import UsageError
from cigri.flow.clusters import enable_cluster
from cigri.flow.drains import find_drain
from modules.operator.cluster.declared import find


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster undrain",
        "End a drain: the cluster gets jobs, and those that run no longer find a shutdown announced.",
        "  cigri cluster undrain dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_database() as database, database.begin() as conn:
        if find_drain(conn, find(conn, name).id) is None:
            raise UsageError(f"cluster {name} is not drained; `cigri cluster enable {name}` gives it jobs")
        enable_cluster(conn, name, enabled=True)
    print(f"Cluster {name} gets jobs")
    return 0
