"""Downloads from a task's page: what it printed, and the files that it has brought, each as far as one answer holds."""

from base64 import b64decode
from collections.abc import Callable
from posixpath import basename
from typing import Any, Literal
from urllib.parse import quote, unquote_to_bytes

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.files import OutputFileContents, StreamContents
from cigri.endpoints import Endpoint
from cigri.endpoints.dispatch import run_endpoint
from cigri.endpoints.outputs import MOST_FETCHED, fetch_files, fetch_outputs, written
from cigri.errors import CigriError, Forbidden, NotFound
from cigri.formats.units import as_size
from cigri.identity.callers import Caller
from modules.portal.deferred_responses import ResponsePending
from modules.portal.pages.task import ASK_AGAIN
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.page_renderer import PageRenderer
from modules.portal.rendering.page_router import PageRouter, Site

BYTES_TYPE = "application/octet-stream"
STREAM_NAMES = {"out": "stdout", "err": "stderr"}


task_file_pages = PageRouter()


@task_file_pages.page("/campaigns/{campaign_id}/tasks/{number}/files")
def files_page(site: Site, request: Request, campaign_id: PlainNumber, number: PlainNumber) -> Response:
    """List the files that a task has brought."""
    caller = site.visitor(request)
    ended = site.grid(caller).call(written, campaign_id=campaign_id, numbers=str(number))
    if not ended:
        raise NotFound(f"task {number} of campaign {campaign_id} has not ended, or never ran, or is none")
    task = ended[0]
    told: dict[str, Any] = {"campaign_id": campaign_id, "number": number, "task": task, "files": [], "wrong": ""}
    try:
        if task.files and task.place is None:
            told["files"] = _ask(site, caller, fetch_files, campaign_id=campaign_id, numbers=str(number)).files
    except ResponsePending:
        return _pending(site, request, caller, told)
    except (Forbidden, NotFound):
        raise
    except CigriError as error:
        told["wrong"] = str(error)
    return site.show(request, "files.html", caller, is_pending=False, **told)


@task_file_pages.page("/campaigns/{campaign_id}/tasks/{number}/file")
def download_file(
    site: Site, request: Request, campaign_id: PlainNumber, number: PlainNumber, path: PlainText
) -> Response:
    """Send one of the files that a task has brought."""

    def fetch(caller: Caller) -> Response:
        named = {"campaign_id": campaign_id, "numbers": str(number), "file": f"{number}/{path}", "offset": 0}
        told: OutputFileContents = _ask(site, caller, fetch_files, **named)
        if not told.files:
            raise NotFound(f"task {number} of campaign {campaign_id} has brought no such file")
        (file, *_) = told.files
        return _attachment(basename(unquote_to_bytes(file.path)), file.size, file.content, campaign_id)

    return _deliver(site, request, fetch, campaign_id, number)


@task_file_pages.page("/campaigns/{campaign_id}/tasks/{number}/streams/{stream}")
def download_stream(
    site: Site, request: Request, campaign_id: PlainNumber, number: PlainNumber, stream: Literal["out", "err"]
) -> Response:
    """Send what a task has printed."""

    def fetch(caller: Caller) -> Response:
        named = {"campaign_id": campaign_id, "numbers": str(number), "streams": [stream]}
        told: StreamContents = _ask(site, caller, fetch_outputs, **named)
        there = [output for output in told.outputs if output.size is not None]
        if not there:
            raise NotFound(f"task {number} of campaign {campaign_id} has left no {STREAM_NAMES[stream]}")
        name = f"{campaign_id}-{number}.{STREAM_NAMES[stream]}".encode()
        return _attachment(name, there[0].size, there[0].content, campaign_id)

    return _deliver(site, request, fetch, campaign_id, number)


def _deliver(
    site: PageRenderer, request: Request, fetch: Callable[[Caller], Response], campaign_id: int, number: int
) -> Response:
    """A page that asks again, until the answer is there."""
    caller = site.visitor(request)
    try:
        return fetch(caller)
    except ResponsePending:
        return _pending(site, request, caller, {"campaign_id": campaign_id, "number": number})


def _pending(site: PageRenderer, request: Request, caller: Caller, told: dict[str, Any]) -> Response:
    shown = {"task": None, "files": [], "wrong": "", **told}
    page = site.show(request, "files.html", caller, 202, is_pending=True, **shown)
    page.headers["Refresh"] = str(ASK_AGAIN)
    return page


def _ask(site: PageRenderer, caller: Caller, endpoint: Endpoint[..., Any], **asked: Any) -> Any:
    """Raise ResponsePending while the cluster is being asked."""
    question = ("a page's download", caller, endpoint.name, repr(asked))
    return site.errands.fetch_or_start(
        caller.user, question, lambda: run_endpoint(endpoint, site.database, site.settings, caller, asked)
    )


def _attachment(name: bytes, size: int | None, content: str, campaign_id: int) -> Response:
    """Bytes that no browser shows or runs, by the name of the file; raise CigriError where that is not all of it."""
    body = b64decode(content)
    if size is None or len(body) < size:
        raise CigriError(f"it is larger than {as_size(MOST_FETCHED)}: download it with `gridget {campaign_id}`")
    named = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(body, media_type=BYTES_TYPE, headers=named)
