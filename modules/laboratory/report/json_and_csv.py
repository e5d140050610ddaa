"""The same report for programs: JSON of the results as they are, CSV of every figure, one a row."""

import csv
import io
import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cigri.errors import UsageError
from modules.laboratory.evaluation.results import SimulationResults
from modules.laboratory.report.metric_definitions import values

CSV_COLUMNS = ("figure", "unit", "of", "name", "at", "value")

_RESULTS = TypeAdapter(SimulationResults)


def to_json(results: SimulationResults) -> str:
    """One JSON object with the fields of SimulationResults, for from_json; ValueError at a figure that is no number."""
    return json.dumps(_plain(results), indent=1, allow_nan=False) + "\n"


def from_json(text: str) -> SimulationResults:
    """What to_json wrote; UsageError says what is wrong in anything else."""
    try:
        return _RESULTS.validate_json(text)
    except ValidationError as error:
        raise UsageError(f"these are no results of a simulation: {error}") from None


def to_csv(results: SimulationResults) -> str:
    """A header and a row for each figure; `at` in seconds (of eta_error: in parts of a life), empty for no series.

    Shares are from 0 to 1; an empty value says that there is none.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for figure, of, name, at, value in values(results):
        writer.writerow((figure.key, figure.unit, of, name, at, value))
    return text.getvalue()


def _plain(value: Any) -> Any:
    """Named tuples as objects, so that a reader needs no order of fields."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
