"""Modules say what they want of a cluster as values; sh is made of it, and its answers are read, in one room."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

from tests.arch.test_borders import MODULES, ROOT, imports, module_of

SPEAKS = "operator"  # it also tries the shell of a cluster itself
SHELL = ("cigri.shell.results", "cigri.gateway.shell_rendering", "cigri.gateway.shell_rendering", "cigri.transports")
RAW = {"run", "driver"}  # of a gateway: what is under the orders
SIMULATED = ROOT / "modules" / "laboratory" / "cluster"
SILENT = [path for path in MODULES if module_of(path) != SPEAKS]


def is_text(module: str, name: str) -> bool:
    """Does this function of the wrapper make sh, which lies below a base, or read an answer?"""
    if not module.startswith("cigri.wrapper"):
        return False
    found = getattr(import_module(module), name, None)
    return isinstance(found, FunctionType) and bool({"base", "answer"} & set(inspect.signature(found).parameters))


def shell_in(path: Path) -> list[str]:
    wrong = []
    for module, names in imports(path):
        wrong += [f"imports {module}"] if module.startswith(SHELL) else []
        wrong += [f"imports {module}.{name}" for name in names if is_text(module, name)]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in RAW and ast.unparse(node.value).endswith("gateway"):
            wrong.append(f"uses {ast.unparse(node)}")
    return wrong


@pytest.mark.parametrize("path", SILENT, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_makes_and_reads_no_shell(path: Path) -> None:
    assert shell_in(path) == []


@pytest.mark.parametrize("path", sorted(SIMULATED.rglob("*.py")), ids=lambda path: path.name)
def test_a_simulated_cluster_reads_no_text(path: Path) -> None:
    assert not {module for module, _ in imports(path)} & {"re", "json", "shlex"}


def test_shell_in_a_module_is_noticed(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from cigri.shell.results import ScriptBundle\n"
        "from cigri.wrapper import JobKey, OutboxReceipt, collect_script, parse_collect, place_of\n"
        "def look(tools):\n"
        "    driver = tools.gateway.driver(1)\n"
        "    tools.gateway.run(1, '', driver.probe())\n"
        "    tools.gateway.commands.total()\n"
    )
    assert shell_in(bad) == [
        "imports cigri.shell.results",
        "imports cigri.wrapper.collect_script",
        "imports cigri.wrapper.parse_collect",
        "uses tools.gateway.driver",
        "uses tools.gateway.run",
    ]
