"""What /openapi.json tells beside the routes: how a caller is known, and what an answer is that is no success."""

import ast
import sys
from functools import cache
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from fastapi import FastAPI
from pydantic import BaseModel, Field, create_model

from cigri.endpoints import Access, Endpoint, list_endpoints
from cigri.errors import UsageError
from cigri.formats.json_values import inlined
from cigri.jdl.json_schema import description_schemas
from modules.portal.openapi_examples import add_examples
from modules.portal.problem_details import (
    BUG,
    BUG_ADVICE,
    MEDIA_TYPE,
    advice_on,
    is_documented,
    list_kinds,
    problem_body,
    status_of,
)

DESCRIPTION = """\
Who you are, the kernel says on the unix socket; elsewhere a token does, as `gridtoken create` or the signature of a
challenge makes it, or a reverse proxy that the operator trusts. Times are ISO 8601 with their offset, durations
seconds, rates tasks per hour."""
SCHEMA_PLACE = "#/components/schemas/{model}"
BEARER_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "cgr_...",
    "description": "A token of `gridtoken create`; on the unix socket none is needed.",
}


class ProblemLocation(BaseModel):
    """One thing that is wrong in what was sent."""

    place: str = Field(description='Where it is; "": nowhere in it.')
    message: str = Field(description="What is wrong.")
    hint: str = Field(description='What to write instead, or "".')


class ProblemDetails(BaseModel):
    """Why there is no answer (RFC 9457)."""

    type: str = Field(description="The kind of problem, as /problems/NotFound.")
    title: str = Field(description="What the status means.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What is wrong and what to do, as a command says it.")
    problems: list[ProblemLocation] | None = Field(
        None, description="Each thing that is wrong, where it is known which: fields and parameters."
    )


PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}}}}
REFUSED_ANSWERS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "It is not to be done so; `detail` tells what to do.", **PROBLEM},
    "5XX": {"description": "It cannot be done now; `detail` tells what to do.", **PROBLEM},
}


def tag_of(endpoint: Endpoint[..., Any]) -> str:
    """The file of endpoints in which it stands, as words."""
    return endpoint.function.__module__.rpartition(".")[2].replace("_", " ")


def list_tags() -> list[dict[str, str]]:
    """Each tag once, with what the docstring of its file says first."""
    files = {tag_of(endpoint): sys.modules[endpoint.function.__module__] for endpoint in list_endpoints()}
    return [
        {"name": tag, "description": (file.__doc__ or "").partition("\n")[0]} for tag, file in sorted(files.items())
    ]


def _refusals() -> dict[str, dict[str, Any]]:
    """By status, which problems come with it, and how each one is told."""
    told: dict[HTTPStatus, dict[str, str]] = {HTTPStatus.INTERNAL_SERVER_ERROR: {BUG: BUG_ADVICE}}
    for kind in (kind for kind in list_kinds() if is_documented(kind)):
        told.setdefault(status_of(kind), {})[kind.__name__] = advice_on(kind)
    told[HTTPStatus.UNPROCESSABLE_ENTITY][UsageError.__name__] = "a parameter or the body is not as this says"
    return {str(status.value): _refusal(status, kinds) for status, kinds in sorted(told.items())}


def _refusal(status: HTTPStatus, kinds: dict[str, str]) -> dict[str, Any]:
    sentences = " ".join(f"`{kind}`: {advice}." for kind, advice in kinds.items())
    examples = {
        kind: {"summary": advice, "value": problem_body(status, kind, f"{advice}: what, and where")}
        for kind, advice in kinds.items()
    }
    content = {MEDIA_TYPE: {**PROBLEM["content"][MEDIA_TYPE], "examples": examples}}
    return {"description": f"{status.phrase}. {sentences}", "content": content}


def _may_answer(endpoint: Endpoint[..., Any], status: str) -> bool:
    """Does this operation ever answer so? Who asks no cluster hears of none, and who changes nothing needs no room."""
    match int(status):
        case HTTPStatus.UNAUTHORIZED:
            return endpoint.may is not Access.ANYBODY
        case HTTPStatus.BAD_GATEWAY:
            return endpoint.may_defer
        case HTTPStatus.INSUFFICIENT_STORAGE:
            return endpoint.method != "GET"
    return True


def describe(app: FastAPI) -> None:
    """Let the application tell of these, too."""
    routes = app.openapi

    def openapi() -> dict[str, Any]:
        described = routes()
        schemas = ProblemDetails.model_json_schema(ref_template=SCHEMA_PLACE)
        components = described["components"]
        components["schemas"] |= {**schemas.pop("$defs"), ProblemDetails.__name__: schemas}
        components["schemas"] |= description_schemas(SCHEMA_PLACE)
        components["securitySchemes"] = {"token": BEARER_SCHEME}
        components["responses"] = _refusals()
        endpoints = {endpoint.name: endpoint for endpoint in list_endpoints()}
        named = {status: {"$ref": f"#/components/responses/{status}"} for status in components["responses"]}
        for operations in described["paths"].values():
            for operation in operations.values():
                endpoint = endpoints[operation["operationId"]]
                answered = {status: told for status, told in named.items() if _may_answer(endpoint, status)}
                operation["responses"] = answered | operation["responses"]
        add_examples(described)
        return described | {"security": [{"token": []}, {}]}

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


# Types of answers as OpenAPI describes them; a field means what the docstring below it says.


def schema_of(kind: Any) -> Any:
    """The same type, with a model in place of each named tuple, which is an object in our answers and no array."""
    if hasattr(kind, "_fields"):
        return _model(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return Union[tuple(schema_of(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return origin[tuple(schema_of(one) for one in inner)] if origin in (list, dict) else kind


def meanings_of(kind: Any) -> dict[str, str]:
    """What each field of a named tuple means, as far as its source tells."""
    body = _classes(sys.modules[kind.__module__].__file__)[kind.__name__].body
    meanings = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                meanings[name] = meaning
    return meanings


@cache
def _classes(source: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.parse(Path(source).read_text()).body if isinstance(node, ast.ClassDef)}


@cache
def _model(kind: Any) -> Any:
    return create_model(kind.__name__, __doc__=kind.__doc__, **_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    hints, meanings, fields = get_type_hints(kind), meanings_of(kind), dict[str, Any]()
    for name in kind._fields:
        if name in inlined(kind):
            fields |= _fields(hints[name])
        else:
            fields[name] = (schema_of(hints[name]), Field(description=meanings.get(name)))
    return fields
