"""Several scripts as one: each part's answer comes back whole and its own, or the answer counts as none."""

import subprocess
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cigri.errors import UnreadableOutput
from cigri.shell.results import ScriptBundle, ShellResult
from cigri.shell.words import ShellWord

pytestmark = pytest.mark.process


def _run(script: str) -> ShellResult:
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, timeout=60, check=False)
    return ShellResult(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def _ask(parts: Mapping[str, str]) -> dict[str, ShellResult]:
    bundle = ScriptBundle(parts)
    return bundle.unpack(_run(bundle.script))


def test_each_part_has_its_own_answer() -> None:
    answers = _ask({"first": "echo one; echo bad >&2; exit 3", "second": "echo two", "third": "false"})
    assert list(answers) == ["first", "second", "third"]
    assert answers == {"first": (3, "one\n", "bad\n"), "second": (0, "two\n", ""), "third": (1, "", "")}


def test_a_part_cannot_change_the_next_one() -> None:
    answers = _ask({"first": "set -e; cd /; variable=1; exec 2>&-; false", "second": 'pwd; echo "${variable-unset}"'})
    assert answers["second"].out.split() == [_run("pwd").out.strip(), "unset"]


def test_a_part_may_be_killed() -> None:
    answers = _ask({"first": "echo before; kill -9 $(sh -c 'echo $PPID')", "second": "echo two"})
    assert answers == {"first": (137, "before\n", answers["first"].err), "second": (0, "two\n", "")}


def test_a_part_may_have_a_here_document() -> None:
    assert _ask({"only": "cat <<'END'\n$x ) (\nEND"})["only"].out == "$x ) (\n"


@pytest.mark.parametrize("nothing", ["", "# only a comment"])
def test_a_part_may_have_nothing_to_say(nothing: str) -> None:
    assert _ask({"first": nothing, "second": "echo two"}) == {"first": (0, "", ""), "second": (0, "two\n", "")}


def test_no_part_is_no_answer() -> None:
    assert _ask({}) == {}


@given(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])), st.text("\n cigr-0123456789af"))
@settings(max_examples=40)
def test_any_output_comes_back_as_it_is(out: str, err: str) -> None:
    part = f"printf %s {ShellWord(out).quoted()}; printf %s {ShellWord(err).quoted()} >&2; exit 9"
    answers = _ask({"one": part, "two": part})
    assert answers == {"one": (9, out, err), "two": (9, out, err)}


@pytest.mark.parametrize("fake", ["cigri-0123456789abcdef", "cigri-{}"])
def test_output_that_looks_like_a_mark_is_output(fake: str) -> None:
    other = ScriptBundle({"two": "true"})
    mark = fake.format(other.script.rpartition("cigri-")[2][:16])
    text = f"\n{mark} two 0\n\n{mark}\n"
    answers = _ask(
        {"one": f"printf %s {ShellWord(text).quoted()}; printf %s {ShellWord(text).quoted()} >&2", "two": "echo two"}
    )
    assert answers == {"one": (0, text, text), "two": (0, "two\n", "")}


def test_the_marks_of_two_bundles_differ() -> None:
    assert ScriptBundle({"a": "true"}).script != ScriptBundle({"a": "true"}).script


def test_ten_megabytes_come_back() -> None:
    answers = _ask({"one": "head -c 10000000 /dev/zero | tr '\\0' x", "two": "echo two"})
    assert len(answers["one"].out) == 10_000_000
    assert answers["two"].out == "two\n"


def test_an_answer_that_was_cut_is_unreadable_wherever_it_was_cut() -> None:
    bundle = ScriptBundle({"one": "echo one; echo bad >&2", "two": "echo two"})
    status, out, err = _run(bundle.script)
    for length in range(len(out)):
        with pytest.raises(UnreadableOutput, match="cut off"):
            bundle.unpack(ShellResult(status, out[:length], err))


def test_errors_that_were_cut_are_unreadable_too() -> None:
    bundle = ScriptBundle({"one": "echo bad >&2", "two": "echo worse >&2"})
    status, out, err = _run(bundle.script)
    for length in range(len(err)):
        with pytest.raises(UnreadableOutput, match="cut off"):
            bundle.unpack(ShellResult(status, out, err[:length]))


def test_a_syntax_error_in_one_part_is_no_answer_of_any() -> None:
    bundle = ScriptBundle({"one": "echo 'unbalanced", "two": "echo two"})
    with pytest.raises(UnreadableOutput, match="cut off"):
        bundle.unpack(_run(bundle.script))


def test_the_answer_of_another_script_is_unreadable() -> None:
    with pytest.raises(UnreadableOutput, match="command not found"):
        ScriptBundle({"one": "true"}).unpack(ShellResult(127, "", "sh: command not found"))
