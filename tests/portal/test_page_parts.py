"""An open page fetches only those of its parts that have changed."""

import re

import pytest

from modules.portal.rendering.page_parts import KNOWN_PARTS
from tests.factories import end_jobs, submitted_jobs
from tests.portal.browser import Browser, Page
from tests.portal.conftest import Served

PART = re.compile(r'id="part-(\w+)" data-tag="(\w+)"')


def parts_of(page: Page) -> dict[str, str]:
    return dict(PART.findall(page.text))


def knowing(shown: dict[str, str]) -> dict[str, str]:
    return {KNOWN_PARTS: " ".join(f"{name}={tag}" for name, tag in shown.items())}


@pytest.mark.noon
@pytest.mark.parametrize("path", ["/", "/?user=*", "/campaigns/1", "/campaigns/1?state=failed", "/campaigns/1/tasks/0"])
def test_where_nothing_has_changed_nothing_is_sent(browser: Browser, path: str) -> None:
    shown = parts_of(browser.get(path))
    assert len(shown) > 2
    answer = browser.get(path, **knowing(shown))
    assert (answer.status, answer.text) == (204, "")


@pytest.mark.noon
def test_what_has_changed_is_sent_alone_and_takes_its_place(browser: Browser, web: Served) -> None:
    shown = parts_of(browser.get("/campaigns/1"))
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1))
    answer = browser.get("/campaigns/1", **knowing(shown))
    assert parts_of(answer).keys() == {"head", "places", "strip", "tasks"}
    assert answer.text.count('hx-swap-oob="true"') == 4
    assert "<title>25 % · sums · CiGri</title>" in answer.text
    assert answer.headers["hx-reswap"] == "none ignoreTitle:false"
    assert "<nav" not in answer.text
    whole = browser.get("/campaigns/1")
    assert parts_of(whole) == shown | parts_of(answer)
    assert browser.get("/campaigns/1", **knowing(parts_of(whole))).status == 204


@pytest.mark.noon
def test_who_shows_other_parts_gets_the_page(browser: Browser) -> None:
    whole = browser.get("/campaigns/1")
    shown = parts_of(whole)
    for known in (dict(list(shown.items())[1:]), shown | {"more": "0"}, {}):
        answer = browser.get("/campaigns/1", **knowing(known))
        assert (answer.status, "hx-reswap" in answer.headers) == (200, False)
        assert parts_of(answer) == shown
    assert browser.get("/campaigns/1", **{KNOWN_PARTS: "= == a=b=c"}).status == 200
