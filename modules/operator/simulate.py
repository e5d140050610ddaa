"""`cigri simulate`: the real modules in virtual time against simulated clusters, and a report of how well they did."""

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cigri import package_files
from cigri.cli.command import CommandParser
from cigri.cli.table_printing import print_table
from cigri.errors import ConfigError, UsageError
from cigri.formats.machine_text import read_toml
from cigri.formats.units import as_duration

if TYPE_CHECKING:
    from modules.laboratory.evaluation.results import SimulationResults
    from modules.laboratory.scenario import Scenario
    from modules.laboratory.simulated_grid import SimulatedGrid

LOOK_PERIOD = 1.0  # seconds between two lines of progress


def run(argv: list[str]) -> int:
    scenarios = ", ".join(sorted(path.stem for path in _shipped().glob("*.toml")))
    parser = CommandParser(
        "cigri simulate",
        "Run CiGri's modules in virtual time against simulated clusters, on a database of their own.\n"
        f"SCENARIO is a file (docs/explanation/laboratory.md), or one that comes with CiGri: {scenarios}",
        "  cigri simulate daynight\n"
        "  cigri simulate my.toml --set forecast.algorithm=tap --report /tmp/tap\n"
        "  cigri simulate idle --seed 7 --json",
    )
    parser.add_argument("scenario", metavar="SCENARIO")
    parser.add_argument("--seed", type=int, metavar="N", help="instead of the scenario's")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="a setting of CiGri"
    )
    parser.add_argument("--report", type=Path, metavar="DIRECTORY", help="write report.html, .csv and .json there")
    parser.add_argument("--json", action="store_true", help="the whole result, for programs")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    options = parser.parse_args(argv)
    path = _find(options.scenario)
    settings = [_setting(text) for text in options.settings]
    results = simulate(path, settings, options.seed, _silent if options.quiet or options.json else _progress())
    if options.report:
        from modules.laboratory.report import write

        for place in write(results, options.report):
            print(place)
    _show(results, as_json=options.json)
    return 0


def simulate(
    path: Path,
    settings: Sequence[tuple[Sequence[str], Any]] = (),
    seed: int | None = None,
    watch: "Callable[[SimulatedGrid], None]" = lambda _: None,
) -> "SimulationResults":
    """The results of the scenario in a file, with some settings changed."""
    from cigri.database import embedded, schema
    from cigri.database.virtual import VirtualTimeDatabase
    from modules.laboratory.evaluation.run_recorder import RunRecorder
    from modules.laboratory.simulated_grid import SimulatedGrid

    scenario = _tuned(path, settings, seed)
    with embedded.temporary() as directory:
        database = VirtualTimeDatabase(embedded.url(directory))
        try:
            database.make_clock()
            schema.upgrade(database)
            world, notebook = SimulatedGrid(scenario, database, path.parent), RunRecorder(database)

            def note(world: "SimulatedGrid") -> None:
                notebook.note(world)
                watch(world)

            world.run(note)
            label = ", ".join(f"{'.'.join(name)}={value}" for name, value in settings)
            return notebook.results(world, label or "as shipped")
        finally:
            database.close()


def _tuned(path: Path, settings: Sequence[tuple[Sequence[str], Any]], seed: int | None) -> "Scenario":
    from modules.laboratory.scenario import read

    changes: dict[str, Any] = {} if seed is None else {"seed": seed}
    if settings:
        changed: dict[str, Any] = dict(read(path).settings)
        for (section, name), value in settings:
            changed[section] = {**changed.get(section, {}), name: value}
        changes["settings"] = changed
    return read(path, changes)


def _setting(text: str) -> tuple[Sequence[str], Any]:
    """forecast.algorithm=tap; a value is read as TOML where it is TOML, else as a word."""
    dotted, equals, value = text.partition("=")
    name = dotted.strip().split(".")
    if not equals or len(name) != 2 or not all(name):
        raise UsageError(f"--set {text}: write SECTION.NAME=VALUE, as forecast.algorithm=tap")
    try:
        return name, read_toml(f"value = {value}")["value"]
    except ValueError:
        return name, value


def _shipped() -> Path:
    return package_files.directory("etc") / "scenarios"


def _find(word: str) -> Path:
    ours = _shipped() / f"{word}.toml"
    path = ours if ours.is_file() and not Path(word).is_file() else Path(word)
    if not path.is_file():
        raise ConfigError(f"there is no scenario {word}: give a file, or one of `cigri simulate --help`")
    return path


def _silent(world: "SimulatedGrid") -> None:
    pass


def _progress() -> "Callable[[SimulatedGrid], None]":
    """A line that is written over, on a terminal; a line a minute elsewhere."""
    import sys

    shows_lines = not sys.stderr.isatty()
    width = shutil.get_terminal_size().columns - 1
    begun = last = time.monotonic()

    def show(world: "SimulatedGrid") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < (60 if shows_lines else LOOK_PERIOD):
            return
        last = now
        length = as_duration(world.scenario.length)
        text = f"{as_duration(world.now)} of {length} simulated in {as_duration(round(now - begun))}"
        print(text if shows_lines else f"\r{text[:width]:{width}}", end="\n" if shows_lines else "\r", file=sys.stderr)

    return show


def _show(results: "SimulationResults", *, as_json: bool) -> None:
    from modules.laboratory.report import to_json
    from modules.laboratory.report.metric_definitions import SUMMARY_FIGURES

    if as_json:
        print(to_json(results))
        return
    rows = [
        (figure.title, _shown(value(results)), figure.unit, _judged(figure.is_met(value(results))))
        for figure, value in SUMMARY_FIGURES
    ]
    print_table(("figure", "value", "unit", "target"), rows, prose=("figure",))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _judged(is_met: bool | None) -> str:
    return {None: "", True: "met", False: "missed"}[is_met]
