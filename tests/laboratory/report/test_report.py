"""The report says what the results are, to people and to programs."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cigri.errors import UsageError
from modules.laboratory.evaluation.results import SeriesPoint, SimulationResults, UserResults, added, together
from modules.laboratory.report import from_json, to_csv, to_html, to_json, write
from modules.laboratory.report.formatting import duration, number, percent
from modules.laboratory.report.metric_definitions import (
    CAMPAIGN_FIGURES,
    CLUSTER_FIGURES,
    OF_USER,
    SUMMARY_FIGURES,
    values,
)
from tests.laboratory.report.small import EMPTY, EVIL, ONE, SMALL, TWO

PLAIN = str.maketrans({"\u202f": " ", "\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-"})
XHTML = re.compile(r"<!DOCTYPE html>\n(<html.*)", re.DOTALL)


def parsed(results: SimulationResults) -> ET.Element:
    """The page as XML, which it is on purpose."""
    found = XHTML.fullmatch(to_html(results))
    assert found
    return ET.fromstring(found[1])


def tables(results: SimulationResults) -> dict[str, list[list[str]]]:
    """The cells of each section's table, special signs made plain."""
    return {
        str(section.findtext("h2")): [
            ["".join(cell.itertext()).translate(PLAIN) for cell in row] for row in section.iter("tr")
        ]
        for section in parsed(results).iter("section")
    }


def test_the_summary() -> None:
    assert tables(SMALL)["In short"] == [
        ["Figure", "Value", "Target"],
        ["Idle core-seconds harvested", "96.00 %", "≥ 95.00 % met"],
        ["Wasted by avoidable kills", "0.78 %", "≤ 2.00 % met"],
        ["Wasted by other kills", "0.99 %", ""],
        ["Wasted by kills", "0 core-h", ""],
        ["Spent on attempts that lost", "0.25 %", ""],
        ["Delay of local jobs", "0.40 %", "≤ 1.00 % met"],
        ["Mean delay of a local job", "0.8 s", ""],
        ["Makespan", "1 h 25 min", ""],
        ["Clairvoyant bound", "1 h 23 min", ""],
        ["Makespan over the bound", "x 1.020", "≤ x 1.100 met"],
        ["Makespan over list scheduling", "x 0.850", "≤ x 1.100 met"],
        ["Fairness (Jain)", "0.938", "≥ 0.950 missed"],
        ["Test campaigns begin within, median", "12.5 s", ""],
        ["90 % of them within", "30 s", ""],
        ["The slowest one", "31 s", ""],
        ["True ends within the 90 % interval", "87.50 %", "≥ 90.00 % missed"],
        ["Width of the 90 % interval", "x 1.500", ""],
        ["Remote commands", "200", ""],
    ]


def test_clusters_campaigns_and_users() -> None:
    found = tables(SMALL)
    assert found["Clusters"][1] == ["blue", "8", "96.00 %", "0.3 core-h", "1.04 %", "3.96 %", "0 core-h", "0.50 %",
                                    "1.25 s", "120"]  # fmt: skip
    assert [row[0] for row in found["Clusters"][3:]] == ["all clusters"]
    assert found["Campaigns"][2] == ["first", "alice", "1 h 13 min", "1 h 7 min", "x 1.100"]
    assert found["Campaigns"][1][2:] == ["-", "8 min 20 s", "-"]  # the worst first: it has not ended
    assert found["Users"][1] == ["alice", "1 500", "x 2.500"]


def test_of_many_clusters_the_longest_queues_are_shown_and_the_rest_together() -> None:
    many = tuple(ONE._replace(name=f"c{place}", waiting=(SeriesPoint(0, place),)) for place in range(20))
    page = parsed(SMALL._replace(clusters=many))
    assert ["".join(item.itertext()) for item in page.iter("li")] == [
        *("c19", "c18", "c17", "c16", "c15", "c14", "c13"),
        "the other 13 together",
    ]
    few = parsed(SMALL._replace(clusters=many[:8]))
    assert ["".join(item.itertext()) for item in few.iter("li")] == [f"c{place}" for place in range(8)]


def test_every_figure_has_its_definition_and_unit_on_the_page() -> None:
    text = "".join(parsed(SMALL).itertext())
    for figure in {value.figure for value in values(SMALL)}:
        assert figure.definition in text
        assert f"{figure.title} (" in text


