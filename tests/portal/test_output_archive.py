"""A campaign's collected outputs as one tar file: from its page and the API, its owner's, and bounded."""

import http.client
import io
import tarfile
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.identity.callers import AccessScope
from cigri.settings.sections import OutputSettings
from modules.portal import output_archive
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import Mint, Served, bearer

PATH, OF_API = "/campaigns/1/outputs.tar", "/api/v1/campaigns/1/outputs.tar"
STORED = """
    INSERT INTO parcels (task_id, attempt, campaign_id, cluster_id, files, bytes, ended_at, collected_at, remove_at)
    SELECT id, 1, 1, 1, 1, 3, now(), now(), now() FROM tasks WHERE campaign_id = 1 AND number < 2
"""


@pytest.fixture(autouse=True)
def store(web: Served, tmp_path: Path) -> Path:
    web.change_settings(outputs=OutputSettings(directory=tmp_path / "store"))
    for number in (0, 1):
        (tmp_path / "store" / "1" / str(number)).mkdir(parents=True)
        (tmp_path / "store" / "1" / str(number) / "out").write_bytes(b"abc")
    with web.database.begin() as conn:
        conn.execute(text(STORED))
        conn.execute(text("UPDATE campaign_clusters SET collected = 2, stored_bytes = 8198 WHERE campaign_id = 1"))
    return tmp_path / "store"


def asked(
    web: Served, headers: dict[str, str], method: str = "GET", path: str = OF_API
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_its_owner_gets_all_of_it_by_a_token(web: Served, mint: Mint) -> None:
    response, body = asked(web, bearer(mint()))
    assert (response.status, response.headers["Content-Type"]) == (200, "application/x-tar")
    assert response.headers["Content-Disposition"] == 'attachment; filename="campaign-1.tar"'
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        assert tar.getnames() == ["campaign-1/0/out", "campaign-1/1/out"]
    response, body = asked(web, bearer(mint()), "HEAD")
    assert (response.status, response.headers["Content-Type"], body) == (200, "application/x-tar", b"")


def test_the_page_leads_there(browser: Browser, web: Served) -> None:
    assert f'href="{PATH}" download' in browser.get("/campaigns/1").text
    assert browser.get(PATH).status == 200
    assert "outputs.tar" not in browser.get("/campaigns/2").text
    assert "outputs.tar" not in signed_in(web.database, web.port, "daemon").get("/campaigns/1").text


def test_nobody_else_gets_it(web: Served, mint: Mint) -> None:
    assert asked(web, bearer(mint("daemon")))[0].status == 404
    assert asked(web, bearer(mint("daemon", AccessScope.SUBMIT)))[0].status == 404
    assert asked(web, {})[0].status == 401
    assert signed_in(web.database, web.port, "daemon").get(PATH).status == 404


def test_where_nothing_is_stored_it_is_said_who_brings_it(web: Served, mint: Mint) -> None:
    response, body = asked(web, bearer(mint()), path="/api/v1/campaigns/2/outputs.tar")
    assert (response.status, b"download all with `gridget 2`" in body) == (404, True)


def test_beyond_the_limit_gridget_is_named(web: Served, mint: Mint, store: Path) -> None:
    web.change_settings(outputs=OutputSettings(directory=store, archive=1))
    with web.database.begin() as conn:
        conn.execute(text("UPDATE parcels SET bytes = 600000"))
    response, body = asked(web, bearer(mint()))
    assert response.status == 409
    assert b"an archive has 1 MB (outputs.archive)" in body
    assert b"download them with `gridget 1`" in body


def test_one_user_reads_few_at_a_time(web: Served, mint: Mint, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2 * output_archive.MOST_ARCHIVES):
        assert asked(web, bearer(mint()))[0].status == 200, "what is read counts no more"
    monkeypatch.setattr(output_archive, "MOST_ARCHIVES", 0)
    response, body = asked(web, bearer(mint()))
    assert (response.status, b"archives of outputs come to you already" in body) == (503, True)
