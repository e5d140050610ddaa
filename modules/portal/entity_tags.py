"""Answers that the caller has already are not sent again: ETag and If-None-Match (RFC 9110)."""

from hashlib import sha256
from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

TAG_LENGTH = 32  # digits of a sum of the body


def unless_known(request: Request, answer: Response) -> Response:
    """The answer with its tag, or 304 without a body where the caller names it."""
    tag = f'"{sha256(answer.body).hexdigest()[:TAG_LENGTH]}"'
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if known & {tag, "*"}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    answer.headers["ETag"] = tag
    return answer
