"""The schema of a description refuses nothing that is understood, and much of what is not."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cigri.errors import DescriptionError
from cigri.jdl.field_meanings import FIELD_MEANINGS
from cigri.jdl.json_schema import DESCRIPTION_SCHEMA, EARLIER, EXAMPLE_DESCRIPTION, SETTINGS_SCHEMA, description_schemas
from cigri.jdl.parsing import KNOWN_FIELDS, OF_CLUSTERS, param_file, parse_described, read_description
from cigri.jdl.stages import STAGES
from cigri.jdl.text_formats import format_of

EXAMPLES = sorted((Path(__file__).parents[2] / "etc" / "campaigns").glob("**/*.[jyt][sao]*"))
SCHEMAS = description_schemas("#/$defs/{model}")
SCHEMA = jsonschema_rs.validator_for({"$defs": SCHEMAS, "$ref": f"#/$defs/{DESCRIPTION_SCHEMA}"})
LEAST = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": ["dahu"]}
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**12,
    "",
    " ",
    "x",
    "true",
    "05:00",
    [],
    ["x"],
    {},
    {"x": 1},
    [{}],
)
REFUSED: list[dict[str, Any]] = [
    {"walltime": -1},
    {"walltime": 10**12},
    {"walltime": ""},
    {"resources": {"cpu": 0}},
    {"resources": {"mem": []}},
    {"resources": []},
    {"retries": -1},
    {"retries": True},
    {"name": ""},
    {"name": "x" * 4001},
    {"nosuchfield": 1},
    {"type": "sometimes"},
    {"append": "perhaps"},
    {"priority": 10**9},
    {"replicate": {"budget": 2}},
    {"checkpoint": {"signal": []}},
    {"checkpoint": {"nosuchfield": 1}},
    {"notify": ["mail:me@example.org"] * 11},
    {"after": list(range(1, 30))},
    {"outputs": ["x"] * 101},
    {"inputs": [{"path": "a", "to": "a", "sha256": "b", "size": 1}]},
    {"clusters": {}},
    {"clusters": {"dahu": {"nosuchfield": 1}}},
    {"clusters": {"dahu": {"walltime": -1}}},
    {"clusters": [1]},
    {"nb_jobs": -1},
    {"nb_jobs": None, "sweep": {}},
    {"nb_jobs": None, "sweep": {"x": {"from": 1}}},
    {"nb_jobs": None, "params": "x"},
    {"nb_jobs": None, "params": [None]},
]


def _is_understood(described: object) -> bool:
    try:
        parse_described(json.loads(json.dumps(described)), ())
    except DescriptionError:
        return False
    return True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path) -> None:
    described = read_description(path.read_text(), format_of(path))
    assert parse_described(described, list(param_file(described, path.parent, path.parent))).name
    SCHEMA.validate(json.loads(json.dumps(described, default=str)))


def test_the_example_of_the_schema_is_valid_and_understood() -> None:
    assert len(EXAMPLES) >= 5
    SCHEMA.validate(EXAMPLE_DESCRIPTION)
    assert _is_understood(EXAMPLE_DESCRIPTION)
    assert SCHEMA.is_valid(LEAST)


@pytest.mark.parametrize("hostile", REFUSED, ids=str)
def test_hostile_descriptions_are_refused_by_both(hostile: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(LEAST | hostile)
    assert not _is_understood(LEAST | hostile)


@pytest.mark.parametrize("field", sorted({*KNOWN_FIELDS} - {STAGES}))
def test_nothing_that_is_understood_is_refused(field: str) -> None:
    """In a field at the top, or in a cluster's block, and within an object there."""
    inner = SCHEMAS[DESCRIPTION_SCHEMA]["properties"][field]
    names = {name for name in ("cpu", "mem", "budget", "signal", "period", "to", "keep", "campaign", "x")}
    values = [*HOSTILE, *({name: value} for name in names for value in HOSTILE)]
    for value in values:
        tried = [LEAST | {field: value}]
        tried += [LEAST | {"clusters": {"dahu": {field: value}}}] if field in OF_CLUSTERS else []
        for described in tried:
            if _is_understood(described):
                assert SCHEMA.is_valid(described), (described, inner)


def test_the_schema_has_each_field_that_is_known_and_no_other() -> None:
    assert {*SCHEMAS[DESCRIPTION_SCHEMA]["properties"]} == {*KNOWN_FIELDS} - {STAGES}
    assert {*SCHEMAS[SETTINGS_SCHEMA]["properties"]} == OF_CLUSTERS | {"test_mode"}


def test_each_field_has_a_meaning_and_each_meaning_is_of_one() -> None:
    told = dict[str, str]()
    for schema in SCHEMAS.values():
        for part in (schema, *schema.get("anyOf", ())):
            told |= {name: field.get("description", "") for name, field in part.get("properties", {}).items()}
    told = {name: meaning for name, meaning in told.items() if meaning != EARLIER}
    assert told == FIELD_MEANINGS
