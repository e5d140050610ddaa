"""gridsub --backend: options of one submission in the batch systems' own spelling, and the tables of them."""

from collections.abc import Sequence

from cigri.api_models.submissions import BackendOptionTableView
from cigri.backend_options import IGNORED, ClusterBackendOptions
from cigri.cli.command import escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.submissions import backend_options
from cigri.formats.json_values import to_json_value

OPTION_COLUMNS = ("OPTION", "ATTRIBUTE", "OVERRIDES", "MEANING")


def joined(argv: Sequence[str]) -> list[str]:
    """The arguments with each `-b OPTIONS` in one word, since the options begin with a dash themselves."""
    words: list[str] = []
    remaining = iter(argv)
    for word in remaining:
        value = next(remaining, None) if word in ("-b", "--backend") else None
        words.append(word if value is None else f"--backend={value}")
    return words


def wants_tables(choices: Sequence[ClusterBackendOptions]) -> bool:
    """Is one of the words a question for help?"""
    return any({"-h", "--help", "help"} & set(choice.words) for choice in choices)


def show_tables(choices: Sequence[ClusterBackendOptions], output: str) -> None:
    """What the clusters that are named in the choices take, or all."""
    named = sorted({choice.cluster for choice in choices if choice.cluster})
    with open_grid() as grid:
        tables = sorted(walk(grid, backend_options, clusters=named), key=lambda table: table.clusters)
    if output == "json":
        print_json(
            {
                table.driver: {"clusters": table.clusters, "options": to_json_value(table.options or [])}
                for table in tables
            }
        )
        return
    for table in tables:
        _show(table)


def _show(table: BackendOptionTableView) -> None:
    title = f"{table.driver} ({', '.join(table.clusters)})"
    if not table.options:
        print(escape_text(f"{title} {IGNORED if table.options is None else 'takes no such options'}"))
        return
    print(escape_text(f"{title}:"))
    print_table(OPTION_COLUMNS, list(map(tuple, table.options)), prose=("OPTION", "ATTRIBUTE", "MEANING"))
    if table.note:
        print(escape_text(table.note))
    print()
