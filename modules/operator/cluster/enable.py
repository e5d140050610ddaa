"""`cigri cluster enable`: gives it jobs, and forgives past failures."""

from cigri.cli.command import Parser, open_database
from cigri.flow.clusters import enable_cluster


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster enable",
        "Give the cluster jobs again; past failures are forgiven.",
        "  cigri cluster enable dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_database() as database, database.begin() as conn:
        enable_cluster(conn, name, enabled=True)
    print(f"Cluster {name} gets jobs")
    return 0
