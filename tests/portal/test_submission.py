"""Campaigns through the portal: under the caller's name, by the portal's rules, in one piece or not at all."""

import json
import os
import pwd
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from sqlalchemy import func, select, text, update

from cigri.api_models.submissions import SubmittedCampaign
from cigri.cli.gridsub import main
from cigri.database import Database, interval
from cigri.endpoints import API
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.request_bodies import as_body
from cigri.endpoints.submissions import add_tasks, check_campaign, submit_campaign, submit_stages
from cigri.errors import CigriError, DescriptionError, PortalUnavailable
from cigri.identity.unix_sockets import UnixSocketConnection
from cigri.settings.sections import PortalSettings, Settings
from cigri.tables.campaigns import Campaign
from cigri.tables.tasks import Task
from modules.portal import upload_limiter
from tests.factories import a_cluster
from tests.portal.conftest import Serve, Served
from tests.waiting import looks

Capture = pytest.CaptureFixture[str]
Ways = Callable[..., tuple[int, str, str]]

ME = pwd.getpwuid(os.geteuid()).pw_name
PLAIN: dict[str, Any] = {"name": "n", "exec_file": "run", "clusters": {"dahu": {}}, "params": ["a", "b", "c"]}
RUNNABLE = PLAIN | {"exec_file": "true"}
MOST_OF_FOUR = (
    "from cigri.admission import refuse\ndef rule(campaign, user):\n    campaign.count > 4 and refuse('4 is all')\n"
)
NONE_OF_X = (
    "from cigri.admission import refuse\n"
    "def rule(campaign, user):\n    'x' in campaign.parameters() and refuse(f'no x for {user}')\n"
)


@pytest.fixture(autouse=True)
def _dahu(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", options={"spool": "/s"})


@pytest.fixture
def remote(portal: Served) -> Iterator[PortalClient]:
    remote = PortalClient(portal.place)
    yield remote
    remote.close()


def stored(database: Database) -> list[tuple[int, str]]:
    with database.begin() as conn:
        return [(row.id, row.grid_user) for row in conn.execute(select(Campaign.c.id, Campaign.c.grid_user))]


def tasks(database: Database) -> list[object]:
    with database.begin() as conn:
        return list(conn.scalars(select(Task.c.parameter).order_by(Task.c.id)))


def described(**fields: object) -> dict[str, object]:
    return {key: value for key, value in (PLAIN | fields).items() if value is not None}


def test_a_campaign_is_its_callers_whoever_that_is(portal: Served, nobody: int) -> None:
    body = json.dumps(described())
    told = portal.request("POST", f"{API}/campaigns", body, uid=nobody, headers={"X-Remote-User": "root"})
    assert (told.status, told.body["id"], told.body["campaign"]["user"]) == (201, 1, "nobody")
    assert portal.request("POST", f"{API}/campaigns", body).body["id"] == 2
    assert stored(portal.database) == [(1, "nobody"), (2, ME)]
    assert portal.request("POST", f"{API}/campaigns?user=root", body, uid=nobody).status == 422


def test_parameters_follow_the_description(remote: PortalClient, database: Database) -> None:
    remote.send(submit_campaign, [described(params=None), "it is", "two lines"])
    remote.send(submit_campaign, [described(params=None, param_file="lines.txt"), "one", " ", "two"])
    remote.send(submit_campaign, ['[ Executable = "/bin/run"; Arguments = "%s"; Parameters = {"x"}; ]'])
    assert tasks(database) == ["it is", "two lines", "one", "two", {"s": "x"}]


def test_no_file_of_the_portals_host_is_read(remote: PortalClient, database: Database) -> None:
    assert remote.send(submit_campaign, [described(params=None, param_file="/etc/passwd")]).campaign is not None
    assert tasks(database) == []


def test_the_portals_rules_hold_whatever_the_clients_environment(
    portal: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "four.py").write_text(MOST_OF_FOUR)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path / "rules"))
    portal.in_force.reload()
    evasion = {
        "CIGRI_SET_ADMISSION_DIRECTORY": str(tmp_path / "empty"),
        "CIGRI_SET_ADMISSION_WITHOUT": '["10-normal-jobs.py"]',
        "CIGRI_SET_PORTAL__SOCKET": str(portal.place),
        "CIGRI_SET_JOBS__WALLTIME": "9",
    }
    for fields, refusal in (
        ({"nb_jobs": 5, "params": None}, "four.py refuses this campaign: 4 is all"),
        ({"type": "normal"}, f"{ME} may not submit jobs of type normal on dahu"),
    ):
        done = gridsub("-j", json.dumps(described(**fields)), environment=evasion)
        assert (done.returncode, refusal in done.stderr) == (1, True), done.stderr
    assert stored(portal.database) == []
    assert gridsub("-d", "-j", json.dumps(described()), environment=evasion).stdout.count("walltime     1:00:00") == 1


