"""What operators do in pages: clusters, nodes and quotas; by the endpoints' rules, and for nobody else."""

import re

import pytest

from cigri.database import Database
from cigri.flow.audit import list_audit, put_audit
from cigri.flow.clusters import find_cluster
from cigri.flow.excluded_nodes import list_excluded_nodes, put_exclusion
from cigri.flow.quotas import list_quotas
from cigri.flow.views.campaigns import list_campaigns
from cigri.identity.callers import AccessScope, Caller
from cigri.settings.sections import NodeSettings
from cigri.states import CampaignState
from tests.factories import a_cluster
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import HOSTILE, Served
from tests.portal.test_attacks import contents

QUOTA = {"queue": "*", "project": "*", "type": "all", "user": "/", "cluster": "dahu", "cores": "8", "jobs": ""}
QUOTA |= {"core_hours": "1.5", "days": "7"}
FORMS = {
    "/clusters/dahu/disable": {},
    "/clusters/dahu/enable": {},
    "/clusters/dahu/undrain": {},
    "/clusters/dahu/drain": {"by": "+2h"},
    "/clusters/dahu/nodes/drain": {"by": "+2h", "nodes": "dahu-1"},
    "/clusters/dahu/nodes/admit": {"node": "dahu-7"},
    "/operator/quotas": QUOTA,
    "/operator/quotas/remove": {"rule": "*,*,all,/", "cluster": "dahu"},
}
"""What operators' forms are sent to, and what is in them."""


@pytest.fixture
def operator(web: Served) -> Browser:
    return signed_in(web.database, web.port, "root", AccessScope.OPERATE)


def press(browser: Browser, path: str, at: str, **fields: str) -> Page:
    return browser.post(path, {"proof": browser.get(at).proof, **fields})


def is_enabled(database: Database) -> bool:
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
    assert cluster is not None
    return cluster.is_enabled


def test_a_cluster_is_disabled_and_enabled(operator: Browser, web: Served) -> None:
    assert 'id="act-disable"' in operator.get("/clusters/dahu").text
    told = press(operator, "/clusters/dahu/disable", "/clusters/dahu")
    assert (told.status, told.headers["location"], is_enabled(web.database)) == (303, "/clusters/dahu", False)
    page = operator.get("/clusters/dahu").text
    assert ('id="act-enable"' in page, 'id="act-disable"' in page) == (True, False)
    press(operator, "/clusters/dahu/enable", "/clusters/dahu")
    assert is_enabled(web.database)


def test_a_cluster_is_drained_until_that_is_ended(operator: Browser, web: Served) -> None:
    told = press(operator, "/clusters/dahu/drain", "/clusters/dahu", by="+2h", keep="4", kill="1")
    assert told.status == 303
    assert 'id="act-undrain"' in operator.get("/clusters/dahu").text
    with web.database.begin() as conn:
        asked = list_audit(conn)[-1].asked
    assert (asked["by"], asked["keep"], asked["kill"]) == ("+2h", 4, True)
    press(operator, "/clusters/dahu/undrain", "/clusters/dahu")
    assert 'id="act-disable"' in operator.get("/clusters/dahu").text


@pytest.mark.parametrize(
    ("field", "value", "said"), [("by", "soon", "--by takes"), ("keep", "all", "is no whole number")]
)
def test_what_is_wrong_with_a_drain_is_told(field: str, value: str, said: str, operator: Browser, web: Served) -> None:
    told = press(operator, "/clusters/dahu/drain", "/clusters/dahu", **{"by": "+2h", field: value})
    assert (told.status, said in told.words, is_enabled(web.database)) == (400, True, True)


def test_nodes_are_drained_and_admitted(operator: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        luke = a_cluster(conn, "luke", driver="slurm")
        put_exclusion(conn, luke, "luke", "luke-7", f"3 tasks failed {HOSTILE}", NodeSettings())
    page = operator.get("/clusters/luke")
    assert "luke-7 gets no jobs just now" in page.words
    assert f"3 tasks failed {HOSTILE}" in page.words
    told = press(operator, "/clusters/luke/nodes/drain", "/clusters/luke", by="+2h", nodes="luke-1, luke-2")
    assert (told.status, told.headers["location"]) == (303, "/clusters/luke")
    with web.database.begin() as conn:
        assert [node.node for node in list_excluded_nodes(conn, "luke") if node.is_drained] == ["luke-1", "luke-2"]
    for node in ("luke-1", "luke-7"):
        press(operator, "/clusters/luke/nodes/admit", "/clusters/luke", node=node)
    with web.database.begin() as conn:
        assert [node.node for node in list_excluded_nodes(conn, "luke") if node.is_out] == ["luke-2"]
    assert "Drain nodes" not in operator.get("/clusters/dahu").text, "it is one host"


def test_a_quota_is_declared_seen_and_removed(operator: Browser, web: Served) -> None:
    assert "None is declared" in operator.get("/operator/quotas").words
    told = press(operator, "/operator/quotas", "/operator/quotas", **QUOTA)
    assert (told.status, told.headers["location"]) == (303, "/operator/quotas")
    with web.database.begin() as conn:
        (quota,) = list_quotas(conn)
    assert (quota.rule, quota.cluster, quota.cores, quota.jobs) == ("*,*,all,/", "dahu", 8, None)
    assert (quota.core_hours, quota.days) == (1.5, 7)
    page = operator.get("/operator/quotas")
    assert "* * all / dahu 8 each any number 1.5 each in 7 days Remove" in page.words
    press(operator, "/operator/quotas", "/operator/quotas", user=f"o{HOSTILE[0]}", jobs="3", type="all")
    page = operator.get("/operator/quotas")
    assert "* * all o< all together any number 0 of 3 any number Remove" in page.words
    told = press(operator, "/operator/quotas/remove", "/operator/quotas", rule="*,*,all,/", cluster="dahu")
    with web.database.begin() as conn:
        assert [(quota.rule, quota.jobs) for quota in list_quotas(conn)] == [("*,*,all,o<", 3)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "a quota says how many cores, jobs or core-hours"),
        ({"cores": "many"}, "cores: 'many' is no whole number"),
        ({"core_hours": "some"}, "core-hours: 'some' is no number"),
        ({"cores": "1", "type": "idle"}, "there is no type 'idle'"),
        ({"cores": "1", "cluster": "nowhere"}, "nowhere"),
    ],
)
def test_what_is_wrong_with_a_quota_is_told(fields: dict[str, str], said: str, operator: Browser, web: Served) -> None:
    told = press(operator, "/operator/quotas", "/operator/quotas", **fields)
    assert (told.status in (400, 404), said in told.words) == (True, True), told.words
    with web.database.begin() as conn:
        assert list_quotas(conn) == []


