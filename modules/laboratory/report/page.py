"""The report as one HTML file that needs nothing else: style within, plots as SVG, no JavaScript."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from modules.laboratory.evaluation.results import SeriesPoint, SimulationResults, added
from modules.laboratory.report import metric_definitions as the
from modules.laboratory.report.formatting import NO_FIGURE, core_hours, duration, escaped, number, percent, times
from modules.laboratory.report.metric_definitions import MetricDefinition
from modules.laboratory.report.svg import COLOURS, PlotSeries, bar_plot, line_plot, steps_plot

STYLE = Path(__file__).with_name("style.css")
MOST_ROWS = 200  # campaigns or users in a table; a file of megabytes is not read, the CSV has them all
MOST_BARS = 25

HOW_SHOWN: dict[str, Callable[[float], str]] = {
    "share": percent,
    "seconds": duration,
    "core-seconds": core_hours,
    "times": times,
    "index": number,
    "commands": number,
    "jobs": number,
}
UNITS = {
    "share": "%",
    "seconds": "s, min, h, d",
    "core-seconds": "core-h",
    "times": "\N{MULTIPLICATION SIGN}",
    "index": "0 to 1",
}


def to_html(results: SimulationResults) -> str:
    """An HTML document that needs no other file, and no network."""
    title = escaped(f"{results.scenario}: {results.scheduler}")
    sections = (_summary, _clusters, _waiting, _users, _campaigns, _expectation, _definitions)
    body = "\n".join(section(results) for section in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{title}</title><style>\n{STYLE.read_text()}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="soft">Simulation of {duration(results.seconds)} on {number(len(results.clusters))} clusters with '
        f"{number(results.grid.cores)} cores; seed {results.seed}.</p>\n{body}\n</body></html>\n"
    )


def _summary(results: SimulationResults) -> str:
    rows = []
    for figure, value_of in the.SUMMARY_FIGURES:
        value = value_of(results)
        rows.append((escaped(figure.title), _shown(figure, value), _target(figure, value)))
    return _section("In short", _table(("Figure", "Value", "Target"), rows))


def _clusters(results: SimulationResults) -> str:
    every = [*results.clusters, results.grid] if len(results.clusters) > 1 else results.clusters
    rows = [
        (
            escaped(cluster.name),
            number(cluster.cores),
            *(_shown(figure, value(cluster)) for figure, value in the.CLUSTER_FIGURES),
        )
        for cluster in every
    ]
    heads = ("Cluster", "Cores", *(figure.title for figure, _ in the.CLUSTER_FIGURES))
    return _section("Clusters", _table(heads, rows))


def _waiting(results: SimulationResults) -> str:
    shown = _busiest(results)
    plot = steps_plot("Jobs waiting in the queues of clusters", "jobs waiting", shown, results.seconds)
    return _section("Jobs waiting in the queues of clusters", plot, the.WAITING.definition)


def _busiest(results: SimulationResults) -> list[PlotSeries]:
    """The clusters; when there are too many, those with the longest queues, and all others together."""
    ranked = sorted(results.clusters, key=lambda cluster: -_area(cluster.waiting, results.seconds))
    if len(ranked) <= COLOURS:
        return [PlotSeries(cluster.name, cluster.waiting) for cluster in results.clusters]
    first, others = ranked[: COLOURS - 1], ranked[COLOURS - 1 :]
    together = PlotSeries(f"the other {len(others)} together", added([cluster.waiting for cluster in others]))
    return [*(PlotSeries(cluster.name, cluster.waiting) for cluster in first), together]


def _users(results: SimulationResults) -> str:
    users = sorted(results.users, key=lambda user: -user.slowdown)
    bars = bar_plot("Bounded slowdown by user", [(user.name, user.slowdown) for user in users[:MOST_BARS]], "times")
    rows = [(escaped(user.name), number(user.tasks), times(user.slowdown)) for user in users[:MOST_ROWS]]
    table = _table(("User", "Tasks ended", "Bounded slowdown"), rows)
    return _section("Users", bars + _left_out(len(users)) + table, the.SLOWDOWN.definition)


def _campaigns(results: SimulationResults) -> str:
    def longest_first(place: int) -> float:
        return -(results.campaigns[place].stretch or float("inf"))

    order = sorted(range(len(results.campaigns)), key=longest_first)
    campaigns = [results.campaigns[place] for place in order[:MOST_ROWS]]
    rows = [
        (
            escaped(campaign.name),
            escaped(campaign.user),
            *(_shown(figure, value(campaign)) for figure, value in the.CAMPAIGN_FIGURES),
        )
        for campaign in campaigns
    ]
    heads = ("Campaign", "User", *(figure.title for figure, _ in the.CAMPAIGN_FIGURES))
    note = f"{the.BOUND.definition} A campaign's own bound is that of having the grid to itself."
    return _section("Campaigns", _left_out(len(order)) + _table(heads, rows), note)


def _expectation(results: SimulationResults) -> str:
    foretold = results.expectation
    points = [SeriesPoint(100 * point.at, 100 * point.value) for point in foretold.errors]
    plot = line_plot(the.ERROR.title, "% of the campaign's life passed", "error, % of life", points, 100.0)
    said = f"Over {number(foretold.campaigns)} campaigns that ended. {the.ERROR.definition}"
    return _section("Error of the expected end over time", plot, said)


def _definitions(results: SimulationResults) -> str:
    """Each figure once, in the order of the report."""
    figures = {value.key: value for value, _ in (*the.SUMMARY_FIGURES, *the.CLUSTER_FIGURES, *the.OF_USER)}
    listed = (*figures.values(), the.WAITING, the.ERROR)
    items = "".join(
        f"<dt>{escaped(figure.title)} ({escaped(_unit(figure))})</dt><dd>{escaped(figure.definition)}</dd>"
        for figure in listed
    )
    return _section("What the figures mean", f"<dl>{items}</dl>")


def _section(title: str, content: str, note: str = "") -> str:
    said = f'<p class="soft">{escaped(note)}</p>' if note else ""
    return f"<section><h2>{escaped(title)}</h2>{said}{content}</section>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML."""
    top = "".join(f"<th>{escaped(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _left_out(count: int) -> str:
    more = count - MOST_ROWS
    return f'<p class="soft">The table leaves out the {number(more)} best; the CSV has all.</p>' if more > 0 else ""


def _shown(figure: MetricDefinition, value: float | None) -> str:
    return NO_FIGURE if value is None else escaped(HOW_SHOWN[figure.unit](value))


def _unit(figure: MetricDefinition) -> str:
    return UNITS.get(figure.unit, figure.unit)


def _target(figure: MetricDefinition, value: float | None) -> str:
    if figure.target is None:
        return ""
    sign = "\N{GREATER-THAN OR EQUAL TO}" if figure.above else "\N{LESS-THAN OR EQUAL TO}"
    wanted = f"{sign} {_shown(figure, figure.target)}"
    met = figure.is_met(value)
    if met is None:
        return wanted
    return f'{wanted} <span class="{"met" if met else "missed"}">{"met" if met else "missed"}</span>'


def _area(points: Sequence[SeriesPoint], end: float) -> float:
    ends = [*(point.at for point in points[1:]), end]
    return sum(point.value * (stop - point.at) for point, stop in zip(points, ends, strict=True)) if points else 0.0
