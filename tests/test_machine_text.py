"""TOML and JSON of people, clusters and portals: whatever the text is, it is one of our errors."""

from pathlib import Path

import pytest

from cigri.drivers import load as load_driver
from cigri.drivers.oar.output_parsing import END_OF_OAR_ANSWER
from cigri.errors import ConfigError, UnreadableOutput
from cigri.formats.machine_text import read_json, read_toml
from cigri.resources.document import read_document
from cigri.settings.loading import load as load_settings
from cigri.shell.results import ShellResult
from modules.laboratory import scenario
from modules.operator.cluster.declaration import pair

DEEP = "[" * 100_000
LONG_NUMBER = "9" * 5_000
NO_TOML = {"deep": f"a = {DEEP}", "long number": f"a = {LONG_NUMBER}", "cut": "a = [", "NUL": "a = '\0'"}
NO_JSON = {"deep": DEEP, "deep object": '{"a":' * 100_000, "long number": LONG_NUMBER, "cut": "[1", "empty": ""}
no_toml = pytest.mark.parametrize("text", NO_TOML.values(), ids=NO_TOML)
no_json = pytest.mark.parametrize("text", NO_JSON.values(), ids=NO_JSON)


@no_toml
def test_no_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        read_toml(text)


@no_json
def test_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        read_json(text)


def test_json_that_is_no_utf_8_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json(b'"\xff"')


@no_toml
def test_settings_that_are_no_toml_are_told_with_their_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "cigri.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"cigri\.toml: "):
        load_settings({"CIGRI_CONFIG": str(path), "HOME": str(tmp_path)})


@no_toml
def test_resources_that_are_no_toml_are_told(text: str) -> None:
    with pytest.raises(ConfigError, match="this is no TOML: "):
        read_document(text)


@no_toml
def test_a_scenario_that_is_no_toml_is_told_with_its_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "day.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"day\.toml: "):
        scenario.read(path)


@pytest.mark.parametrize("value", [DEEP, LONG_NUMBER], ids=["deep", "long number"])
def test_an_option_that_is_no_toml_is_a_word(value: str) -> None:
    assert pair(f"comment={value}") == ("comment", value)


@no_json
def test_what_a_cluster_answers_and_is_no_json_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableOutput):
        load_driver("oar", {}).parse_status(ShellResult(0, f"{text}\n{END_OF_OAR_ANSWER}\n", ""), "cigri")