def test_an_operator_cancels_what_others_have_submitted(operator: Browser, web: Served) -> None:
    assert "Cancel the campaign" in operator.get("/campaigns/3").words
    press(operator, "/campaigns/3/cancel", "/campaigns/3")
    with web.database.begin() as conn:
        assert list_campaigns(conn, [3])[0].state is CampaignState.CANCELLED


@pytest.mark.parametrize("path", FORMS)
def test_others_do_none_of_it_and_are_offered_none(path: str, browser: Browser, operator: Browser, web: Served) -> None:
    before = contents(web.database)
    assert press(browser, path, "/submit", **FORMS[path]).status == 403
    assert operator.post(path, FORMS[path]).status == 403, "it is sent with the proof of a page"
    assert operator.post(path, {"proof": browser.get("/submit").proof, **FORMS[path]}).status == 403
    assert contents(web.database) == before
    assert f'action="{path}"' not in browser.get("/clusters/dahu").text


@pytest.mark.parametrize("path", ["/operator/quotas", "/operator/audit"])
def test_pages_of_operators_are_theirs(path: str, browser: Browser, web: Served) -> None:
    assert (browser.get(path).status, Browser(web.port).get(path).status) == (403, 401)
    submitter = signed_in(web.database, web.port, "root", AccessScope.SUBMIT)
    assert submitter.get(path).status == 403


def test_what_cannot_be_done_to_a_cluster_is_told(operator: Browser) -> None:
    told = press(operator, "/clusters/dahu/sell", "/clusters/dahu")
    assert (told.status, "nothing is called sell" in told.words) == (404, True)
    assert press(operator, "/clusters/nowhere/disable", "/clusters/dahu").status == 404


@pytest.fixture
def busy(web: Served) -> Served:
    """Changes of two users."""
    with web.database.begin() as conn:
        for number in range(6):
            put_audit(conn, Caller("ann"), "hold_campaign", {"campaign_id": number, "reason": None})
        put_audit(conn, Caller("bob"), "drain_cluster", {"cluster": "Dahu", "by": f"+2h {HOSTILE}", "kill": False})
    return web


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("", ["ann", "bob"], []),
        ("?user=bob", ["drain cluster"], ["hold campaign campaign"]),
        ("?change=hold_campaign", ["hold campaign campaign 5", "campaign 0"], ["cluster Dahu"]),
        ("?words=dahu", ["cluster Dahu"], ["campaign 5"]),
        ("?user=ann&change=drain_cluster", ["No change of those looked at is like this."], ["cluster Dahu"]),
        ("?change=sold_cluster", ["sold cluster", "No change of those looked at"], []),
    ],
)
def test_changes_are_found(query: str, shown: list[str], hidden: list[str], operator: Browser, busy: Served) -> None:
    page = operator.get(f"/operator/audit{query}")
    assert page.status == 200
    assert [word for word in shown if word not in page.words] == []
    assert [word for word in hidden if word in page.words] == []
    assert "<script>alert" not in page.text
    assert "kill" not in page.words.split("Show")[1], "what says nothing is left out"


def test_the_trail_is_read_page_by_page(operator: Browser, busy: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.audit.SHOWN_CHANGES", 3)
    path, seen = "/operator/audit?user=ann", list[str]()
    while path:
        page = operator.get(path)
        seen += re.findall(r'href="/campaigns/(\d+)"', page.text)
        path = next(iter(re.findall(r'href="([^"]+)" rel="next"', page.text)), "").replace("&amp;", "&")
    assert seen == ["5", "4", "3", "2", "1", "0"]


def test_a_search_ends_and_goes_on(operator: Browser, busy: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.audit.TRAIL_AT_ONCE", 2)
    monkeypatch.setattr("modules.portal.pages.audit.MOST_TRAIL_PAGES", 2)
    page = operator.get("/operator/audit?words=%22campaign_id%22:%200")
    assert "No change of those looked at is like this. search on" in page.words
    (path,) = re.findall(r'href="([^"]+)" rel="next"', page.text)
    assert "campaign 0" in operator.get(path.replace("&amp;", "&")).words
