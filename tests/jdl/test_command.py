"""What runs on a cluster: words, directory and environment of one task."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cigri.jdl import (
    ClusterSettings,
    CommandTemplate,
    Parameter,
    command,
    directory,
    environment,
    script,
    step_directory,
)
from cigri.shell.words import ShellWord


def cluster(**fields: Any) -> ClusterSettings:
    return ClusterSettings.model_validate({"exec_file": "run"} | fields)


def texts(exec_file: str, parameter: Parameter) -> list[str]:
    words = command(cluster(exec_file=exec_file), parameter, campaign_id=7, number=3)
    return [("HOME" if word.at_home else "") + word.text for word in words]


@pytest.mark.parametrize(
    ("exec_file", "parameter", "words"),
    [
        ("run -v", "param1 1", ["run", "-v", "param1", "1"]),
        ("run", "a 'b c' $(id) $HOME ~ * ;", ["run", "a", "b c", "$(id)", "$HOME", "~", "*", ";"]),
        ("run", "", ["run"]),
        ("run 'my file'", "", ["run", "my file"]),
        ("~/run", "", ["HOME/run"]),
        ("$HOME/run", "", ["HOME/run"]),
        ("${HOME}/run", "", ["HOME/run"]),
        ("{HOME}/run {HOME}", "", ["HOME/run", "HOME"]),
        ("ls ~ ~bob a~", "", ["ls", "HOME", "~bob", "a~"]),
        ("run {CAMPAIGN_ID} c{CAMPAIGN_ID}.{index}", "x", ["run", "7", "c7.3", "x"]),
        ("awk '{print {x} {{y}} {index}}'", "x", ["awk", "{print {x} {{y}} 3}", "x"]),
        ("run {index}", ["a b", "$X", ""], ["run", "3", "a b", "$X", ""]),
        ("run {a} --b={b}-{index} '{a} {b}'", {"a": "x y", "b": 2}, ["run", "x y", "--b=2-3", "x y 2"]),
        ("run {{a}} {a} {{{a}}}", {"a": 1}, ["run", "{a}", "1", "{1}"]),
        ("~/{a} {a}", {"a": "~/x"}, ["HOME/~/x", "~/x"]),
        ("run {a} {b} {c}", {"a": True, "b": 0.5, "c": "{a}"}, ["run", "true", "0.5", "{a}"]),
        ("awk '{print $1}' {a}", {"a": 1}, ["awk", "{print $1}", "1"]),
    ],
)
def test_words_of_a_command(exec_file: str, parameter: Parameter, words: list[str]) -> None:
    assert texts(exec_file, parameter) == words


@pytest.mark.parametrize(
    ("exec_directory", "parameter", "word"),
    [
        ("$HOME", "x", ShellWord("", True)),
        ("", "x", ShellWord("", True)),
        ("~/a b", "x", ShellWord("/a b", True)),
        ("{HOME}/povray/{CAMPAIGN_ID}", "x", ShellWord("/povray/7", True)),
        ("runs/{index}", "x", ShellWord("/runs/3", True)),
        ("/scratch/{who}", {"who": "bob"}, ShellWord("/scratch/bob")),
        ("{who}", {"who": "/tmp/x"}, ShellWord("/tmp/x")),
        ("/scratch/{who}", "x", ShellWord("/scratch/{who}")),
    ],
)
def test_directory_of_a_task(exec_directory: str, parameter: Parameter, word: ShellWord) -> None:
    assert directory(cluster(exec_directory=exec_directory), parameter, campaign_id=7, number=3) == word


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"exec_directory": "~/a b/{CAMPAIGN_ID}"}, ShellWord("/a b/7", True)),
        ({"exec_directory": "/scratch"}, ShellWord("/scratch")),
        ({"exec_directory": "/scratch/{index}"}, ShellWord("", True)),
        ({"exec_directory": "/scratch/{who}"}, ShellWord("", True)),
        ({"exec_directory": "/scratch/{{who}}"}, ShellWord("", True)),
        ({"own_directory": True}, ShellWord("", True)),
        ({}, ShellWord("", True)),
    ],
)
def test_directory_of_a_prologue_is_that_of_all_tasks_or_the_home(given: dict[str, Any], word: ShellWord) -> None:
    assert step_directory(cluster(**given), campaign_id=7) == word


def test_environment_of_a_task() -> None:
    settings = cluster(environment={"A": "{x}/{index}/{CAMPAIGN_ID}", "B": 4, "C": "$PATH *"})
    assert environment(settings, {"x": "v w"}, campaign_id=7, number=3) == {"A": "v w/3/7", "B": "4", "C": "$PATH *"}
    assert environment(settings, "line", campaign_id=7, number=3)["A"] == "{x}/3/7"


@pytest.mark.process
def test_a_script_knows_the_macros_of_cigri(tmp_path: Path) -> None:
    lines = ["cd {HOME}/x", 'echo "{HOME}:{CAMPAIGN_ID}:{OAR_JOB_ID}:${HOME}:~{other}"', "exit 2"]
    text = script(lines, campaign_id=7)
    (tmp_path / "x").mkdir()
    answer = subprocess.run(
        ["sh", "-c", text], env={"HOME": str(tmp_path), "CIGRI_REMOTE_ID": "55"}, capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout) == (2, f"{tmp_path}:7:55:{tmp_path}:~{{other}}\n")
    assert script([], campaign_id=7) == ""


@pytest.mark.parametrize("parameter", ["param 'a b' 12", {"a": 1, "b": "x"}])
def test_ten_thousand_commands_are_made_in_no_time(parameter: Parameter) -> None:
    templates = CommandTemplate(
        cluster(exec_file="~/run {a} --b={b} -v"), ["a", "b"] if isinstance(parameter, dict) else []
    )
    start = time.process_time()
    for number in range(10_000):
        templates.words(parameter, campaign_id=7, number=number)
    assert time.process_time() - start < 2
