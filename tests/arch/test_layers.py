"""Packages of cigri stand in layers, import only what is below them, and are shown so in the documentation."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = ROOT / "pyproject.toml"
PICTURE = ROOT / "docs" / "explanation" / "architecture.md"
LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"
LAYER_ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| (\S.*\S) \|$", re.MULTILINE)


def layers() -> list[list[str]]:
    """The packages of each layer, top first, as the contract has them."""
    [contract] = tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]
    return [line.split(" | ") for line in contract["layers"]]


def lint_imports(directory: Path) -> subprocess.CompletedProcess[str]:
    """Check the package `cigri` of a directory by the contract of its pyproject.toml."""
    command = [str(LINT_IMPORTS), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


@pytest.fixture
def empty_layers(tmp_path: Path) -> Path:
    """Return a directory with the contract, and with a `cigri` whose packages are there and import nothing."""
    shutil.copy(PYPROJECT, tmp_path)
    for package in ["", *(package for layer in layers() for package in layer)]:
        (tmp_path / "cigri" / package).mkdir()
        (tmp_path / "cigri" / package / "__init__.py").touch()
    return tmp_path


@pytest.mark.process
def test_packages_import_what_is_below_them() -> None:
    checked = lint_imports(ROOT)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "text",
    [
        "from cigri.cli import main\n",
        "def run():\n    from cigri.cli import main\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cigri.cli import main\n",
        "from cigri.gateway import send\n",
    ],
    ids=["at the top", "in a function", "for its types", "of the same layer"],
)
def test_an_import_from_above_or_beside_is_noticed(text: str, empty_layers: Path) -> None:
    assert lint_imports(empty_layers).returncode == 0
    (empty_layers / "cigri" / "presentation" / "__init__.py").write_text(text)
    checked = lint_imports(empty_layers)
    assert checked.returncode == 1
    assert "cigri.presentation is not allowed to import" in checked.stdout


@pytest.mark.process
def test_a_package_without_a_layer_is_noticed(empty_layers: Path) -> None:
    (empty_layers / "cigri" / "attic").mkdir()
    (empty_layers / "cigri" / "attic" / "__init__.py").touch()
    checked = lint_imports(empty_layers)
    assert checked.returncode == 1
    assert "attic" in checked.stdout


def test_the_documentation_shows_each_package_in_its_layer() -> None:
    told = [(int(layer), package) for layer, package, _ in LAYER_ROW.findall(PICTURE.read_text())]
    assert told == [(number, package) for number, layer in enumerate(layers(), 1) for package in layer]
