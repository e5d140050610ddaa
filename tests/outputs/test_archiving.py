"""A tar file of what lies in the store: whole, private, and whatever names there are, below its own directory."""

import io
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from cigri.errors import CigriError
from cigri.outputs.archiving import PIECE_OF_ARCHIVE, archive_pieces
from cigri.outputs.destination import OutputDestination

ODD = ["a b", "-n", "é", "new\nline", "..hidden", "x" * 200, "C:evil"]
LARGE = 64 * 2**20


@pytest.fixture
def place(tmp_path: Path) -> OutputDestination:
    return OutputDestination(tmp_path, "{number}")


def opened(place: OutputDestination, *numbers: int) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(b"".join(archive_pieces(place, 3, numbers))))


def test_all_files_of_the_tasks_are_in_it(place: OutputDestination) -> None:
    for number in (0, 1, 2):
        (place.root / str(number) / "log").mkdir(parents=True)
        (place.root / str(number) / "log" / "a").write_text(f"{number}" * 1000)
        (place.root / str(number) / "empty").touch()
    with opened(place, 0, 2) as tar:
        names = ["campaign-3/0/empty", "campaign-3/0/log/a", "campaign-3/2/empty", "campaign-3/2/log/a"]
        assert tar.getnames() == names
        content = tar.extractfile("campaign-3/2/log/a")
        assert content is not None
        assert content.read() == b"2" * 1000
        assert {(member.mode, member.uid, member.uname) for member in tar} == {(0o600, 0, "")}


def test_names_stay_below_its_directory(place: OutputDestination, tmp_path: Path) -> None:
    names = [*ODD, "..\\..\\up", os.fsdecode(b"not\xffutf-8")]
    (place.root / "0").mkdir()
    for name in names:
        (place.root / "0" / name).write_text("x")
    (tmp_path / "secret").write_text("secret")
    with opened(place, 0) as tar:
        told = {name.removeprefix("campaign-3/0/") for name in tar.getnames()}
        assert told == {name.replace("\\", "%5C") for name in names}
        tar.extractall(tmp_path / "out", filter="data")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"campaign-3"}


def test_no_link_is_followed(place: OutputDestination, tmp_path: Path) -> None:
    """Nobody but the grid writes there; if somebody did, the archive would be cut, or lack it."""
    (place.root / "0").mkdir()
    (place.root / "0" / "link").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic links"):
        list(archive_pieces(place, 3, [0]))
    (place.root / "1").symlink_to("/etc")
    with opened(place, 1) as tar:
        assert tar.getnames() == []


def test_what_becomes_shorter_cuts_it(place: OutputDestination) -> None:
    (place.root / "0").mkdir()
    file = place.root / "0" / "file"
    file.write_bytes(bytes(4 * PIECE_OF_ARCHIVE))
    pieces = archive_pieces(place, 3, [0])
    next(pieces)
    os.truncate(file, PIECE_OF_ARCHIVE)
    with pytest.raises(CigriError, match="has become shorter while it was read"):
        list(pieces)


def test_a_large_one_takes_no_memory(place: OutputDestination) -> None:
    (place.root / "0").mkdir()
    with (place.root / "0" / "large").open("wb") as file:
        file.truncate(LARGE)
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in archive_pieces(place, 3, [0]))
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()
    assert size > LARGE
