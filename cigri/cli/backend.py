"""gridsub --backend: options of one submission in the batch systems' own spelling, and the tables of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cigri.cli.command import complain, print_json, safe
from cigri.cli.tables import print_table
from cigri.errors import ConfigError, Problem, UsageError

if TYPE_CHECKING:
    from cigri.backend.options import BackendTable
    from cigri.drivers import Driver
    from cigri.jdl import ClusterSettings, Description
    from cigri.settings.cluster import ClusterConfig

ONE_CLUSTER = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(.*)", re.DOTALL)
OPTION_COLUMNS = ("OPTION", "ATTRIBUTE", "OVERRIDES", "MEANING")
IGNORED = "takes no such options: what is given there is ignored"


class Choice(NamedTuple):
    """Options for one cluster, or for all of the campaign (cluster "")."""

    cluster: str
    words: list[str]


def joined(argv: Sequence[str]) -> list[str]:
    """The arguments with each `-b OPTIONS` in one word, since the options begin with a dash themselves."""
    found: list[str] = []
    remaining = iter(argv)
    for word in remaining:
        value = next(remaining, None) if word in ("-b", "--backend") else None
        found.append(word if value is None else f"--backend={value}")
    return found


def read_choices(texts: Sequence[str]) -> list[Choice]:
    from cigri.jdl.quoting import is_balanced, split

    choices = []
    for text in texts:
        of_cluster = ONE_CLUSTER.fullmatch(text)
        options = of_cluster[2] if of_cluster else text
        if not is_balanced(options):
            raise UsageError(f"-b {text}: a quote is not closed, or a backslash ends the line")
        if not split(options):
            raise UsageError(f"-b {text!r}: no option is given; `gridsub -b -h` shows what there is")
        choices.append(Choice(of_cluster[1] if of_cluster else "", split(options)))
    return choices


def wants_tables(choices: Sequence[Choice]) -> bool:
    return any({"-h", "--help", "help"} & set(choice.words) for choice in choices)


def show_tables(clusters: "Mapping[str, ClusterConfig]", choices: Sequence[Choice], output: str) -> None:
    """What the drivers of the clusters take: of those named in the choices, or of all."""
    named = {choice.cluster for choice in choices if choice.cluster}
    if unknown := sorted(named - clusters.keys()):
        raise UsageError(f"there is no cluster {unknown[0]!r}; there are: {', '.join(sorted(clusters)) or 'none yet'}")
    places: dict[str, list[str]] = {}
    for name, config in sorted(clusters.items()):
        if not named or name in named:
            places.setdefault(config.driver, []).append(name)
    tables = {name: _load(name, clusters[some[0]].options).backend for name, some in places.items()}
    if output == "json":
        found = {name: {"clusters": places[name], "options": _rows(table)} for name, table in tables.items()}
        print_json(found)
        return
    for name, table in tables.items():
        _show(f"{name} ({', '.join(places[name])})", table)


def obey(
    name: str,
    description: "Description",
    choices: Sequence[Choice],
    clusters: "Mapping[str, ClusterConfig]",
    faults: list[str],
) -> "Description":
    """The description with its own options and those of the command line in force; `name` tells where it is from."""
    for choice in choices:
        if choice.cluster and choice.cluster not in description.clusters:
            faults.append(f"{name}: -b {choice.cluster}: the campaign has {', '.join(description.clusters)} only")
    if description.anywhere and (description.anywhere.backend or any(not choice.cluster for choice in choices)):
        message = "the grid chooses the clusters, and each kind has options of its own"
        faults.append(f"{name}: {Problem('backend', message, 'name the clusters, or write -b CLUSTER:OPTIONS')}")
        return description
    from cigri.jdl.writing import with_options_of_backend

    parts, written = dict(description.clusters), description.written
    for cluster, settings in description.clusters.items():
        words = [word for choice in choices if choice.cluster in ("", cluster) for word in choice.words]
        if not words and not settings.backend:
            continue
        if cluster not in clusters:
            complain(f"the options of the batch system of {cluster} were not checked")
            continue
        written = with_options_of_backend(written, cluster, [*settings.backend, *words])
        try:
            parts[cluster] = _obeyed(cluster, clusters[cluster], settings, words)
        except ValueError as error:
            hint = f"`gridsub -b {cluster}:-h` shows what it takes"
            faults.append(f"{name}: {Problem(f'clusters.{cluster}.backend', str(error), hint)}")
    return replace(description, clusters=parts, written=written)


def _obeyed(
    cluster: str, config: "ClusterConfig", settings: "ClusterSettings", words: Sequence[str]
) -> "ClusterSettings":
    from cigri.backend.overriding import override

    try:
        driver = _load(config.driver, config.options)
    except ConfigError as error:
        raise ValueError(f"cannot be checked: {error}") from None
    if driver.backend is None:
        complain(f"{cluster} {IGNORED}")
    return override(settings, driver, words)


def _show(title: str, table: "BackendTable | None") -> None:
    if table is None or not table.options:
        print(safe(f"{title} {IGNORED if table is None else 'takes no such options'}"))
        return
    print(safe(f"{title}:"))
    rows = [tuple(row.values()) for row in _rows(table)]
    print_table(OPTION_COLUMNS, rows, prose=("OPTION", "ATTRIBUTE", "MEANING"))
    if table.note:
        print(safe(table.note))
    print()


def _rows(table: "BackendTable | None") -> list[dict[str, str]]:
    return [
        {
            "option": option.spelling,
            "attribute": ", ".join(option.attributes),
            "overrides": option.field,
            "meaning": option.help,
        }
        for option in (table.options if table else ())
    ]


def _load(driver: str, options: Mapping[str, Any]) -> "Driver":
    from cigri.drivers import load

    return load(driver, options)
