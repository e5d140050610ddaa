"""`cigri resources` as an operator meets it."""

import json
from pathlib import Path

import pytest

from cigri.database import Database
from cigri.flow.clusters import find_cluster
from cigri.flow.discovered_nodes import put_nodes
from cigri.flow.views.queues import list_queues
from cigri.resources.nodes import AlikeNodes
from tests.factories import a_cluster
from tests.operator.conftest import Cigri

pytestmark = pytest.mark.noon

FIRST = '[cluster.dahu]\nsite = "grenoble"\nproperties.os = "el9"\n'
SECOND = '# newer\n[cluster.dahu]\nsite = "grenoble"\n[cluster.dahu.queue.fat]\nrequires = "cpu >= 8"\n'


@pytest.fixture
def file(tmp_path: Path, database: Database) -> Path:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    path = tmp_path / "resources.toml"
    path.write_text(FIRST)
    return path


def test_a_description_is_tried_applied_shown_compared_and_taken_back(
    cigri: Cigri, file: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = "+ cluster dahu: os = 'el9'\n+ cluster dahu: site = grenoble\n+ kind of os: string\n"
    assert cigri("resources", "apply", str(file), "--dry-run").out == changes
    assert cigri("resources", "show").status == 1
    assert cigri("resources", "apply", str(file)).out == changes + "Version 1 holds\n"
    with database.begin() as conn:
        assert list_queues(conn)[0].classes[0]["os"] == "el9"
    assert cigri("resources", "apply", str(file)).out == "Nothing changes\n"
    file.write_text(SECOND)
    said = cigri("resources", "apply", str(file)).out
    assert "- cluster dahu: os = 'el9'\n" in said
    assert "+ queue fat@dahu: requires = cpu >= 8\n" in said
    assert cigri("resources", "show").out == SECOND
    assert cigri("resources", "show", "1").out == FIRST
    differ = cigri("resources", "diff", "1").out
    assert differ.startswith("--- version 1\n+++ version 2\n")
    assert '-properties.os = "el9"\n' in differ
    assert cigri("resources", "diff", "2", "2").out == ""
    history = json.loads(cigri("resources", "history", "--json").out)
    assert [(one["version"], one["text"]) for one in history] == [(2, SECOND), (1, FIRST)]
    assert cigri("resources", "history").out.splitlines()[0].split() == ["version", "applied", "at", "by", "lines"]
    file.write_text(SECOND.replace("newer", "the words of a comment"))
    assert cigri("resources", "apply", str(file)).out == "Nothing changes\nVersion 3 holds\n"
    assert "no version 9 was ever applied" in cigri("resources", "show", "9").err


def test_a_wrong_description_changes_nothing(cigri: Cigri, file: Path) -> None:
    cigri("resources", "apply", str(file))
    for text, problem in {
        "[properties]\nmemory = 'x'\nsite = 'y'\n": "grid: site: each queue has its site",
        "[cluster.luke]": "cluster.luke: no such cluster",
        "[site.lyon.properties]\nx = 1": "site.lyon: no cluster is there",
    }.items():
        file.write_text(text)
        said = cigri("resources", "apply", str(file))
        assert (said.status, said.out) == (2, "")
        assert problem in said.err
    assert cigri("resources", "show").out == FIRST
    assert cigri("resources", "apply", "/not/there").status == 2


def test_a_queue_that_is_perhaps_misspelled_is_told(cigri: Cigri, file: Path, database: Database) -> None:
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        put_nodes(conn, cluster, [AlikeNodes({"cores": 4}, 1, queue) for queue in ("", "fat", None)])
    file.write_text("[cluster.dahu.queue.fatt]")
    said = cigri("resources", "apply", str(file))
    assert said.status == 0
    assert "dahu tells of no queue fatt, did you mean fat?; it tells of fat" in said.err


def test_one_that_was_removed_and_declared_anew_is_described_again(
    cigri: Cigri, file: Path, database: Database
) -> None:
    cigri("resources", "apply", str(file))
    cigri("cluster", "remove", "dahu")
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    assert cigri("resources", "apply", str(file)).out == "+ cluster dahu: site = grenoble\nVersion 2 holds\n"
