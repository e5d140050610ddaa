"""What /openapi.json tells beside the routes: how a caller is known, and what an answer is that is no success."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from modules.portal.problem_details import MEDIA_TYPE

DESCRIPTION = """\
Who you are, the kernel says on the unix socket; elsewhere a token does, as `gridtoken create` or the signature of a
challenge makes it, or a reverse proxy that the operator trusts. Times are ISO 8601 with their offset, durations
seconds, rates tasks per hour."""
BEARER_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "cgr_...",
    "description": "A token of `gridtoken create`; on the unix socket none is needed.",
}


class ProblemPlace(BaseModel):
    """One thing that is wrong in what was sent."""

    place: str = Field(description='Where it is; "": nowhere in it.')
    message: str = Field(description="What is wrong.")
    hint: str = Field(description='What to write instead, or "".')


class ToldProblem(BaseModel):
    """Why there is no answer (RFC 9457)."""

    type: str = Field(description="The kind of problem, as /problems/NotFound.")
    title: str = Field(description="What the status means.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What is wrong and what to do, as a command says it.")
    problems: list[ProblemPlace] | None = Field(None, description="Each thing that is wrong, where there may be many.")


PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ToldProblem.__name__}"}}}}
REFUSED_ANSWERS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "It is not to be done so; `detail` tells what to do.", **PROBLEM},
    "5XX": {"description": "It cannot be done now; `detail` tells what to do.", **PROBLEM},
}


def describe(app: FastAPI) -> None:
    """Let the application tell of these, too."""
    routes = app.openapi

    def openapi() -> dict[str, Any]:
        described, place = routes(), "#/components/schemas/{model}"
        schemas = ToldProblem.model_json_schema(ref_template=place)
        components = described["components"]
        components["schemas"] |= {**schemas.pop("$defs"), ToldProblem.__name__: schemas}
        components["securitySchemes"] = {"token": BEARER_SCHEME}
        return described | {"security": [{"token": []}, {}]}

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it
