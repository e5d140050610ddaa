"""The page on which campaigns are submitted: judged as gridsub's are, stored once, by whom may submit alone."""

import json
import re
from html import unescape

import pytest
from sqlalchemy import func, select, update

from cigri.database import Database
from cigri.flow.audit import list_audit
from cigri.flow.views.descriptions import list_parameters
from cigri.identity.callers import AccessScope
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from modules.portal.pages.submit import LONGEST_SUBMISSION
from modules.portal.rendering.example_drafts import EXAMPLE_DRAFTS
from modules.portal.upload_limiter import MOST_UPLOADS
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import HOSTILE, Served
from tests.portal.raw import Line
from tests.portal.test_attacks import contents
from tests.waiting import looks

AREA = re.compile(r"<textarea[^>]*>\n?(.*?)</textarea>", re.DOTALL)
KEY = re.compile(r'name="key" value="(\w+)"')
PLAIN = "name: n\nexec_file: run\nclusters: {dahu: {}}\n"
FORETOLD = 120.0  # seconds
NEW = 4
"""The number of the next campaign."""


def send(
    browser: Browser, path: str, described: str, *, page: Page | None = None, lines: str = "", kind: str = ""
) -> Page:
    page = page or browser.get("/submit")
    (key,) = KEY.findall(page.text)
    return browser.post(path, {"proof": page.proof, "key": key, "described": described, "lines": lines, "kind": kind})


def campaigns(database: Database) -> int:
    with database.begin() as conn:
        return conn.scalar(select(func.count()).select_from(Campaign)) or 0


def parameters(database: Database) -> list[object]:
    with database.begin() as conn:
        return list_parameters(conn, NEW, 0, 10)


@pytest.mark.parametrize(
    ("described", "lines"),
    [
        (PLAIN + "params: [a, b]", ""),
        (PLAIN, "a\r\n\r\nb\r\n"),
        (PLAIN + "param_file: lines", "a\nb"),
        (json.dumps({"name": "n", "exec_file": "run", "clusters": {"dahu": {}}, "params": ["a", "b"]}), ""),
    ],
    ids=["params", "lines", "param_file", "json"],
)
def test_what_is_described_is_submitted(described: str, lines: str, browser: Browser, web: Served) -> None:
    told = send(browser, "/submit", described, lines=lines)
    assert (told.status, told.headers["location"]) == (303, f"/campaigns/{NEW}")
    assert parameters(web.database) == ["a", "b"]
    with web.database.begin() as conn:
        trail = [(entry.user, entry.how, entry.endpoint) for entry in list_audit(conn)]
    assert trail[-1] == ("nobody", "session 1", "submit_campaign")


def test_a_form_that_is_sent_twice_makes_one_campaign(browser: Browser, web: Served) -> None:
    page = browser.get("/submit")
    told = [send(browser, "/submit", PLAIN + "params: [a]", page=page) for _ in range(2)]
    assert {one.headers["location"] for one in told} == {f"/campaigns/{NEW}"}
    assert campaigns(web.database) == NEW


def test_a_form_that_is_sent_again_with_other_words_makes_another_when_that_is_said(browser: Browser) -> None:
    page = browser.get("/submit")
    send(browser, "/submit", PLAIN + "params: [a]", page=page)
    told = send(browser, "/submit", PLAIN + "params: [b]", page=page)
    assert (told.status, "this form was submitted already" in told.words) == (200, True)
    again = send(browser, "/submit", PLAIN + "params: [b]", page=told)
    assert again.headers["location"] == f"/campaigns/{NEW + 1}"


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ('{"exec_file": "run",\n "params": [}', "line 2, column 13"),
        (PLAIN + "walltim: 3\nparams: [a]", "walltim : unknown field (did you mean 'walltime'?)"),
        ("name: n\nexec_file: run\nparams: [a]\nclusters: {dahu: {walltime: soon}}", "clusters.dahu.walltime"),
        (PLAIN, "no parameters are given"),
        (PLAIN.replace("dahu", "nowhere") + "params: [a]", "nowhere"),
        ("", "is empty"),
    ],
    ids=["syntax", "unknown", "field", "no parameters", "cluster", "empty"],
)
@pytest.mark.parametrize("path", ["/submit/check", "/submit/simulate", "/submit"])
def test_what_is_wrong_is_told_where_it_is(path: str, described: str, said: str, browser: Browser, web: Served) -> None:
    before = contents(web.database)
    told = send(browser, path, described)
    assert (told.status, "It would be refused" in told.words) == (200, True)
    assert said in told.words
    assert contents(web.database) == before


