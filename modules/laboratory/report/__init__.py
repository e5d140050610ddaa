"""The report of a simulation: a page to read, and the same for programs."""

from pathlib import Path

from modules.laboratory.evaluation.results import SimulationResults
from modules.laboratory.report.json_and_csv import from_json, to_csv, to_json
from modules.laboratory.report.page import to_html

__all__ = ["from_json", "to_csv", "to_html", "to_json", "write"]


def write(results: SimulationResults, directory: Path) -> list[Path]:
    """Write report.html, report.csv and report.json into the directory, made if missing; return where they are."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {"report.html": to_html(results), "report.csv": to_csv(results), "report.json": to_json(results)}
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8", errors="replace")
    return [directory / name for name in texts]
