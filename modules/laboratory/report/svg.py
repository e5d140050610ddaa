"""Plots as SVG: steps over time, lines, bars; colours come from the classes of style.css. No JavaScript."""

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple

from cigri.formats.units import DAY, HOUR, MINUTE
from modules.laboratory.evaluation.results import SeriesPoint
from modules.laboratory.report.formatting import escaped, number

WIDTH, HEIGHT = 860, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 44
COLOURS = 8  # as many as style.css has; a plot of more series is not readable anyway
PLOT_COLUMNS = 400  # a step plot of more points shows the mean of each column
BAR, BAR_GAP, LABEL = 18, 6, 200
TINY = 1e-9  # a plot of less is a plot of nothing
TIME_UNITS = ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes"), (1, "seconds"))


class PlotSeries(NamedTuple):
    name: str
    points: Sequence[SeriesPoint]


class PlotFrame(NamedTuple):
    """What of the data is where on the paper: x from 0 to `width`, y from 0 to `height`."""

    width: float
    height: float

    def x(self, at: float) -> float:
        """From left to right on the paper, in the units of the viewBox."""
        return LEFT + at / self.width * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """From top to bottom on the paper, so that larger values are higher up."""
        return HEIGHT - BOTTOM - value / self.height * (HEIGHT - TOP - BOTTOM)


def steps_plot(title: str, unit: str, series: Sequence[PlotSeries], seconds: float) -> str:
    """Step functions of time from 0 to `seconds`, at most eight; an area below the first if it is alone."""
    shown = [PlotSeries(name, thinned(points, seconds)) for name, points in series]
    scale, word = time_unit(seconds)
    frame = _frame(seconds, [point for line in shown for point in line.points])
    paths = "".join(_steps(frame, line.points, colour, alone=len(shown) == 1) for colour, line in enumerate(shown))
    return _svg(title, HEIGHT, _axes(frame, scale, word, unit) + paths) + _legend(shown)


def line_plot(title: str, x_unit: str, unit: str, points: Sequence[SeriesPoint], width: float) -> str:
    """One line through points, x from 0 to `width`; a dot on each point."""
    frame = _frame(width, points)
    places = [(frame.x(point.at), frame.y(point.value)) for point in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle class="dot c0" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
    return _svg(title, HEIGHT, _axes(frame, 1.0, x_unit, unit) + f'<polyline class="line c0" points="{line}"/>' + dots)


def bar_plot(title: str, bars: Sequence[tuple[str, float]], unit: str) -> str:
    """A bar for each name with its figure behind it."""
    largest = max((value for _, value in bars), default=0.0) or 1.0
    room = WIDTH - LABEL - RIGHT - 110
    rows = []
    for row, (name, value) in enumerate(bars):
        y = TOP + row * (BAR + BAR_GAP)
        length = value / largest * room
        said = escaped(f"{number(value)} {unit}")
        rows.append(
            f'<text class="name" x="{LABEL - 8}" y="{y + 13}">{escaped(_short(name))}</text>'
            f'<rect class="bar c0" x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="3">'
            f"<title>{escaped(name)}: {said}</title></rect>"
            f'<text class="value" x="{LABEL + length + 6:.1f}" y="{y + 13}">{said}</text>'
        )
    return _svg(title, TOP * 2 + len(bars) * (BAR + BAR_GAP), "".join(rows))


def thinned(points: Sequence[SeriesPoint], seconds: float) -> list[SeriesPoint]:
    """The points up to the end; of too many, the mean of the step function in each of 400 columns."""
    inside = [point for point in points if point.at < seconds]
    if len(inside) <= PLOT_COLUMNS:
        return inside
    sums = [0.0] * PLOT_COLUMNS
    column = seconds / PLOT_COLUMNS
    for point, end in zip(inside, [*(point.at for point in inside[1:]), seconds], strict=True):
        index, start = int(point.at / column), point.at
        while start < end and index < PLOT_COLUMNS:
            stop = min(end, (index + 1) * column)
            sums[index] += point.value * max(0.0, stop - start)
            index, start = index + 1, max(start, stop)
    return [SeriesPoint(index * column, total / column) for index, total in enumerate(sums)]


def ticks(highest: float, most: int = 6) -> list[float]:
    """Round numbers from 0 to at most the highest: steps of 1, 2 or 5 times a power of ten."""
    rough = highest / most
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
    return [round(index * step, 12) for index in range(floor(highest / step * 1.0001) + 1)]


def time_unit(seconds: float) -> tuple[float, str]:
    """The largest unit, in seconds and by name, of which there are at least two."""
    return next(((scale, word) for scale, word in TIME_UNITS if seconds >= 2 * scale), TIME_UNITS[-1])


def _frame(width: float, points: Sequence[SeriesPoint]) -> PlotFrame:
    highest = max((point.value for point in points), default=0.0)
    return PlotFrame(width if width > TINY else 1.0, highest * 1.05 if highest > TINY else 1.0)


def _steps(frame: PlotFrame, points: Sequence[SeriesPoint], colour: int, *, alone: bool) -> str:
    if not points:
        return ""
    first, *others = points
    path = f"M{frame.x(first.at):.1f},{frame.y(first.value):.1f}"
    path += "".join(f"H{frame.x(point.at):.1f}V{frame.y(point.value):.1f}" for point in others)
    path += f"H{frame.x(frame.width):.1f}"
    closed = f"{path}V{frame.y(0):.1f}H{frame.x(first.at):.1f}Z"
    return (
        f'<path class="area c{colour}" d="{closed}"/>' if alone else ""
    ) + f'<path class="line c{colour}" d="{path}"/>'


def _axes(frame: PlotFrame, scale: float, x_unit: str, y_unit: str) -> str:
    bottom, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2
    rows = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{frame.y(tick):.1f}" y2="{frame.y(tick):.1f}"/>'
        f'<text class="value end" x="{LEFT - 8}" y="{frame.y(tick) + 4:.1f}">{number(tick, 2)}</text>'
        for tick in ticks(frame.height)
    )
    columns = "".join(
        f'<text class="value middle" x="{frame.x(tick * scale):.1f}" y="{bottom + 18}">{number(tick, 2)}</text>'
        for tick in ticks(frame.width / scale, 10)
    )
    return (
        f'{rows}<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>{columns}'
        f'<text class="value middle" x="{middle:.1f}" y="{HEIGHT - 6}">{escaped(x_unit)}</text>'
        f'<text class="value middle" transform="translate(14,{(TOP + bottom) / 2:.1f}) rotate(-90)">'
        f"{escaped(y_unit)}</text>"
    )


def _legend(series: Sequence[PlotSeries]) -> str:
    if len(series) < 2:
        return ""
    keys = "".join(
        f'<li><span class="key c{colour}"></span>{escaped(line.name)}</li>' for colour, line in enumerate(series)
    )
    return f'<ul class="legend">{keys}</ul>'


def _svg(title: str, height: int, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{escaped(title)}</title>{content}</svg>"
    )


def _short(name: str, most: int = 26) -> str:
    return name if len(name) <= most else name[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