def test_what_is_well_is_shown_and_not_stored(browser: Browser, web: Served) -> None:
    before = contents(web.database)
    page = browser.get("/submit")
    told = send(browser, "/submit/check", PLAIN, page=page, lines="-x 1\n-x 2")
    assert "It can be submitted 2 tasks. The first ones: on dahu" in told.words
    assert "task 0 runs: " in told.words
    assert "run -x 1 task 1 runs: " in told.words
    assert KEY.findall(told.text) == KEY.findall(page.text), "it still makes one campaign"
    assert contents(web.database) == before


NAMED = "name: n\nexec_file: run {mesh} -s {seed}\nclusters: {dahu: {}}\n"
ROWS = [{"mesh": "big wing", "seed": "1", "note": "x"}, {"mesh": "plane", "seed": "2", "note": ""}]


@pytest.mark.parametrize(
    ("described", "lines", "kind"),
    [
        (NAMED, 'mesh,seed,note\r\n"big wing",1,x\r\nplane,2,\r\n', ".csv"),
        (NAMED, "mesh\tseed\tnote\nbig wing\t1\tx\nplane\t2\t\n", ".tsv"),
        (NAMED, "\n".join(map(json.dumps, ROWS)), ".jsonl"),
        (NAMED + "param_file: ~/runs.csv", "mesh,seed,note\nbig wing,1,x\nplane,2,", ""),
        (NAMED + "param_file: lines.txt", "mesh,seed,note\nbig wing,1,x\nplane,2,", ".csv"),
    ],
    ids=["csv", "tsv", "json", "as param_file says", "as the form says"],
)
def test_rows_of_a_table_are_tasks(described: str, lines: str, kind: str, browser: Browser, web: Served) -> None:
    told = send(browser, "/submit/check", described, lines=lines, kind=kind).words
    assert re.search(r"2 tasks\. .* task 0 runs: \S*run 'big wing' -s 1 task 1 runs: \S*run plane -s 2", told), told
    send(browser, "/submit", described, lines=lines, kind=kind)
    assert parameters(web.database) == ROWS


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("mesh,seed\nwing,1\nplane\n", "parameters.csv line 3 : its cells are 1, and the columns 2: mesh, seed"),
        ("mesh,mesh\nwing,1\n", "parameters.csv line 1 : the column 'mesh': it is there twice"),
        ("mesh,size\nwing,1\n", "{seed}"),
    ],
    ids=["short", "twice", "missing"],
)
def test_what_is_wrong_with_a_table_is_told_by_its_lines(lines: str, said: str, browser: Browser, web: Served) -> None:
    before = contents(web.database)
    told = send(browser, "/submit", NAMED, lines=lines, kind=".csv")
    assert ("It would be refused" in told.words, said in told.words) == (True, True), told.words
    assert '<option value=".csv" selected>' in told.text, "what was chosen stays"
    assert contents(web.database) == before


def test_a_table_below_other_parameters_is_refused(browser: Browser) -> None:
    told = send(browser, "/submit/check", NAMED + "nb_jobs: 3", lines="mesh,seed\nwing,1", kind=".csv")
    assert "nb_jobs : is given, and parameters beside it" in told.words


