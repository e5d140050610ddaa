"""What stands in the form of a submission, as it is sent to an endpoint: lines of words, or the rows of a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from cigri.errors import UsageError
from cigri.jdl.parameter_files import ParameterFileLines
from cigri.jdl.parameter_tables import ParameterTable, TableRow
from cigri.jdl.parameters import SOURCES
from cigri.jdl.parsing import is_object, param_file, read_description, without_params

LINE_KINDS = {
    "": "words of the command line",
    ".csv": "a table, CSV: the first row names its columns",
    ".tsv": "a table, TSV: the first row names its columns",
    ".jsonl": "JSON lines: an object of names and values each",
}
"""What the lines may be, by the ending that a file of them has."""
TABLE = "parameters"
"""The name, without its ending, by which problems speak of the lines."""


class SubmissionDraft(NamedTuple):
    """`kind`: what its lines are, as in LINE_KINDS; `key`: it makes one campaign, however often it is sent."""

    described: str
    lines: str
    kind: str
    key: str

    def values(self) -> list[object]:
        """Return what is sent to the endpoint; raise DescriptionError where the text or the table breaks."""
        described = read_description(self.described, None)
        if not self.lines.strip():
            described, params = without_params(described)
            return [described, *params]
        if table := _table_name(described, self.kind):
            return [_naming(described, table), *_rows(table, self.lines)]
        return [described, *[line for line in self.lines.splitlines() if line.strip()]]


def require_kind(kind: str) -> str:
    """Raise UsageError for what lines cannot be."""
    if kind not in LINE_KINDS:
        raise UsageError(f"kind {kind!r} of lines is not known; there are {', '.join(filter(None, LINE_KINDS))}")
    return kind


def _table_name(described: object, kind: str) -> str:
    """Return the name of the table that the form or the description's param_file says; "": the lines are words."""
    if kind:
        return f"{TABLE}{kind}"
    named = param_file(described, Path(), Path())
    return named.name if isinstance(named, ParameterTable) else ""


def _naming(described: object, table: str) -> object:
    """Put this param_file, of which not each column has to be used, into a description that has no other parameters."""
    if not is_object(described) or any(key.lower() in SOURCES and key.lower() != "param_file" for key in described):
        return described
    return {key: value for key, value in described.items() if key.lower() != "param_file"} | {"param_file": table}


def _rows(table: str, text: str) -> list[TableRow]:
    with _file_of(text) as path:
        return list(ParameterTable(table, ParameterFileLines(path)))


@contextmanager
def _file_of(text: str) -> Iterator[Path]:
    """Tables are read from files, whoever sends them."""
    with NamedTemporaryFile(prefix="cigri-", buffering=0) as file:
        file.write(text.encode(errors="surrogatepass"))
        yield Path(file.name)
