"""The JSON schema of a campaign description, made of what judges one: its types, and the names of its fields."""

from typing import Any

from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.description import CampaignFields
from cigri.jdl.earlier_fields import DESTINATION, FIELDS_OF_LATER, GATHERING
from cigri.jdl.field_meanings import FIELD_MEANINGS
from cigri.jdl.shell_lines import SHELL_FIELD
from cigri.jdl.sweep import MOST_TASKS, RANGE_FIELDS

Schema = dict[str, Any]

EARLIER = "Of an earlier CiGri."

DESCRIPTION_SCHEMA = "CampaignDescription"
SETTINGS_SCHEMA = "CampaignOnCluster"
EXAMPLE_DESCRIPTION: Schema = {
    "name": "ising",
    "exec_file": "~/ising/run --temperature {temperature} --seed {seed}",
    "resources": {"cpu": 4, "mem": "2 GB"},
    "walltime": "00:30:00",
    "retries": 2,
    "sweep": {"temperature": {"from": 2.0, "to": 2.4, "step": 0.1}, "seed": {"from": 1, "to": 100}},
    "clusters": {"dahu": {"max_jobs": 200}, "luke": {}},
}
_SCALAR: Schema = {"type": ["string", "number", "boolean"]}
_PARAMETER: Schema = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": ["string", "number"]}},
        {"type": "object", "additionalProperties": _SCALAR},
    ]
}
_RANGE: Schema = {
    "type": "object",
    "properties": {key: {"type": "number"} for key in RANGE_FIELDS},
    "required": list(RANGE_FIELDS[:2]),
    "additionalProperties": False,
}
SOURCE_SCHEMAS: Schema = {
    "params": {"type": "array", "items": _PARAMETER, "maxItems": MOST_TASKS},
    "param_file": {"type": "string", "description": "Its lines follow the description, one JSON string a line."},
    "nb_jobs": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST_TASKS}, {"type": "string"}]},
    "sweep": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1, "items": _SCALAR}, _RANGE]},
    },
}
_EARLIER: Schema = {"description": EARLIER}


def description_schemas(place: str) -> Schema:
    """By name, the schemas of a description and all that it is made of; `place` has {model} for such a name.

    Names of fields may have capitals in a description; here they have none.
    """
    campaign, settings = (
        model.model_json_schema(mode="validation", ref_template=place) for model in (CampaignFields, ClusterSettings)
    )
    parts = {**campaign.pop("$defs", {}), **settings.pop("$defs", {})}
    of_cluster = {**settings["properties"], **_other_fields(settings["properties"])}
    whole = {**of_cluster, **campaign["properties"], **SOURCE_SCHEMAS, "jobs_type": _EARLIER, "test_mode": _EARLIER}
    whole["clusters"] = _clusters(place.format(model=SETTINGS_SCHEMA))
    described = {
        "type": "object",
        "description": "A campaign. What stands at its top holds for each cluster that says nothing else.",
        "properties": _each_or_null(whole),
        "required": campaign["required"],
        "additionalProperties": False,
        "examples": [EXAMPLE_DESCRIPTION],
    }
    described["properties"] |= {name: whole[name] for name in campaign["required"]}
    on_cluster = {
        "type": "object",
        "description": "What a campaign wants on one cluster.",
        "properties": _each_or_null(of_cluster | {"test_mode": _EARLIER}),
        "additionalProperties": False,
        "examples": [EXAMPLE_DESCRIPTION["clusters"]["dahu"]],
    }
    schemas = {**parts, DESCRIPTION_SCHEMA: described, SETTINGS_SCHEMA: on_cluster}
    _explain(schemas)
    return schemas


def _explain(schema: Any) -> None:
    """Give each field of each object in it its meaning."""
    if isinstance(schema, list):
        for part in schema:
            _explain(part)
    elif isinstance(schema, dict):
        fields = schema.get("properties")
        if schema.get("type") == "object" and isinstance(fields, dict):
            schema["properties"] = {name: _explained(name, field) for name, field in fields.items()}
        for part in schema.values():
            _explain(part)


def _explained(name: str, field: Schema) -> Schema:
    return {**field, "description": FIELD_MEANINGS[name]} if name in FIELD_MEANINGS else field


def _each_or_null(fields: Schema) -> Schema:
    """A field that is null is one that is left out."""
    return {
        name: {"anyOf": [schema, {"type": "null"}], "description": schema.get("description", EARLIER)}
        for name, schema in sorted(fields.items())
    }


def _other_fields(settings: Schema) -> Schema:
    """Fields that are read into those of ClusterSettings, or of which nothing comes."""
    aliases = {"cluster_job_type": settings["types"], "output_file": {"anyOf": [settings["outputs"], _EARLIER]}}
    return {**dict.fromkeys((*FIELDS_OF_LATER, GATHERING, DESTINATION), _EARLIER), **aliases, **_shell(settings)}


def _shell(settings: Schema) -> Schema:
    nothing: Schema = {"enum": [0, [], {}]}
    return {SHELL_FIELD: {"anyOf": [settings["own_directory"], nothing]}}


def _clusters(settings: str) -> Schema:
    block = {"anyOf": [{"$ref": settings}, {"type": "null"}]}
    return {
        "anyOf": [
            {"type": "object", "minProperties": 1, "additionalProperties": block},
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
            {"type": "string"},
        ]
    }
