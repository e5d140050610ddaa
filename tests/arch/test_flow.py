"""The listing of cigri/flow is the data-flow diagram, and it cannot lie: each file names who gives and who takes."""

import ast
from pathlib import Path

import pytest

from tests.arch.ends import ROOT, WRITES, Ends, all_ends, flow_files, name_of, said, sentence
from tests.arch.picture import ARCHITECTURE, arrows, page

FILES = flow_files()
VIEWS = [path for path in FILES if path.parent.name == "views"]


def label(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", FILES, ids=label)
def test_each_file_names_its_ends(path: Path) -> None:
    assert said(path) == sentence(path, all_ends()[name_of(path)]), "python -P -m tests.arch.ends writes it"


@pytest.mark.parametrize("path", FILES, ids=label)
def test_what_a_file_holds_has_somebody_who_uses_it(path: Path) -> None:
    ends = all_ends()[name_of(path)]
    assert ends.givers | ends.takers


@pytest.mark.parametrize("path", VIEWS, ids=label)
def test_views_only_select(path: Path) -> None:
    names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
    assert not names & WRITES


def test_flow_is_named_by_nouns() -> None:
    assert not [path.stem for path in FILES if "_to_" in path.stem]


DRAWN = {
    "jobs to launch": ("launches", "campaign schedulers", "runner"),
    "offers": ("offers", "metascheduler", "campaign schedulers"),
    "forecasts": ("forecasts", "predictor", "users"),
    "kills": ("kill_requests", "users", "killer"),
    "holds": ("holds", "users", "killer"),
    "cluster and job states": ("cluster_states", "updator", "metascheduler"),
    "nodes": ("discovered_nodes", "updator", None),
    "ended tasks": ("ends", "updator", None),
}
"""What the picture in README.md says: the file, who gives, who takes."""


@pytest.mark.parametrize("words", DRAWN)
def test_the_picture_is_true(words: str) -> None:
    name, giver, taker = DRAWN[words]
    ends = all_ends()[f"cigri.flow.{name}"]
    picture = (ROOT / "README.md").read_text().partition("```\n")[2].partition("```")[0]
    assert words in picture
    assert giver in ends.givers
    assert taker is None or taker in ends.takers


FLOW = '''"""Letters.
Given by: sender; taken by: receiver.
"""
from sqlalchemy import insert, select


def put_letter(conn):
    conn.execute(_written())


def _written():
    return insert()


def list_letters(conn):
    return select()
'''


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, text in {
        "cigri/flow/letters.py": FLOW,
        "cigri/post.py": "from cigri.flow.letters import put_letter\ndef post(conn):\n    put_letter(conn)\n",
        "modules/sender.py": "from cigri.post import post\ndef run(conn):\n    post(conn)\n",
        "modules/receiver.py": "from cigri.flow import letters\ndef run(conn):\n    letters.list_letters(conn)\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_ends_are_followed_through_the_library(small: Path) -> None:
    assert all_ends(small) == {"cigri.flow.letters": Ends(frozenset({"sender"}), frozenset({"receiver"}))}
    letters = small / "cigri/flow/letters.py"
    assert said(letters) == sentence(letters, all_ends(small)["cigri.flow.letters"])


def test_an_end_that_is_not_there_is_noticed(small: Path) -> None:
    (small / "modules/receiver.py").unlink()
    letters = small / "cigri/flow/letters.py"
    assert said(letters) != sentence(letters, all_ends(small)["cigri.flow.letters"])


def test_each_flow_file_is_of_this_tree() -> None:
    assert all(path.is_relative_to(ROOT) for path in FILES)


def test_the_picture_of_the_flow_is_that_of_today() -> None:
    text = ARCHITECTURE.read_text()
    assert text == page(text), "run python -P -m tests.arch.picture"
    assert "<!-- the flow -->" in text
    assert {("metascheduler", "campaign schedulers"), ("campaign schedulers", "runner")} <= arrows().keys()
