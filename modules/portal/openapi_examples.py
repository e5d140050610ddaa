"""An example of each schema, parameter and body of OpenAPI, made of what a name says in `example_values`."""

from collections.abc import Iterator, Mapping
from typing import Any

from cigri.jdl.json_schema import Schema
from modules.portal.example_values import ENUMS, NULL, OTHERWISE, OVERRIDES, TRUE, VALUES

JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class NoExample(LookupError):
    """A field or parameter of which `example_values` says nothing."""


class ExampleMaker:
    """Makes them for the schemas of a document, by their names."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas

    def of_model(self, name: str) -> Any:
        """Of a schema with a name: what its own schema tells, else what its fields do."""
        schema = self._schemas[name]
        if told := schema.get("examples"):
            return told[0]
        if name in OVERRIDES:
            return OVERRIDES[name]
        if "enum" in schema:
            return ENUMS.get(name, schema["enum"][0])
        return {field: self.of(name, field, part) for field, part in schema["properties"].items()}

    def of(self, where: str, name: str, schema: Schema) -> Any:
        """Of a field of the model, or a parameter of the operation, `where`; raise NoExample."""
        if f"{where}.{name}" in OVERRIDES:
            return OVERRIDES[f"{where}.{name}"]
        kinds = list(_alternatives(schema))
        if name in NULL and any(kind.get("type") == "null" for kind in kinds):
            return None
        for told in (VALUES, OTHERWISE):
            if name in told and any(_takes(kind, told[name]) for kind in kinds):
                return told[name]
        return self._derived(where, name, kinds[0])

    def _derived(self, where: str, name: str, schema: Schema) -> Any:
        if "$ref" in schema:
            return self.of_model(schema["$ref"].rpartition("/")[2])
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("type") == "boolean":
            return name in TRUE
        if schema.get("type") == "array":
            return [self.of(where, name, schema["items"])] if "items" in schema else []
        if isinstance(inner := schema.get("additionalProperties"), dict):
            return {VALUES["cluster"]: self.of(where, name, inner)}
        raise NoExample(f"{where}.{name}: say in modules/portal/example_values.py what an example of it is")


def add_examples(described: Schema) -> None:
    """Give each named schema one, each parameter, and each body of JSON."""
    schemas: dict[str, Schema] = described["components"]["schemas"]
    maker = ExampleMaker(schemas)
    for name, schema in schemas.items():
        schema["examples"] = [maker.of_model(name)]
    for operations in described["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                told = maker.of(operation["operationId"], parameter["name"], parameter["schema"])
                parameter.setdefault("example", told)
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if "$ref" in content["schema"]:
                    content.setdefault("example", maker.of_model(content["schema"]["$ref"].rpartition("/")[2]))


def _alternatives(schema: Schema) -> Iterator[Schema]:
    if "anyOf" in schema:
        for part in schema["anyOf"]:
            yield from _alternatives(part)
    else:
        yield schema


def _takes(schema: Schema, value: Any) -> bool:
    """Is it of the type of the schema? True and false are no numbers."""
    if schema.get("type") == "array" and isinstance(value, list) and "items" in schema:
        kinds = list(_alternatives(schema["items"]))
        return all(any(_takes(kind, each) for kind in kinds) for each in value)
    if "enum" in schema:
        return value in list(schema["enum"])
    if "type" not in schema:
        return "$ref" not in schema
    if isinstance(value, bool):
        return bool(schema["type"] == "boolean")
    if isinstance(inner := schema.get("additionalProperties"), dict) and isinstance(value, dict):
        return all(_takes(inner, each) for each in value.values())
    if schema.get("format") == "date-time" and isinstance(value, str):
        return "T" in value
    return isinstance(value, JSON_TYPES[schema["type"]])
