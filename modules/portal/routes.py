"""Each endpoint as a route: its parameters are checked by their types, and unknown ones refused."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL
from starlette.responses import JSONResponse, Response

from cigri.endpoints import API, HEADERS, Endpoint, UploadEndpoint
from cigri.endpoints.dispatch import run_endpoint
from cigri.endpoints.paging import is_last
from cigri.endpoints.parameters import MEANINGS
from cigri.formats.json_values import to_json_value
from cigri.formats.untrusted_text import safe_json
from cigri.identity.callers import Caller
from modules.portal.deferred_responses import ResponsePending
from modules.portal.entity_tags import unless_known
from modules.portal.held_requests import LONGEST_WAIT
from modules.portal.openapi import REFUSED_ANSWERS, schema_of, tag_of
from modules.portal.parameter_limits import with_bounds, with_limits
from modules.portal.services import services_of

ANSWERED_LATER = "It is being found out: ask the same again for the answer, or prefer to wait."
PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": f"`wait=10`: let the answer come within so many seconds, {LONGEST_WAIT} at most, in place of 202.",
    "schema": {"type": "string"},
    "example": "wait=10",
}
KNOWN_ALREADY = "The answer is the one that `If-None-Match` names by its `ETag`."


def add(router: APIRouter, endpoint: Endpoint[..., Any]) -> None:
    """Serve it; the work is done in a thread, in one transaction."""

    def answer_to(request: Request, caller: Caller, values: Mapping[str, Any]) -> Response:
        services = services_of(request)
        question = (endpoint.name, caller, json.dumps(values, sort_keys=True, default=str))
        answer = services.errands.fetch_or_start(
            caller.user,
            question,
            lambda: run_endpoint(endpoint, services.database, services.settings.current, caller, values),
        )
        response = as_answer(endpoint, answer, values, _links(endpoint, request.url, values, answer))
        return unless_known(request, response) if endpoint.method == "GET" else response

    def serve(request: Request, asked: BaseModel, told: BaseModel | None = None, **named: Any) -> Response:
        caller = services_of(request).identities.caller(request)
        return answer_to(request, caller, {**named, **dict(asked), **dict(told or {})})

    async def serve_later(request: Request, asked: BaseModel, told: BaseModel | None = None, **named: Any) -> Response:
        services = services_of(request)
        caller = await run_in_threadpool(services.identities.caller, request)
        values = {**named, **dict(asked), **dict(told or {})}
        try:
            return await services.held.answer_as_preferred(
                request, caller.user, lambda: answer_to(request, caller, values)
            )
        except ResponsePending:
            return not_yet()

    add_route(router, endpoint, serve_later if endpoint.may_defer else serve)


def add_route(router: APIRouter, endpoint: Endpoint[..., Any], serve: Callable[..., Any], **more: Any) -> None:
    """Let `serve` have what is asked as `asked` (the query), `told` (the body), and by name what the path says."""
    serve.__signature__ = _signature(endpoint)  # type: ignore[attr-defined]  # FastAPI reads it
    router.add_api_route(
        API + endpoint.path,
        serve,
        methods=[endpoint.method],
        status_code=success_of(endpoint),
        name=endpoint.name,
        operation_id=endpoint.name,
        tags=[tag_of(endpoint)],
        summary=(endpoint.function.__doc__ or "").partition("\n")[0],
        description=f"May be called by: {endpoint.may}.",
        responses={
            success_of(endpoint): {
                "model": _answer_schema(endpoint),
                "description": "The answer.",
                **_headers(endpoint),
            },
            **({HTTPStatus.ACCEPTED: {"description": ANSWERED_LATER}} if endpoint.may_defer else {}),
            **({HTTPStatus.NOT_MODIFIED: {"description": KNOWN_ALREADY}} if endpoint.method == "GET" else {}),
            **REFUSED_ANSWERS,
        },
        response_class=Response,
        openapi_extra=({"parameters": [PREFER]} if endpoint.may_defer else {}) | more,
    )


def _answer_schema(endpoint: Endpoint[..., Any]) -> Any:
    schema = schema_of(endpoint.answer)
    return schema if endpoint.most_rows is None else Annotated[schema, Field(max_length=endpoint.most_rows)]


def _headers(endpoint: Endpoint[..., Any]) -> dict[str, Any]:
    described = {}
    if endpoint.paging is not None:
        behind = f'With rel="next" the next page, by `{endpoint.paging.parameter}`; missing, this is the last one.'
        described["Link"] = behind
    if endpoint.created is not None:
        described["Location"] = "Where it is that was made, as seen from the path that was asked."
    if endpoint.may_defer:
        described["Preference-Applied"] = "The seconds for which the answer was waited for, at most, as `wait=10`."
    schema = {"schema": {"type": "string"}}
    return {"headers": {name: {"description": text, **schema} for name, text in described.items()}} if described else {}


def _signature(endpoint: Endpoint[..., Any]) -> Signature:
    """Of the path each by itself, the others as one model: of the query, or of the body."""
    every = signature(endpoint.function).parameters.values()
    parameters = [parameter for parameter in every if parameter.kind is Parameter.KEYWORD_ONLY]
    taken = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)]
    taken += [_of_path(parameter) for parameter in parameters if parameter.name in endpoint.in_path]
    taken += [_of_header(parameter) for parameter in parameters if parameter.name in HEADERS]
    others = [one for one in parameters if one.name not in endpoint.in_path and one.name not in HEADERS]
    is_bodiless = endpoint.method == "GET" or isinstance(endpoint, UploadEndpoint)
    in_query, in_body = (others, []) if is_bodiless else ([], others)
    in_query = [parameter.replace(annotation=with_limits(parameter.annotation)) for parameter in in_query]
    in_body = [parameter.replace(annotation=with_bounds(parameter.annotation)) for parameter in in_body]
    # without a model what is unknown would be ignored
    taken.append(_of_model("asked", _model(f"{endpoint.name}_query", in_query), Query()))
    if in_body:
        taken.append(_of_model("told", _model(f"{endpoint.name}_body", in_body), Body()))
    return Signature(taken)


def _of_model(name: str, model: Any, place: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[model, place])


def _of_path(parameter: Parameter) -> Parameter:
    told = Path(description=MEANINGS.get(parameter.name))
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[with_limits(parameter.annotation), told])


def _of_header(parameter: Parameter) -> Parameter:
    told = Header(alias=HEADERS[parameter.name], description=MEANINGS.get(parameter.name))
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[with_limits(parameter.annotation), told])


def _model(name: str, parameters: list[Parameter]) -> type[BaseModel]:
    fields: Mapping[str, Any] = {
        parameter.name: (
            parameter.annotation,
            Field(
                ... if parameter.default is Parameter.empty else parameter.default,
                description=MEANINGS.get(parameter.name),
            ),
        )
        for parameter in parameters
    }
    make: Callable[..., type[BaseModel]] = create_model
    return make(name.title().replace("_", ""), __config__=ConfigDict(extra="forbid"), **fields)


def _links(endpoint: Endpoint[..., Any], asked: URL, values: Mapping[str, Any], answer: Any) -> dict[str, str]:
    """The page behind this one, if any; its address is told without the path, which a proxy may call otherwise."""
    paging = endpoint.paging
    if paging is None or is_last(answer, values["limit"]):
        return {}
    since = {paging.parameter: paging.next_of(answer, values[paging.parameter])}
    return {"Link": f'<?{asked.include_query_params(**since).query}>; rel="next"'}


def not_yet() -> Response:
    """Who asks the same again later is answered."""
    return JSONResponse({"state": "asked"}, HTTPStatus.ACCEPTED, {"Retry-After": "1"})


def success_of(endpoint: Endpoint[..., Any]) -> HTTPStatus:
    """The status of an answer that is there."""
    return HTTPStatus.OK if endpoint.created is None else HTTPStatus.CREATED


def as_answer(
    endpoint: Endpoint[..., Any], answer: Any, asked: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """With the place of what was made, if anything was."""
    response = as_json(answer, headers)
    response.status_code = success_of(endpoint)
    if endpoint.created is not None:
        response.headers["Location"] = endpoint.created(answer, asked)
    return response


def as_json(answer: Any, headers: Mapping[str, str] | None = None) -> Response:
    """As `--json` prints it, but for the blanks."""
    text = safe_json(json.dumps(to_json_value(answer), ensure_ascii=False))
    return Response(text.encode(), headers=headers, media_type="application/json")
