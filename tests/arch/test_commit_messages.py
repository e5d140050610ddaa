"""A commit has a short subject and says why; those made before that was asked for are let alone."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.arch.commit_messages import MAX_SUBJECT, find_commit_faults, find_faults_of_new, find_message_faults, main

pytestmark = pytest.mark.process

AS = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
WELL = "Take away what nobody reads\n\nIt was written in each pass.\n"
TEMPLATE = "\n# Please enter the commit message for your changes. Lines starting\n# with '#' will be ignored.\n"
VERBOSE = f"# {'-' * 24} >8 {'-' * 24}\n# Do not modify or remove the line above.\ndiff --git a/a b/a\n"
LONG, NO_BODY, NO_GAP = "the subject has", "there is no body", "the second line is not empty"


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *AS, *words], check=True, capture_output=True, text=True).stdout


def commit(root: Path, message: str) -> str:
    git(root, "commit", "--allow-empty", "--cleanup=verbatim", "-m", message)
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a hook git's own variables name the repository of the hook."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def history(tmp_path: Path) -> tuple[Path, str]:
    """A repository with a bad message of before, and the name of that commit."""
    root = tmp_path / "grown"
    root.mkdir()
    git(root, "init", "-q")
    return root, commit(root, "long ago")


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        (WELL, []),
        ("x" * MAX_SUBJECT + "\n\nwhy", []),
        ("é" * MAX_SUBJECT + "\n\nwhy", []),
        ("x" * 72 + "\n\nwhy", [LONG]),
        ("Take it away", [NO_BODY]),
        ("Take it away\n\n\n", [NO_BODY]),
        ("Take it away\n\nSigned-off-by: Ann <ann@example.org>", [NO_BODY]),
        ("Take it away\nas nobody reads it", [NO_GAP]),
        ("x" * 72, [LONG, NO_BODY]),
        ("Take it away\n\nWhy: nobody reads it", []),
    ],
)
def test_a_message_has_a_short_subject_and_says_why(message: str, faults: list[str]) -> None:
    found = find_message_faults(message)
    assert len(found) == len(faults)
    assert all(told.startswith(fault) for told, fault in zip(found, faults, strict=True))


def test_what_git_writes_into_the_file_is_no_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(WELL + TEMPLATE + VERBOSE)
    assert main([str(file)]) == 0
    file.write_text("Take it away\n" + TEMPLATE + VERBOSE)
    assert main([str(file)]) == 1
    assert capsys.readouterr().err.startswith("commit message: there is no body: say below an empty line why")


@pytest.mark.parametrize("message", ["Merge branch 'portal'", "fixup! Take it away", "squash! Take it away"])
def test_messages_that_git_makes_pass_the_hook(message: str) -> None:
    assert find_faults_of_new(message) == []


def test_commits_of_before_are_let_alone_and_merges_too(history: tuple[Path, str]) -> None:
    root, before = history
    commit(root, WELL)
    assert find_commit_faults(root, before) == []
    bad = commit(root, "later")
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(root, WELL)
    git(root, "merge", "-q", "--no-ff", "-m", "Merge it", bad)
    (fault,) = find_commit_faults(root, before)
    name, _, told = fault.partition(": ")
    assert bad.startswith(name)
    assert told.startswith(NO_BODY)


def test_a_shallow_clone_has_later_commits_only(history: tuple[Path, str], tmp_path: Path) -> None:
    root, before = history
    commit(root, WELL)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), str(shallow))
    assert find_commit_faults(shallow, before) == []
    commit(shallow, "later")
    assert len(find_commit_faults(shallow, before)) == 1


def test_a_history_that_was_made_anew_is_told_of(history: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, _ = history
    assert find_commit_faults(root, "0" * 40) == []
    assert "are not looked at" in capsys.readouterr().err


def test_an_unpacked_archive_has_no_commits(tmp_path: Path) -> None:
    assert find_commit_faults(tmp_path) == []
