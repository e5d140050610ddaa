"""Whatever a cluster tells of the files of tasks, gridget comes to an end and writes nothing outside its directory."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from cigri.api_models.files import OutputFileContent, OutputFileContents, TaskOutputSummary
from cigri.cli.download_progress import DownloadProgress
from cigri.cli.output_file_downloads import OutputFileDownloader
from cigri.endpoints.dispatch import GridClient
from cigri.outputs.brought import Brought
from cigri.states import TaskState
from tests.factories import NOON

TASK = TaskOutputSummary(0, 1, TaskState.DONE, "dahu", 2, 6, False, None, None, None)
"""Two files of 6 bytes in all."""
MANY = 100


class Liar:
    """Answers as it likes, MANY times."""

    def __init__(self, answers: Iterator[list[OutputFileContent]]) -> None:
        self._answers = answers

    def call(self, _: object, **asked: Any) -> OutputFileContents:
        return OutputFileContents(next(self._answers))


def told(
    path: str, content: bytes = b"abc", size: int | None = None, number: int = 0, attempt: int = 1
) -> OutputFileContent:
    whole = len(content) if size is None else size
    return OutputFileContent(number, attempt, path, whole, b64encode(content).decode())


def bring(place: Path, answers: Iterator[list[OutputFileContent]]) -> list[str]:
    delivery = DownloadProgress()
    bringer = OutputFileDownloader(cast(GridClient, Liar(answers)), Brought(place, 3, NOON), delivery, 3)
    bringer.bring([TASK])
    return delivery.wrong


LIES: dict[str, Callable[[int], list[OutputFileContent]]] = {
    "above": lambda _: [told("../x")],
    "above, in other words": lambda _: [told("%2e%2e/x")],
    "absolute": lambda _: [told("/etc/x")],
    "a NUL": lambda _: [told("a%00b")],
    "of another task": lambda _: [told("x", number=1)],
    "of another attempt": lambda _: [told("x", attempt=2)],
    "the same for ever": lambda _: [told("x")],
    "more than there were": lambda _: [told(f"x{number}", b"a") for number in range(3)],
    "larger": lambda turn: [told(f"x{turn}", b"abcd")],
    "larger than it says": lambda _: [told("x", b"a", 10**15)],
    "never its rest": lambda _: [told("x", b"ab", 3)],
    "nothing": lambda _: [],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_told_and_nothing_is_written_elsewhere(tmp_path: Path, lie: str) -> None:
    place = tmp_path / "deep" / "results"
    assert bring(place, (LIES[lie](turn) for turn in range(MANY)))
    assert {path.name for path in tmp_path.iterdir()} == {"deep"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"results"}
    assert {path.name.partition("/")[0] for path in place.iterdir() if path.name[0] != "."} <= {"0"}
    assert sum(path.stat().st_size for path in place.rglob("*") if path.is_file() and path.name != ".gridget") <= 10


def test_an_honest_one_is_believed(tmp_path: Path) -> None:
    assert bring(tmp_path, iter([[told("a"), told("b", b"a", 3)], [told("b", b"bc", 3)]])) == []
    assert (tmp_path / "0" / "b").read_bytes() == b"abc"


def test_a_name_that_is_too_long_leaves_the_others_alone(tmp_path: Path) -> None:
    (wrong,) = bring(tmp_path, iter([[told("x" * 300), told("y")]]))
    assert wrong.endswith("File name too long")
    assert (tmp_path / "0" / "y").read_bytes() == b"abc"


def test_a_file_cannot_be_a_directory_too(tmp_path: Path) -> None:
    (wrong,) = bring(tmp_path, iter([[told("x"), told("x/y")]]))
    assert wrong == f"{tmp_path}/0/x/y: Not a directory"