def test_lines_of_an_unknown_kind_are_refused(browser: Browser) -> None:
    told = send(browser, "/submit/check", NAMED, lines="a", kind=".xlsx")
    assert (told.status, "kind '.xlsx' of lines is not known" in told.words) == (400, True)


@pytest.mark.parametrize("name", EXAMPLE_DRAFTS)
def test_an_example_can_be_submitted_as_it_is(name: str, browser: Browser, web: Served) -> None:
    assert f'href="/submit?example={name}"' in browser.get("/submit").text
    form = browser.get(f"/submit?example={name}")
    text, lines = map(unescape, AREA.findall(form.text))
    (kind,) = re.findall(r'<option value="([^"]*)" selected>', form.text)
    told = send(browser, "/submit/check", text, page=form, lines=lines, kind=kind)
    assert ("It can be submitted" in told.words, "task 0 runs:" in told.words) == (True, True), told.words
    assert send(browser, "/submit", text, page=form, lines=lines, kind=kind).status == 303


def test_an_example_that_there_is_not_is_refused(browser: Browser) -> None:
    told = browser.get("/submit?example=perhaps")
    assert (told.status, "there is no example 'perhaps'; there are words, table" in told.words) == (404, True)


def simulated(browser: Browser, described: str) -> Page:
    page = browser.get("/submit")
    for _ in looks(FORETOLD):
        told = send(browser, "/submit/simulate", described, page=page)
        assert told.status == 200
        if "It is being simulated" not in told.words:
            return told
    raise AssertionError("it is never over")


@pytest.mark.process
def test_when_it_would_end_is_foretold_and_nothing_is_stored(browser: Browser, web: Served) -> None:
    before = contents(web.database)
    told = simulated(browser, PLAIN + "duration: 60\nparams: [a, b]")
    assert "If it were submitted now Assumed: one task takes 1 min , from the duration in the description" in told.words
    assert "under way on the grid now. Expected end:" in told.words
    assert "90 % between:" in told.words
    assert "dahu 100 % of 2" in told.words
    assert contents(web.database) == before


