"""A browser as far as a portal sees one: it keeps cookies, fetches pages, and sends their forms."""

import re
import secrets
from html import unescape
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlencode

from cigri.database import Database
from cigri.flow.browser_sessions import put_link
from cigri.identity.callers import AccessScope
from cigri.identity.token_text import hash_of

LINK = "l" * 43
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PROOF = re.compile(r'name="proof" value="([^"]+)"')


class Page(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]

    @property
    def words(self) -> str:
        """What a reader sees, without markup."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.text)).split())

    @property
    def proof(self) -> str:
        found = PROOF.search(self.text)
        assert found, self.text
        return found[1]


class Browser:
    """Of somebody at 127.0.0.1; `name`: the portal's, as this browser calls it."""

    def __init__(self, port: int, name: str = "") -> None:
        self.port, self.name = port, name or f"127.0.0.1:{port}"
        self.cookies: dict[str, str] = {}

    def get(self, path: str, **headers: str) -> Page:
        return self.send("GET", path, None, {"Accept": "text/html", "Sec-Fetch-Site": "none", **headers})

    def post(self, path: str, form: dict[str, str], **headers: str) -> Page:
        """From a page of the portal's own, unless the headers say otherwise; an empty one is left out."""
        said = {"Accept": "text/html", "Origin": f"http://{self.name}", "Sec-Fetch-Site": "same-origin", **FORM}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send("POST", path, urlencode(form), {name: value for name, value in said.items() if value})

    def send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Page:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        shown = {"Host": self.name, **({"Cookie": cookies} if cookies else {})}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, shown | headers)
            response = connection.getresponse()
            for line in response.headers.get_all("Set-Cookie", []):
                self._keep(line)
            return Page(response.status, response.read().decode(), {k.lower(): v for k, v in response.getheaders()})
        finally:
            connection.close()

    def _keep(self, line: str) -> None:
        name, _, rest = line.partition("=")
        value = rest.partition(";")[0].strip('"')
        self.cookies.pop(name, None)
        if value:
            self.cookies[name] = value


def made_link(
    database: Database, user: str = "nobody", link: str = LINK, scope: AccessScope = AccessScope.SUBMIT
) -> int:
    with database.begin() as conn:
        return put_link(conn, user, hash_of(link), scope).id


def signed_in(
    database: Database, port: int, user: str = "nobody", scope: AccessScope = AccessScope.SUBMIT, name: str = ""
) -> Browser:
    browser, link = Browser(port, name), secrets.token_urlsafe(32)
    made_link(database, user, link, scope)
    assert browser.post("/sign-in", {"link": link}).status == 303
    return browser
