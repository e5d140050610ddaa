"""A name of a class, or of a constant, means one thing in the whole project."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]


def classes(root: Path) -> dict[str, list[str]]:
    """The files that define a class, by its name."""
    found = defaultdict(list)
    for room in ("cigri", "modules"):
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path.relative_to(root).as_posix())
    return found


def test_a_class_name_means_one_thing() -> None:
    assert {name: paths for name, paths in classes(ROOT).items() if len(paths) > 1} == {}


def test_a_name_that_is_given_twice_is_noticed(tmp_path: Path) -> None:
    for room in ("cigri", "modules"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "places.py").write_text("class Place:\n    pass\n")
    assert classes(tmp_path) == {"Place": ["cigri/places.py", "modules/places.py"]}


SAID_BY_MANY = {"ACTIONS", "BACKEND", "DRIVER", "EXAMPLES", "T", "logger", "__all__"}
"""What a file of its kind has: drivers, the texts of commands, the letter of a type."""


def constants(root: Path) -> dict[str, list[str]]:
    """The files that give a value to a name at their top, by the name."""
    found = defaultdict(list)
    for room in ("cigri", "modules"):
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
                for target in targets:
                    if isinstance(target, ast.Name) and not target.id.startswith("_"):
                        found[target.id].append(path.relative_to(root).as_posix())
    return found


def test_a_constant_has_one_value_and_one_home() -> None:
    twice = {name: paths for name, paths in constants(ROOT).items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if name not in SAID_BY_MANY} == {}