def test_names_are_never_html() -> None:
    page = to_html(SMALL)
    assert "<script" not in page
    assert "alert(&#x27;x&#x27;)" in page
    assert "\x00" not in page
    assert "\x1b" not in page
    page.encode()  # no surrogate is left
    name = EVIL.translate({0: "\ufffd", 27: "\ufffd", 0xD800: "\ufffd"})
    assert tables(SMALL)["Clusters"][2][0] == name
    assert tables(SMALL._replace(scenario=EVIL, scheduler=EVIL))


def test_the_page_needs_nothing_else() -> None:
    page = to_html(SMALL)
    assert not re.search(r"<script|<link|<img|url\(|src=|href=|@import", page)
    assert "prefers-color-scheme: dark" in page


def test_a_simulation_of_nothing_has_a_report() -> None:
    assert tables(EMPTY)["In short"][1][1:] == ["-", "≥ 95.00 %"]
    assert from_json(to_json(EMPTY)) == EMPTY
    assert to_csv(EMPTY).startswith("figure,")


def test_a_page_of_many_users_stays_small() -> None:
    many = SMALL._replace(users=tuple(UserResults(f"user{place}", 1, place / 10) for place in range(5000)))
    assert len(to_html(many)) < 100_000
    assert tables(many)["Users"][1][0] == "user4999"
    assert len(list(csv.reader(io.StringIO(to_csv(many))))) > 5000


def test_json_is_the_results() -> None:
    plain = SMALL._replace(clusters=(ONE,), campaigns=SMALL.campaigns[:1], users=SMALL.users[:1])
    assert from_json(to_json(plain)) == plain
    assert '"waiting": [' in to_json(plain)
    assert '"at": 60' in to_json(plain)


@pytest.mark.parametrize("text", ["", "[]", "{}", to_json(EMPTY).replace('"seed"', '"seeds"')])
def test_other_json_is_no_results(text: str) -> None:
    with pytest.raises(UsageError, match="these are no results of a simulation"):
        from_json(text)


def test_csv_has_every_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(SMALL))))
    expected = list(values(SMALL))
    assert len(rows) == len(expected)
    for row, value in zip(rows, expected, strict=True):
        assert (row["figure"], row["unit"], row["of"], row["name"]) == (
            value.figure.key, value.figure.unit, value.of, value.name,
        )  # fmt: skip
        assert (float(row["at"]) if row["at"] else None) == value.at
        assert (float(row["value"]) if row["value"] else None) == value.value
    waiting = [(row["at"], row["value"]) for row in rows if row["figure"] == "waiting" and row["name"] == "blue"]
    assert waiting == [("0", "0"), ("60", "4"), ("1800", "1")]


def test_figures_have_keys_of_their_own() -> None:
    figures = {figure for figure, _ in (*SUMMARY_FIGURES, *CLUSTER_FIGURES, *CAMPAIGN_FIGURES, *OF_USER)}
    assert len({figure.key for figure in figures}) == len(figures)


def test_the_report_is_three_files(tmp_path: Path) -> None:
    fine = SMALL._replace(clusters=(ONE,), campaigns=(), users=())
    files = write(fine, tmp_path / "new" / "place")
    assert [path.name for path in files] == ["report.html", "report.csv", "report.json"]
    assert from_json(files[2].read_text()) == fine
    assert files[0].read_text() == to_html(fine)
    assert files[1].read_text() == to_csv(fine)
    write(SMALL, tmp_path)  # names that no encoding holds do not stop it


def test_all_clusters_together_are_their_sums() -> None:
    both = together("both", (ONE, TWO))
    assert both[:10] == ("both", 24, 4000, 3840, 30, 38, 50, 10000, 40, 200)
    assert both.waiting == (SeriesPoint(0, 0), SeriesPoint(30, 2), SeriesPoint(60, 4), SeriesPoint(1800, 1))
    assert added([]) == ()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (8.254, "8.25 s"),
        (60, "1 min"),
        (725, "12 min 5 s"),
        (3599.7, "1 h"),
        (3660, "1 h 1 min"),
        (86399, "1 d"),
        (90000, "1 d 1 h"),
        (86400 * 2000, "2000 d"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds).replace("\u202f", " ") == text


def test_numbers() -> None:
    assert number(1234567.0) == "1\u202f234\u202f567"
    assert number(0.5) == "0.500"
    assert percent(0.98765) == "98.77\u202f%"
