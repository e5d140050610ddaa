"""What a commit has to say: a short subject, and why. `python -P -m tests.arch.commit_messages [FILE]` looks for it.

FILE: the message of a commit that is being made, as git hands it to its hook commit-msg. Without it: those of all
commits after CHECKED_SINCE, at which scripts/test looks. A shallow clone without CHECKED_SINCE holds later ones only.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECKED_SINCE = "35b20347c525c4cc88a5a0b80fdf3aec206442b9"
"""The last commit that was made before this was asked for."""

MAX_SUBJECT = 71  # characters
SCISSORS = re.compile(r"^. -+ >8 -+$", re.MULTILINE)  # what `git commit --verbose` shows stands below
TRAILER = re.compile(r"[A-Z][A-Za-z]*(-[A-Za-z]+)+: ")
MADE_BY_GIT = ("Merge ", "fixup! ", "squash! ", "amend! ")
"""How messages begin that git writes; merges are not looked at later, and the others are gone by then."""


def find_message_faults(message: str) -> list[str]:
    """Say what is wrong with a message, one line each."""
    subject, _, rest = message.strip().partition("\n")
    faults = []
    if len(subject) > MAX_SUBJECT:
        faults.append(f"the subject has {len(subject)} characters: say it in {MAX_SUBJECT}")
    if rest and not rest.startswith("\n"):
        faults.append("the second line is not empty: the subject is one line, with an empty one below")
    if all(not line.strip() or TRAILER.match(line) for line in rest.splitlines()):
        faults.append("there is no body: say below an empty line why, and how it was tried")
    return faults


def find_faults_of_new(message: str) -> list[str]:
    """The same of a message as an editor leaves it, with git's own comments."""
    written = _git(ROOT, "stripspace", "--strip-comments", typed=SCISSORS.split(message)[0])
    return [] if written.startswith(MADE_BY_GIT) else find_message_faults(written)


def list_messages(root: Path, since: str) -> Iterator[tuple[str, str]]:
    """Give the short name and the message of each commit after `since`, the newest first, merges left out.

    A history that was made anew, or that git does not let this user read, is told of and not judged.
    """
    later = ["HEAD"]
    if _succeeds(root, "cat-file", "-e", f"{since}^{{commit}}"):
        later.append(f"^{since}")
    elif not (_succeeds(root, "rev-parse") and (root / ".git" / "shallow").exists()):
        print(f"Commit messages are not looked at: {root} has no commit {since[:8]}.", file=sys.stderr)
        return
    for told in _git(root, "log", "-z", "--no-merges", "--format=%h %B", *later).split("\0"):
        name, _, message = told.partition(" ")
        if name:
            yield name, message


def find_commit_faults(root: Path = ROOT, since: str = CHECKED_SINCE) -> list[str]:
    """Say what is wrong with the messages of a repository, one line each; what is no repository has none."""
    if not (root / ".git").exists():
        return []
    found = ((name, find_message_faults(message)) for name, message in list_messages(root, since))
    return [f"{name}: {fault}" for name, faults in found for fault in faults]


def _succeeds(root: Path, *words: str) -> bool:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True).returncode == 0


def _git(root: Path, *words: str, typed: str = "") -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, input=typed, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main(argv: list[str]) -> int:
    faults = find_faults_of_new(Path(argv[0]).read_text(encoding="utf-8")) if argv else find_commit_faults()
    print(*(f"commit message: {fault}" for fault in faults), sep="\n", end="\n" * bool(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
