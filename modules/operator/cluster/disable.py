"""`cigri cluster disable`: keeps new jobs away from it."""

from cigri.cli.command import Parser, open_database
from cigri.flow.clusters import enable_cluster


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster disable",
        "Give the cluster no new jobs; those it has are watched to their end.",
        "  cigri cluster disable dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_database() as database, database.begin() as conn:
        enable_cluster(conn, name, enabled=False)
    print(f"Cluster {name} gets no new jobs")
    return 0
