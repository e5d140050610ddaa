"""What is sent to endpoints that take a stream, as OpenAPI describes it; of text the example is the body as it is."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from cigri.endpoints import UploadEndpoint
from cigri.endpoints.portal_client import STREAM
from cigri.jdl.json_schema import DESCRIPTION_SCHEMA, EXAMPLE_DESCRIPTION
from modules.portal.example_values import DIGEST, FILE_CONTENT
from modules.portal.openapi import SCHEMA_PLACE

DOCUMENT = """\
[site.grenoble.properties]
software = ["gcc-12", "openmpi"]

[cluster.dahu]
site = "grenoble"
properties.gpu_mem = "16 GB"
"""
DESCRIPTION_BODY = {
    "required": True,
    "description": "One JSON value a line: the description, then its parameters, if they do not stand in it: those of "
    "`params`, or the lines of `param_file` as strings. A text is a description in DIRAC's language.",
    "content": {
        STREAM: {
            "schema": {"anyOf": [{"$ref": SCHEMA_PLACE.format(model=DESCRIPTION_SCHEMA)}, {"type": "string"}]},
            "example": EXAMPLE_DESCRIPTION,
        }
    },
}


class TextBody(NamedTuple):
    """What the lines or bytes of a body are, and one that is taken."""

    meaning: str
    example: str


TEXTS: Mapping[str, TextBody] = {
    "send_input": TextBody("The bytes of the file from `offset` on, as they are.", FILE_CONTENT),
    "send_inputs": TextBody(
        "Of each file a line with its SHA-256, a blank and its size in bytes, then its bytes; the next line follows "
        "the last byte.",
        f"{DIGEST} {len(FILE_CONTENT)}\n{FILE_CONTENT}",
    ),
    "lacked_inputs": TextBody("One SHA-256 a line, as a JSON text.", f'"{DIGEST}"\n'),
    "add_tasks": TextBody(
        "One parameter a line, in JSON: an object of named parameters, an array or a text, as those of the campaign.",
        '{"temperature": 2.5, "seed": 1}\n{"temperature": 2.5, "seed": 2}\n',
    ),
    "apply_resources": TextBody("The document in TOML, as one JSON text.", json.dumps(DOCUMENT) + "\n"),
}
"""By the name of the endpoint."""


def body_of(endpoint: UploadEndpoint[..., Any]) -> dict[str, Any]:
    """Return the request body of its operation; raise LookupError for an endpoint of which nothing is said here."""
    if endpoint.sends_description:
        return DESCRIPTION_BODY
    if endpoint.name not in TEXTS:
        raise LookupError(f"{endpoint.name}: say in {__name__} what is sent to it")
    text = TEXTS[endpoint.name]
    content = {STREAM: {"schema": {"type": "string"}, "example": text.example}}
    return {"required": True, "description": text.meaning, "content": content}
