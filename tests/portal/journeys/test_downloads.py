"""What a task wrote is downloaded from its page, byte by byte, by its owner alone."""

import getpass
import re

import pytest

from cigri.identity.callers import AccessScope
from tests.grid import Grid
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import Served
from tests.waiting import looks

ME = getpass.getuser()
WRITES = "printf 'a<script>'; echo no >&2; echo 42 >'it<i>s é.txt'; head -c 3000000 /dev/zero >large.bin"


@pytest.fixture
def mine(working: Served, local: Grid) -> Browser:
    """A task of mine has ended, and brought two files."""
    local.submit(["a"], WRITES, outputs=["*.txt", "*.bin"])
    local.run_to_end()
    return signed_in(working.database, working.port, ME)


def fetched(browser: Browser, path: str) -> Page:
    """What comes once the cluster has answered."""
    for _ in looks():
        told = browser.get(path)
        if told.status != 202:
            return told
        assert told.headers["refresh"] == "1"
    raise AssertionError("the cluster is asked for ever")


def test_what_a_task_printed_and_brought_is_downloaded(mine: Browser) -> None:
    page = mine.get("/campaigns/1/tasks/0")
    out, err, files = re.findall(r'href="(/campaigns/1/tasks/0/(?:streams/\w+|files))"', page.text)
    told = fetched(mine, out)
    assert (told.status, told.text) == (200, "a<script>")
    assert told.headers["content-type"] == "application/octet-stream"
    assert told.headers["content-disposition"] == "attachment; filename*=UTF-8''1-0.stdout"
    assert fetched(mine, err).text == "no\n"
    listed = fetched(mine, files)
    assert "it<i>s é.txt 3 B" in listed.words
    small, large = sorted(re.findall(r'href="(/campaigns/1/tasks/0/file\?[^"]+)"', listed.text), key=len)[::-1]
    told = fetched(mine, small)
    assert (told.text, told.headers["content-type"]) == ("42\n", "application/octet-stream")
    assert told.headers["content-disposition"] == "attachment; filename*=UTF-8''it%3Ci%3Es%20%C3%A9.txt"
    told = fetched(mine, large)
    assert (told.status, "download it with `gridget 1`" in told.words) == (409, True)


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("file?path=none.txt", 404, ""),
        ("file?path=../../../etc/passwd", 400, "is no number/path"),
        ("streams/in", 422, ""),
        ("file", 422, ""),
    ],
)
def test_what_is_not_there_is_not_brought(path: str, status: int, said: str, mine: Browser) -> None:
    told = fetched(mine, f"/campaigns/1/tasks/0/{path}")
    assert (told.status, said in told.words) == (status, True), told.words


@pytest.mark.parametrize("path", ["files", "file?path=x", "streams/out", "streams/err"])
def test_nobody_else_brings_it(path: str, mine: Browser, working: Served) -> None:
    other = signed_in(working.database, working.port, "daemon", AccessScope.SUBMIT)
    assert other.get(f"/campaigns/1/tasks/0/{path}").status == 404
    assert "Downloads" not in other.get("/campaigns/1/tasks/0").words
    assert Browser(working.port).get(f"/campaigns/1/tasks/0/{path}").status == 401


def test_a_task_that_has_not_ended_has_no_downloads(working: Served, local: Grid) -> None:
    local.submit(["a"], "true")
    browser = signed_in(working.database, working.port, ME)
    assert "Downloads" not in browser.get("/campaigns/1/tasks/0").words
    told = browser.get("/campaigns/1/tasks/0/files")
    assert (told.status, "has not ended" in told.words) == (404, True)
