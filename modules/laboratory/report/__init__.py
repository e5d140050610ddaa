"""The report of a simulation: a page to read, and the same for programs."""

from pathlib import Path

from cigri.private_files import make_private_directory, open_privately
from modules.laboratory.evaluation.results import SimulationResults
from modules.laboratory.report.json_and_csv import from_json, to_csv, to_json
from modules.laboratory.report.page import to_html

__all__ = ["from_json", "to_csv", "to_html", "to_json", "write"]


def write(results: SimulationResults, directory: Path) -> list[Path]:
    """Write report.html, report.csv and report.json into the directory, made if missing; return where they are."""
    make_private_directory(directory)
    texts = {"report.html": to_html(results), "report.csv": to_csv(results), "report.json": to_json(results)}
    for name, text in texts.items():
        with open(directory / name, "w", encoding="utf-8", errors="replace", opener=open_privately) as file:
            file.write(text)
    return [directory / name for name in texts]
