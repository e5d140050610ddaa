"""Modules meet only in the database, the library knows none of them, and no file is a maze."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for path in (ROOT / "modules").rglob("*.py"))
LIBRARY = sorted(path for path in (ROOT / "cigri").rglob("*.py"))
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
    if mine in (OUTSIDE, "almighty", "operator"):
        return []
    wrong = []
    for module, names in imports(path):
        if module.split(".")[0] == "modules":
            other = (module.split(".") + names)[1]
            if other != mine:
                wrong.append(f"{path.name} imports modules.{other}: modules meet only in the database")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_meet_only_in_the_database(path: Path) -> None:
    assert forbidden(path) == []


def test_a_foreign_module_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "modules" / "runner.py"
    bad.parent.mkdir()
    bad.write_text("from modules.runner.batch_spec import plan_batch\nfrom modules.killer import run_once\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert len(forbidden(bad)) == 1


def test_the_library_imports_no_module() -> None:
    for path in LIBRARY:
        assert not [name for name, _ in imports(path) if name.split(".")[0] == "modules"], path


def test_no_module_but_the_operators_commands_imports_those_of_users() -> None:
    """What pages and commands both show is made in cigri/presentation."""
    for path in MODULES:
        if module_of(path) != "operator":
            assert not [name for name, _ in imports(path) if name.split(".")[:2] == ["cigri", "cli"]], path


def test_files_import_each_other_in_one_direction() -> None:
    """What is imported for its types alone is no circle."""
    edges = {}
    for path in [*LIBRARY, *MODULES]:
        froms = [node for node in imported_at_run_time(ast.parse(path.read_text())) if node.module]
        whole = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
        edges[dotted(path)] = whole | {str(node.module) for node in froms}
    edges = {name: {other for other in others if other in edges and other != name} for name, others in edges.items()}
    packages = {dotted(path) for path in [*LIBRARY, *MODULES] if path.stem == "__init__"}
    left = {name: others - packages for name, others in edges.items() if name not in packages}
    while ready := [name for name, others in left.items() if not others & set(left)]:
        for name in ready:
            del left[name]
    assert not left


def imported_at_run_time(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """What it imports, its functions too, but for `if TYPE_CHECKING`."""
    if isinstance(node, ast.ImportFrom):
        yield node
    elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from imported_at_run_time(child)


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_sql_is_said_in_the_flow_only() -> None:
    for path in [*LIBRARY, *MODULES]:
        relative = path.relative_to(ROOT).as_posix()
        if relative.startswith(("cigri/flow/", "cigri/tables/")) or relative in SCHEMA_FILES:
            continue
        said = {name for module, names in imports(path) if module == "sqlalchemy" for name in names} & SAY_SQL
        assert not said, f"{relative} imports {said} from sqlalchemy"


def test_nothing_waits_for_the_orm() -> None:
    for path in [*LIBRARY, *MODULES, *(ROOT / "migrations").rglob("*.py")]:
        assert not [module for module, _ in imports(path) if module.startswith("sqlalchemy.orm")], path


def test_no_file_is_a_maze() -> None:
    for path in [*LIBRARY, *MODULES]:
        assert len(path.read_text().splitlines()) <= LONGEST_FILE, path


def test_the_root_of_the_library_holds_what_belongs_in_no_room() -> None:
    loose = {path.stem for path in (ROOT / "cigri").glob("*.py")} - {"__init__"}
    assert loose == {
        "admission",
        "backend_options",
        "errors",
        "installation",
        "package_files",
        "private_files",
        "states",
    }
