"""Words are told apart exactly as sh does."""

import subprocess

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cigri.jdl import ClusterSettings, command
from cigri.jdl.quoting import expanded_by_sh, is_balanced, split
from cigri.shell.words import ShellWord

WORDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12), max_size=5)


def words_of_sh(text: str) -> list[str]:
    script = f"set -- {text}\nfor word; do printf '%s\\0' \"$word\"; done"
    answer = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    return answer.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b\tc", ["a", "b", "c"]),
        (" a ", ["a"]),
        ("", []),
        ("''", [""]),
        ("a'b c'd", ["ab cd"]),
        ('"a \\" b" c', ['a " b', "c"]),
        ("a\\ b", ["a b"]),
        ("'a\\b'", ["a\\b"]),
        ('"a\\b\\$\\`\\\\"', ["a\\b$`\\"]),
        ('"a\\\nb"', ["ab"]),
        ("a\\\nb", ["ab"]),
        ("$(id) $X * ; #x", ["$(id)", "$X", "*", ";", "#x"]),
        ("a\u00a0b", ["a\u00a0b"]),
    ],
)
def test_words_of_a_line(text: str, words: list[str]) -> None:
    assert is_balanced(text)
    assert split(text) == words


@pytest.mark.parametrize("text", ["'", '"a', "a\\", "'a' 'b", '"\\"', "x" * 5000 + "'"])
def test_a_quote_that_is_not_closed_is_seen(text: str) -> None:
    assert not is_balanced(text)


@pytest.mark.process
@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a", "$", " ", "\t", "'", '"', "\\", "\\\n"]), max_size=14).map("".join))
@example('a \'b \\\' "c\\""')
@example("'a\nb' \"c\nd\\\ne\" \\\nf")
def test_quoting_is_that_of_sh(text: str) -> None:
    assume(is_balanced(text) and not expanded_by_sh(f"x{text}x"))
    assert split(text) == words_of_sh(text)


@pytest.mark.process
@settings(max_examples=40)
@given(WORDS)
@example(["$(id)", "$HOME", "~", "*", ";", "a\nb", "'", '"', "", "`id`", "\\", "-n", "{index}", "{HOME}/x"])
def test_a_word_reaches_the_cluster_as_it_is(words: list[str]) -> None:
    cluster = ClusterSettings(exec_file="run")
    rendered = command(cluster, words, campaign_id=1, number=2)
    assert rendered == (ShellWord("run"), *map(ShellWord, words))
    assert words_of_sh(" ".join(word.quoted() for word in rendered)) == ["run", *words]
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    assert command(cluster, line, campaign_id=1, number=2) == rendered
    named = ClusterSettings(exec_file=" ".join(["run", *(f"{{p{i}}}" for i in range(len(words)))]))
    values: dict[str, str | int | float | bool] = {f"p{i}": word for i, word in enumerate(words)}
    assert command(named, values, campaign_id=1, number=2) == rendered


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a; b", ";"),
        ("a && b", "&"),
        ("a > b", ">"),
        ("a $X", "$"),
        ("a --home=$HOME", "$"),
        ('a "$X"', "$"),
        ('a "`id`"', "`"),
        ("a *.txt", "*"),
        ("a $HOMER", "$"),
        ("a\nb", "a new line"),
        ("'a'$HOME/b", "$"),
        ("a 'x; $y *'", ""),
        ('a "; * \\$x"', ""),
        ("a \\$X \\;", ""),
        ('$HOME/a ${HOME} "$HOME/b c" ~/d\n', ""),
    ],
)
def test_what_only_a_shell_would_do_is_found(text: str, found: str) -> None:
    assert expanded_by_sh(text) == found