@pytest.mark.process
def test_one_that_can_run_nowhere_is_told_so(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(update(Cluster).values(is_enabled=False))
    told = simulated(browser, PLAIN + "params: [a]")
    assert "It is not foretold" in told.words
    assert "dahu: its operator has disabled it" in told.words


@pytest.mark.process
def test_a_user_has_one_simulation_at_a_time(browser: Browser) -> None:
    page = browser.get("/submit")
    first = send(browser, "/submit/simulate", PLAIN + "params: [a]", page=page)
    second = send(browser, "/submit/simulate", PLAIN + "params: [b]", page=page)
    assert "It is being simulated" in first.words
    assert "It is not foretold a simulation of yours is under way" in second.words


def test_what_was_typed_stays_and_is_only_text(browser: Browser) -> None:
    typed = f"name: n</textarea>{HOSTILE}"
    told = send(browser, "/submit/check", typed, lines=f"of {HOSTILE}")
    assert "<script>alert" not in told.text
    assert (typed in told.words, f"of {HOSTILE}" in told.words) == (True, True)


def test_who_may_look_only_submits_nothing(browser: Browser, web: Served) -> None:
    reader = signed_in(web.database, web.port, "nobody", AccessScope.READ)
    assert reader.get("/submit").status == 403
    form = {"proof": reader.get("/").proof, "key": "k", "described": PLAIN + "params: [a]", "lines": ""}
    before = contents(web.database)
    assert [reader.post(path, form).status for path in ("/submit", "/submit/check")] == [403, 403]
    assert contents(web.database) == before


@pytest.mark.parametrize("path", ["/submit/check", "/submit/simulate", "/submit"])
def test_a_submission_without_its_proof_is_none(path: str, browser: Browser, web: Served) -> None:
    before = contents(web.database)
    for proof in ({}, {"proof": "0" * 64}):
        assert browser.post(path, {**proof, "key": "k", "described": PLAIN + "params: [a]"}).status == 403
    assert contents(web.database) == before


def test_strangers_are_shown_no_form(web: Served) -> None:
    told = Browser(web.port).get("/submit")
    assert (told.status, "textarea" in told.text) == (401, False)


def test_a_submission_of_a_form_ends_somewhere(browser: Browser) -> None:
    told = send(browser, "/submit", PLAIN, lines="x" * LONGEST_SUBMISSION)
    assert (told.status, "bytes at most" in told.words) == (400, True)


@pytest.mark.parametrize("path", ["/submit/check", "/submit/simulate", "/submit"])
def test_a_user_sends_a_few_forms_at_a_time(path: str, browser: Browser, web: Served) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    head = f"POST {path} HTTP/1.1\r\nHost: {browser.name}\r\nCookie: {cookies}\r\nContent-Length: 9999\r\n"
    lines = [Line(web.port) for _ in range(MOST_UPLOADS)]
    for line in lines:
        line.say(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\ndescribed=".encode())
    page, other = browser.get("/submit"), signed_in(web.database, web.port, "daemon")

    def is_refused() -> bool:
        told = send(browser, path, PLAIN, page=page)
        assert told.status in (200, 409)
        return "4 submissions of yours are under way: wait for one of them to end" in told.words

    assert any(is_refused() for _ in looks())
    assert "no parameters are given" in send(other, path, PLAIN).words, "others go on"
    for line in lines:
        line.close()
    assert any(not is_refused() for _ in looks())


@pytest.mark.parametrize(
    "described",
    [
        {"params": ["a", "b c"]},
        {"exec_file": "run it {seed}", "params": [{"seed": 1}, {"seed": 2}]},
        {"params": ["line\nline"]},
        {"nb_jobs": 3},
        {"params": ["</textarea><script>"]},
    ],
    ids=str,
)
def test_a_campaign_is_submitted_again_as_it_was(described: dict[str, object], browser: Browser, web: Served) -> None:
    """What stands in the form makes the same tasks, under its name or one that says that it is a copy."""
    whole = {"name": "n", "exec_file": "run it", "clusters": {"dahu": {"walltime": 60}}, **described}
    first = send(browser, "/submit", json.dumps(whole))
    assert first.status == 303, first.words
    page = browser.get(f"/campaigns/{NEW}")
    assert f'href="/submit?like={NEW}"' in page.text
    assert f"command {whole['exec_file']} walltime 60" in page.words
    for query, name in (("", "n"), ("&rename=1", "n-copy")):
        form = browser.get(f"/submit?like={NEW}{query}")
        text, lines = map(unescape, AREA.findall(form.text))
        told = send(browser, "/submit", text, page=form, lines=lines)
        assert told.status == 303, told.words
        with web.database.begin() as conn:
            copy = int(told.headers["location"].rpartition("/")[2])
            assert list_parameters(conn, copy, 0, 10) == list_parameters(conn, NEW, 0, 10)
            assert conn.scalar(select(Campaign.c.name).where(Campaign.c.id == copy)) == name


def test_too_many_parameters_are_left_out_and_it_is_said(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.submit.MOST_FILLED", 3)
    told = browser.get("/submit?like=1")
    assert "The parameters of campaign 1 are too many for this page" in told.words
    assert AREA.findall(told.text)[1] == ""


def test_nobody_copies_what_they_may_not_see(web: Served) -> None:
    other = signed_in(web.database, web.port, "daemon")
    assert other.get("/submit?like=1").status == 404
    page = other.get("/campaigns/1")
    assert (page.status, "1 sums" in page.words) == (200, True)
    told = page.text
    assert ("/submit?like" in told, 'id="described"' in told, "/bin/true" in told) == (False, False, False)
    reader = signed_in(web.database, web.port, "nobody", AccessScope.READ).get("/campaigns/1").text
    assert ("/submit?like" in reader, "/bin/true" in reader) == (False, True)
