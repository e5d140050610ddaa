"""The listing of cigri/flow is the data-flow diagram, and it cannot lie."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for path in (ROOT / "modules").rglob("*.py"))
ARROWS = sorted(path.stem for path in (ROOT / "cigri" / "flow").glob("*.py") if path.stem != "__init__")
LONGEST_FILE = 400
OUTSIDE = "laboratory"  # it plays the almighty, the operator and the users of a grid of its own
SAY_SQL = {"select", "insert", "update", "delete", "text"}
SCHEMA_FILES = {"cigri/database/__init__.py", "cigri/database/schema.py", "cigri/database/embedded.py"}


def imports(path: Path) -> list[tuple[str, list[str]]]:
    """(module, names) of every import in a file."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
    return found


def module_of(path: Path) -> str:
    """The program a file belongs to: modules/<program>.py or modules/<program>/..."""
    return path.relative_to(ROOT / "modules").parts[0].removesuffix(".py")


def forbidden(path: Path) -> list[str]:
    mine = module_of(path)
    if mine == OUTSIDE:
        return []
    wrong = []
    for module, names in imports(path):
        if module.startswith("cigri.flow."):
            ends = module.removeprefix("cigri.flow.").split("_to_")
            if "anyone" not in ends and mine not in ends:
                wrong.append(f"{path.name} imports {module}, which does not carry the name of {mine}")
        if module.split(".")[0] == "modules":
            other = (module.split(".") + names)[1]
            if other != mine and mine not in ("almighty", "operator"):
                wrong.append(f"{path.name} imports modules.{other}: modules meet only in the database")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_arrows(path: Path) -> None:
    assert forbidden(path) == []


def test_a_foreign_arrow_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "modules" / "runner.py"
    bad.parent.mkdir()
    bad.write_text("from cigri.flow.updator_to_predictor import put_ended\nfrom modules.killer import run_once\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert len(forbidden(bad)) == 2


@pytest.mark.parametrize("arrow", ARROWS)
def test_an_arrow_is_named_giver_to_taker(arrow: str) -> None:
    giver, separator, taker = arrow.partition("_to_")
    assert separator
    assert giver
    assert taker


def test_the_library_imports_no_module() -> None:
    for path in (ROOT / "cigri").rglob("*.py"):
        assert not [name for name, _ in imports(path) if name.split(".")[0] == "modules"], path


def test_sql_is_said_in_the_flow_only() -> None:
    for path in [*(ROOT / "cigri").rglob("*.py"), *MODULES]:
        relative = path.relative_to(ROOT).as_posix()
        if relative.startswith(("cigri/flow/", "cigri/tables/")) or relative in SCHEMA_FILES:
            continue
        said = {name for module, names in imports(path) if module == "sqlalchemy" for name in names} & SAY_SQL
        assert not said, f"{relative} imports {said} from sqlalchemy"


def test_nothing_waits_for_the_orm() -> None:
    for path in [*(ROOT / "cigri").rglob("*.py"), *MODULES, *(ROOT / "migrations").rglob("*.py")]:
        assert not [module for module, _ in imports(path) if module.startswith("sqlalchemy.orm")], path


def test_no_file_is_a_maze() -> None:
    for path in [*(ROOT / "cigri").rglob("*.py"), *MODULES]:
        assert len(path.read_text().splitlines()) <= LONGEST_FILE, path
