"""docs/explanation/how-a-task-lives.md tells the steps of a task by files and functions that there are."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEPS = re.findall(
    r"^\| (\d+) \| (.+?) \| `(\S+)`: `(\w+)` \|$",
    (ROOT / "docs" / "explanation" / "how-a-task-lives.md").read_text(),
    re.MULTILINE,
)


def names_in(path: Path) -> set[str]:
    """The functions and classes at the top of a file."""
    if path.suffix == ".sh":
        return set(re.findall(r"^(\w+)\(\)", path.read_text(), re.MULTILINE))
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_a_task_lives_twelve_steps() -> None:
    assert [int(number) for number, *_ in STEPS] == [*range(1, 13)]


@pytest.mark.parametrize(("number", "told", "file", "function"), STEPS, ids=lambda part: part[:20])
def test_each_step_names_what_there_is(number: str, told: str, file: str, function: str) -> None:
    path = ROOT / file
    assert path.exists(), f"step {number}: {file}"
    assert function in names_in(path), f"step {number}: {told}"