def gridsub(*words: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("gridsub")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_rules_are_asked_about_tasks_that_are_added(
    remote: PortalClient, portal: Served, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "four.py").write_text(MOST_OF_FOUR)
    (tmp_path / "x.py").write_text(NONE_OF_X)
    (tmp_path / "y.py").write_text("def rule(campaign, user):\n    return campaign.with_cluster('dahu', walltime=60)\n")
    remote.send(submit_campaign, [described()])
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    portal.in_force.reload()
    for more, refusal in ((["d", "e"], "4 is all"), (["x"], f"no x for {ME}")):
        for is_check in (True, False):
            with pytest.raises(CigriError, match=refusal):
                remote.send(add_tasks, more, campaign_id=1, check=is_check)
    assert remote.send(add_tasks, ["d"], campaign_id=1, check=True).added == 1
    assert tasks(database) == ["a", "b", "c"]
    assert remote.send(add_tasks, ["d"], campaign_id=1).added == 1
    assert tasks(database) == ["a", "b", "c", "d"]


def test_what_a_rule_refuses_has_one_status(portal: Served, tmp_path: Path) -> None:
    portal.request("POST", f"{API}/campaigns", json.dumps(described()))
    (tmp_path / "four.py").write_text(MOST_OF_FOUR)
    portal.change_settings(admission_directory=tmp_path)
    five = json.dumps(described(nb_jobs=5, params=None))
    told = [portal.request("POST", f"{API}/campaigns{path}", five) for path in ("", "/stages")]
    told.append(portal.request("POST", f"{API}/campaigns/1/tasks", '"d"\n"e"'))
    assert [(one.status, "4 is all" in one.body["detail"]) for one in told] == [(403, True)] * 3


def test_tasks_are_added_to_ones_own_campaigns(portal: Served, nobody: int) -> None:
    portal.request("POST", f"{API}/campaigns", json.dumps(described()))
    told = portal.request("POST", f"{API}/campaigns/1/tasks", '"d"', uid=nobody)
    assert (told.status, told.body["type"]) == (404, "/problems/NotFound")
    assert "you have no campaign 1" in told.body["detail"]
    assert len(tasks(portal.database)) == 3


def test_the_same_key_is_the_same_campaign_for_a_day(remote: PortalClient, portal: Served, nobody: int) -> None:
    first, again = (remote.send(submit_campaign, [described()], key="k") for _ in range(2))
    assert (first.id, again) == (1, first)
    headers = {"Idempotency-Key": "k"}
    path = f"{API}/campaigns"
    assert portal.request("POST", path, json.dumps(described()), uid=nobody, headers=headers).body["id"] == 2
    assert remote.send(submit_campaign, [described()]).id == 3
    with portal.database.begin() as conn:
        conn.execute(update(Campaign).values(submitted_at=func.now() - interval(90_000)))
    assert remote.send(submit_campaign, [described()], key="k").id == 4
    with pytest.raises(CigriError, match="key: has more than 200 characters"):
        remote.send(submit_campaign, [described()], key="k" * 201)


def test_a_campaign_that_would_be_refused_by_now_is_found_by_its_key(
    remote: PortalClient, portal: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.py").write_text(MOST_OF_FOUR.replace("4", "2"))
    remote.send(submit_campaign, [described()], key="k")
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    portal.in_force.reload()
    with pytest.raises(CigriError, match="2 is all"):
        remote.send(submit_campaign, [described()])
    assert remote.send(submit_campaign, [described()], key="k") == SubmittedCampaign(1, None, [], 0, [])


def test_stages_that_would_be_refused_by_now_are_found_by_their_key(
    remote: PortalClient, portal: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.py").write_text(MOST_OF_FOUR.replace("4", "2"))
    stages, lines = [described(name="one"), described(name="two", after="one")], [1, 1]
    assert [one.id for one in remote.send(submit_stages, stages, lines=lines, key="k")] == [1, 2]
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    portal.in_force.reload()
    with pytest.raises(CigriError, match="2 is all"):
        remote.send(submit_stages, stages, lines=lines)
    again = remote.send(submit_stages, stages, lines=lines, key="k")
    assert again == [SubmittedCampaign(1, None, [], 0, []), SubmittedCampaign(2, None, [], 0, [])]


def test_a_key_is_for_one_submission(portal: Served) -> None:
    path, headers = f"{API}/campaigns", {"Idempotency-Key": "k"}
    assert portal.request("POST", path, json.dumps(described()), headers=headers).body["id"] == 1
    for other, query in (
        (described(name="other"), ""),
        (described(), "?priority=3"),
        (described(clusters={"g": {}}), ""),
    ):
        told = portal.request("POST", path + query, json.dumps(other), headers=headers)
        assert (told.status, told.body["type"]) == (422, "/problems/IdempotencyKeyReused")
        assert (
            "the key 'k' was sent with another submission, which is campaign 1: send a new key" in told.body["detail"]
        )
    assert len(stored(portal.database)) == 1


def test_an_answer_that_is_lost_is_asked_for_again(
    portal: Served, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The first connection ends when all is sent."""
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))
    answer, lost = PortalClient._exchange, list[object]()

    def lose(remote: PortalClient, *asked: Any) -> object:
        told: object = answer(remote, *asked)
        if not lost:
            lost.append(told)
            raise PortalUnavailable("the connection is lost")
        return told

    monkeypatch.setattr(PortalClient, "_exchange", lose)
    assert main(["-j", json.dumps(described())]) == 0
    assert capsys.readouterr().out == "Campaign successfully submitted\nCAMPAIGN_ID=1\n"
    assert (len(lost), stored(portal.database)) == (1, [(1, ME)])


def test_a_client_that_stops_in_the_middle_leaves_nothing(portal: Served) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(portal.place))
        head = f"POST {API}/campaigns HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(head.encode())
        for block in as_body([described(params=None), *map(str, range(100_000))]):
            client.sendall(f"{len(block):x}\r\n".encode() + block + b"\r\n")
        assert waiting_transactions(portal.database) == 0
    assert portal.get("/api/v1/whoami").status == 200
    assert stored(portal.database) == []


def waiting_transactions(database: Database) -> int:
    """Of the database of this test, but for the one that counts."""
    idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    with database.begin() as conn:
        return int(conn.execute(text(idle)).scalar_one())


def test_a_user_hands_over_a_few_campaigns_at_a_time(portal: Served) -> None:
    head = f"POST {API}/campaigns HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n{{".encode()
    clients: list[socket.socket] = []

    def begin() -> None:
        clients.append(socket.socket(socket.AF_UNIX))
        clients[-1].connect(str(portal.place))
        clients[-1].sendall(head)

    for _ in range(upload_limiter.MOST_UPLOADS):
        begin()
    refused = "4 submissions of yours are under way: wait for one of them to end"

    def is_refused() -> bool:
        told = portal.request("POST", f"{API}/campaigns", "").body["detail"]
        assert told in (refused, "the description: is empty")
        return bool(told == refused)

    for _ in looks():
        if is_refused():
            break
        begin()  # what we have asked came before one of them, which was refused in our place
    for client in clients:
        client.close()
    assert any(not is_refused() for _ in looks())


def test_parameters_are_never_all_in_memory(remote: PortalClient, database: Database) -> None:
    values = [described(params=None)]
    remote.send(check_campaign, values)  # imports
    lines = (f"{number} {'x' * 1000}" for number in range(10_000))
    tracemalloc.start()
    try:
        remote.send(submit_campaign, (value for part in (values, lines) for value in part))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    with database.begin() as conn:
        assert conn.execute(select(func.count()).select_from(Task)).scalar_one() == 10_000


def test_too_much_is_refused_while_it_is_sent(serve: Serve) -> None:
    portal = serve(Settings(portal=PortalSettings(largest_submission=1)))
    remote = PortalClient(portal.place)
    with pytest.raises(DescriptionError, match=r"the parameters: are more than 1 MB"):
        remote.send(submit_campaign, [described(params=None), *(["x" * 1000] * 50_000)])
    remote.close()
    assert stored(portal.database) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("", "the description: is empty"),
        ("[1, 2]", "the description: expected an object of fields, not [1, 2]"),
        ("{", "line 1 of what was sent: is no JSON"),
        ('{"params": []}\n"a"\nb\n', "line 3 of what was sent: is no JSON"),
        ('{"params": []}\nNaN\n', "line 2 of what was sent: is no JSON: NaN is not a number"),
        ('{"params": []}\n"a"\n\xff\n', "line 3 of what was sent: is no JSON"),
        ("[" * 100_000, "line 1 of what was sent: is no JSON"),
        ('{"params": ["a"]}\n"b"\n', "params: is given, and parameters beside it (leave one of them out)"),
        ('{"param_file": "f", "name": "n", "exec_file": "e"}\n"a"\n"it\'s"\n', "f line 2: a quote is not closed"),
    ],
)
def test_what_is_wrong_has_its_place(body: str, told: str, portal: Served) -> None:
    answer = portal.request("POST", f"{API}/campaigns", body.encode("latin-1"))
    assert answer.status == 422
    assert told in answer.body["detail"]
    assert answer.body["problems"]


@pytest.fixture
def both_ways(
    portal: Served, database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> Ways:
    """gridsub on the database, and through the portal: both say the same."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)

    def run(*words: str) -> tuple[int, str, str]:
        said = []
        for place in ("", str(portal.place)):
            monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", place)
            said.append((main([*words]), *capsys.readouterr()))
        assert said[0] == said[1]
        return said[0]

    return run


def test_what_was_made_is_where_the_answer_says(portal: Served) -> None:
    """As seen from the path, which a proxy may call otherwise."""
    for path, number in (("/campaigns", 1), ("/campaigns/stages", 2)):
        connection = UnixSocketConnection(portal.place)
        connection.request("POST", f"{API}{path}", json.dumps(PLAIN))
        response = connection.getresponse()
        response.read()
        place = urljoin(f"{API}{path}", response.headers["Location"])
        connection.close()
        told = portal.get(place).body
        assert (response.status, (told[0] if isinstance(told, list) else told)["id"]) == (201, number)


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--check", "-j", json.dumps(RUNNABLE)], 0, 'task 0       cd "$HOME" && true a'),
        (["--check", "-j", json.dumps(PLAIN)], 1, "there is no program run here"),
        (["--check", "--output", "json", "-j", json.dumps(RUNNABLE)], 0, '"commands": ['),
        (["--check", "-j", json.dumps(RUNNABLE), "-t", "test"], 0, "1 kept, 2 left out"),
        (["-j", json.dumps(PLAIN | {"nam": 1, "walltime": "x"})], 1, "nam: unknown field (did you mean 'name'?)"),
        (["-j", json.dumps(PLAIN), "-j", json.dumps(PLAIN | {"clusters": ["moon"]})], 1, "there is no such cluster"),
        (["-j", json.dumps(PLAIN), "-j", "{", "none.json"], 1, "line 1, column 2"),
        (["-j", json.dumps(PLAIN | {"params": ["a", "it's"]})], 1, "params[1]: a quote is not closed"),
        (["-b", "-h"], 0, "local (dahu)"),
        (["-b", "moon:-h"], 2, "there is no cluster 'moon'; there are: dahu"),
        (["-b", "dahu:-c 'x", "-j", json.dumps(PLAIN)], 2, "a quote is not closed"),
        (["-c", "9", "-J", '["a"]'], 1, "you have no campaign 9"),
        (["-j", json.dumps(RUNNABLE | {"clusters": "any"}), "--check"], 0, "on any eligible cluster:"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_the_same_is_said_both_ways(words: list[str], status: int, told: str, both_ways: Ways) -> None:
    said = both_ways(*words)
    assert said[0] == status, said
    assert told in said[1] + said[2]


def test_a_file_is_submitted_and_tasks_are_added(
    portal: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))
    (tmp_path / "lines.txt").write_text("one\n\ntwo\n")
    (tmp_path / "c.yaml").write_text("name: y\nexec_file: e\nclusters: [dahu]\nparam_file: lines.txt\npriority: 3\n")
    assert main([str(tmp_path / "c.yaml"), "--output", "json", "--priority", "5"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert (answer["id"], answer["name"], answer["tasks"], answer["priority"], answer["user"]) == (1, "y", 2, 5, ME)
    assert main(["-c", "1", "-J", '["three"]', "-J", '["four"]']) == 0
    assert "Jobs successfully added to campaign 1: 2" in capsys.readouterr().out
    assert tasks(portal.database) == ["one", "two", "three", "four"]
