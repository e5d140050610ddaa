"""`cigri cluster remove`: forgets a cluster without a history."""

from cigri.cli.command import Parser, open_database
from cigri.flow.clusters import remove_cluster


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster remove", "Forget a cluster that no campaign has used.", "  cigri cluster remove dahu"
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_database() as database, database.begin() as conn:
        remove_cluster(conn, name)
    print(f"Cluster {name} is forgotten")
    return 0
