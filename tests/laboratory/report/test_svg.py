"""Plots are well-formed, within their frame, and true to their points."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modules.laboratory.evaluation.results import SeriesPoint
from modules.laboratory.report.svg import (
    HEIGHT,
    PLOT_COLUMNS,
    WIDTH,
    PlotSeries,
    bar_plot,
    line_plot,
    steps_plot,
    thinned,
    ticks,
    time_unit,
)
from tests.laboratory.report.small import EVIL

SVG = "{http://www.w3.org/2000/svg}"
VALUES = st.floats(0, 1e9)
POINTS = st.lists(st.tuples(st.floats(0, 86400), VALUES), max_size=6).map(
    lambda pairs: [SeriesPoint(*p) for p in sorted(pairs)]
)


def read(text: str) -> ET.Element:
    return ET.fromstring(f"<div>{text}</div>")


def test_steps_go_level_then_up() -> None:
    plot = read(steps_plot("t", "jobs", [PlotSeries("a", [SeriesPoint(0, 0), SeriesPoint(50, 10)])], 100))
    lines = [path.get("d") for path in plot.iter(f"{SVG}path") if path.get("class") == "line c0"]
    # 0 to 100 s is x 64 to 844; 10 of 10.5 is 230.5 high above 256
    assert lines == ["M64.0,256.0H454.0V25.5H844.0"]


def test_one_series_has_an_area_and_many_a_legend() -> None:
    points = [SeriesPoint(0, 1)]
    alone = read(steps_plot("t", "jobs", [PlotSeries("a", points)], 10))
    both = read(steps_plot("t", "jobs", [PlotSeries("a", points), PlotSeries(EVIL, points)], 10))
    assert [path.get("class") for path in alone.iter(f"{SVG}path")] == ["area c0", "line c0"]
    assert [path.get("class") for path in both.iter(f"{SVG}path")] == ["line c0", "line c1"]
    assert alone.find("ul") is None
    first, second = ("".join(item.itertext()) for item in both.iter("li"))
    assert first == "a"
    assert second.startswith("<script>")


def test_a_line_has_a_dot_on_each_point() -> None:
    plot = read(line_plot("t", "%", "error", [SeriesPoint(0, 10), SeriesPoint(100, 0)], 100))
    dots = [(dot.get("cx"), dot.get("cy")) for dot in plot.iter(f"{SVG}circle")]
    assert dots == [("64.0", "25.5"), ("844.0", "256.0")]
    assert [line.get("points") for line in plot.iter(f"{SVG}polyline")] == ["64.0,25.5 844.0,256.0"]


def test_bars_are_as_long_as_their_figures() -> None:
    plot = read(bar_plot("t", [("alice", 10), (EVIL * 3, 2.5), ("zero", 0)], "times"))
    lengths = [float(str(bar.get("width"))) for bar in plot.iter(f"{SVG}rect")]
    assert lengths[0] == pytest.approx(4 * lengths[1], abs=0.5)
    assert lengths[2] == 0
    names = [text.text for text in plot.iter(f"{SVG}text") if text.get("class") == "name"]
    assert names[0] == "alice"
    assert str(names[1]).endswith("…")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.text(), POINTS), max_size=3), st.floats(0, 1e7), st.text())
def test_any_plot_is_well_formed_and_within_its_frame(
    series: list[tuple[str, list[SeriesPoint]]], seconds: float, title: str
) -> None:
    drawn = [PlotSeries(name, points) for name, points in series]
    for text in (
        steps_plot(title, title, drawn, seconds),
        line_plot(title, title, title, drawn[0].points if drawn else [], 86400),
        bar_plot(title, [(name, len(points)) for name, points in series], title),
    ):
        plot = read(text)
        for path in plot.iter(f"{SVG}path"):
            for command, place in re.findall(r"([MHV])([\d.,-]+)", str(path.get("d"))):
                x, y = {"M": tuple(place.split(",")), "H": (place, "0"), "V": ("0", place)}[command]
                assert 0 <= float(x) <= WIDTH
                assert 0 <= float(y) <= HEIGHT


def test_many_points_become_the_mean_of_each_column() -> None:
    points = [SeriesPoint(second / 10, second % 2) for second in range(PLOT_COLUMNS * 100)]
    found = thinned(points, PLOT_COLUMNS * 10)
    assert len(found) == PLOT_COLUMNS
    assert all(point.value == pytest.approx(0.5) for point in found)
    late = thinned([SeriesPoint(500 + second / 1000, 3) for second in range(PLOT_COLUMNS * 2)], 1000)
    assert [late[column].value for column in (0, 199, 300)] == pytest.approx([0, 0, 3])


def test_few_points_stay_as_they_are() -> None:
    points = [SeriesPoint(0, 1), SeriesPoint(5, 2), SeriesPoint(10, 3), SeriesPoint(15, 4)]
    assert thinned(points, 10) == points[:2]


@pytest.mark.parametrize(
    ("highest", "expected"),
    [
        (10.5, [0, 2, 4, 6, 8, 10]),
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.31, [0, 0.1, 0.2, 0.3]),
        (6000, [0, 1000, 2000, 3000, 4000, 5000, 6000]),
    ],
)
def test_ticks_are_round(highest: float, expected: list[float]) -> None:
    assert ticks(highest) == expected


@pytest.mark.parametrize(("seconds", "unit"), [(1, "seconds"), (200, "minutes"), (7300, "hours"), (1e6, "days")])
def test_time_is_in_a_unit_that_fits(seconds: float, unit: str) -> None:
    assert time_unit(seconds)[1] == unit
