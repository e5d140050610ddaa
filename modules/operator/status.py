"""`cigri status`: what runs, how each module's last pass went, and the clusters."""

from datetime import datetime
from socket import gethostname
from typing import Any

from cigri.cli.command import CommandParser, escape_text, print_error, print_json
from cigri.cli.table_printing import print_table
from cigri.formats.units import as_duration
from cigri.formats.untrusted_text import exception_line
from cigri.installation import portal_socket
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from modules.operator.cluster.list import print_clusters
from modules.operator.installation_health import InstallationHealth, problems, read_health


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri status",
        "Show the database, the almighty, the portal, every module and every cluster.\n"
        "Exit status 1: something that should run does not.",
        "  cigri status\n  cigri status --json",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    settings = load()
    health = read_health(settings)
    wrong = problems(health, settings.almighty.deadline)
    if options.json:
        print_json(_plain(health, wrong, settings))
    else:
        _print(health, settings)
        for problem in wrong:
            print_error(problem)
    return 1 if wrong else 0


def _print(health: InstallationHealth, settings: Settings) -> None:
    answers = "does not answer" if health.trouble else f"schema {health.revision or 'missing'}"
    print(f"Database  {health.place}: {answers}")
    print(f"Almighty  {escape_text(_almighty(health))}")
    print(f"Portal    {escape_text(_portal(health, settings))}")
    if health.now is None or not health.is_current:
        print("Events    not known without the database")
        return
    events = ", ".join(f"{count} {level}" for level, count in sorted(health.events.items()))
    print(f"Events    {events or 'none'} open (`gridevents --global`, and of a campaign `gridevents ID`)")
    now = health.now
    print()
    print_table(
        ("module", "last pass", "took", "passes", "failures", "what it did"),
        [
            (
                module.name,
                _ago(module.at, now),
                f"{module.seconds or 0:.2f} s",
                module.passes,
                module.failures,
                f"FAILED: {exception_line(module.error)}"
                if module.error
                else ", ".join(f"{count} {what}" for what, count in module.counts.items()),
            )
            for module in health.modules
        ],
        prose=("what it did",),
    )
    print()
    if health.clusters:
        print_clusters(health.clusters)
    else:
        print("No cluster is declared: `cigri cluster add --help`")


def _almighty(health: InstallationHealth) -> str:
    if health.almighty:
        if health.is_stopped:
            return f"is stopped by a signal, as process {health.almighty}"
        pid = health.almighty
        has_stalled = any((process.pid, process.host) == (pid, gethostname()) for process in health.stalled)
        return f"has stalled, as process {pid}" if has_stalled else f"runs as process {pid}"
    if health.has_died:
        return "has died"
    hosts = sorted({f"{module.host} (process {module.pid})" for module in health.modules})
    return "does not run here" + (f"; last passes by {', '.join(hosts)}" if hosts else "")


def _portal(health: InstallationHealth, settings: Settings) -> str:
    if health.portal:
        return f"serves at {portal_socket(settings)} as process {health.portal}"
    return "has died" if health.has_portal_died else "does not run here"


def _ago(then: datetime, now: datetime) -> str:
    return f"{as_duration(max(0, int((now - then).total_seconds())))} ago"


def _plain(health: InstallationHealth, wrong: list[str], settings: Settings) -> dict[str, Any]:
    return {
        "ok": not wrong,
        "problems": wrong,
        "database": {"place": health.place, "answers": not health.trouble, "schema": health.revision},
        "almighty": {"pid": health.almighty, "died": health.has_died, "stopped": health.is_stopped},
        "stalled": [process._asdict() for process in health.stalled],
        "portal": {"pid": health.portal, "died": health.has_portal_died, "socket": str(portal_socket(settings))},
        "data_directory": str(settings.data_directory),
        "modules": [module._asdict() for module in health.modules],
        "clusters": [{**cluster._asdict(), "state": cluster.state} for cluster in health.clusters],
        "open_events": health.events,
    }
