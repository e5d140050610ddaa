"""Values of variables reach tasks as they were written: no shell of ours ever reads them as words of its own."""

import subprocess
from collections.abc import Mapping

import pytest

from cigri.shell.words import ShellWord
from cigri.wrapper import BatchSpec, TaskSpec
from cigri.wrapper.batch import _header, _task_line

LONGEST = 20  # seconds; a value that is read as a command may never end
VALUES = [
    "",
    "a b",
    "it's",
    '"quoted"',
    "$(sleep 600)",
    "`sleep 600`",
    "x; sleep 600 #",
    "x & sleep 600",
    "x | cat",
    "x < /dev/zero",
    "line\nline",
    "\\",
    "*",
    "~",
    "-n",
    "é€",
]


def said_by_sh(text: str) -> list[str]:
    done = subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, timeout=LONGEST, check=True)
    assert done.stderr == b""
    return done.stdout.decode().split("\0")


def plan(environment: Mapping[str, str]) -> BatchSpec:
    return BatchSpec("grid", 1, "c", 2, "here", "ann", ShellWord("."), environment, "/core=1", 60, [])


@pytest.mark.parametrize("value", VALUES)
def test_what_a_batch_sets_is_set_as_it_is(value: str) -> None:
    header = _header(plan({"VALUE": value, "AFTER": "is here"}), 1, "")
    begin = header.index("cigri_environment() {")
    function = header[begin : header.index("\n}\n", begin) + 3]
    said = said_by_sh(f'{function}cigri_environment\nprintf \'%s\\0\' "$VALUE" "$AFTER"\n')
    assert said == [value, "is here", ""]


@pytest.mark.parametrize("value", VALUES)
def test_what_a_task_sets_is_one_word(value: str) -> None:
    task = TaskSpec(
        1, 1, 1, (ShellWord("printenv"), ShellWord(value)), environment={"VALUE": value, "AFTER": "is here"}
    )
    listing = "cigri_task() { shift 4; for word; do printf '%s\\0' \"$word\"; done; }\n"
    said = said_by_sh(listing + _task_line(task, "true"))
    assert said == [f"VALUE={value}", "AFTER=is here", "--", "printenv", value, ""]
