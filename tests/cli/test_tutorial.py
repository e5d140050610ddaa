"""docs/tutorial.md, played from `cigri up` to `cigri down` on a real grid: it shows what a newcomer sees."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.walking import WIDTH, Walk, blocks
from tests.operator.conftest import CIGRI

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
PATIENCE = 120.0


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Short, for a socket's path; what runs there is stopped whatever happens."""
    for name in [name for name in os.environ if name.startswith("CIGRI_")]:
        monkeypatch.delenv(name)
    with tempfile.TemporaryDirectory(prefix="ten-", ignore_cleanup_errors=True) as made:
        place = Path(made)
        (place / "pi").mkdir()
        monkeypatch.setenv("COLUMNS", str(WIDTH))
        monkeypatch.setenv("HOME", made)
        monkeypatch.setenv("XDG_CONFIG_HOME", made)
        monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(place / ".local" / "share" / "cigri"))
        monkeypatch.chdir(place / "pi")
        yield place
        subprocess.run([*CIGRI, "down", "--jobs", "kill"], check=True)


@pytest.mark.process
def test_the_tutorial_is_as_it_is_told(home: Path) -> None:
    Walk("".join(blocks(PAGE.read_text())), home, "~", patience=PATIENCE).play()
