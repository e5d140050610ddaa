"""`gridstat --why`: whether each queue of the grid is eligible for a campaign or a task, or the first reason."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.cli import gridstat
from cigri.database import Database
from cigri.flow.archive import forget_pools
from cigri.states import QueueRejectCode
from tests.cli.running import Run
from tests.factories import NOON, a_cluster, set_time
from tests.pools.made import GB, a_queue, put_nodes, split, submit, two_clusters

pytestmark = [pytest.mark.noon, pytest.mark.usefixtures("both_ways")]

COMMAND = gridstat


@pytest.fixture
def campaign(database: Database) -> int:
    """One that names fat and thin, of which thin is too small; fat has a queue big, and other is not named."""
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        a_queue(conn, fat, "big")
        put_nodes(conn, a_cluster(conn, "other"), {"memory": 512 * GB})
        return submit(conn, {"memory": "100 GB"}, tasks=2)


def test_every_queue_of_the_grid_is_eligible_or_has_the_first_reason_with_figures(run: Run, campaign: int) -> None:
    clusters, queues = run("--why", campaign).out.split("\n\n")
    found = {line.split()[0]: line for line in queues.splitlines()[1:]}
    assert list(found) == ["fat", "big@fat", "other", "thin"]
    assert [line.split()[1] for line in found.values()] == ["yes", "yes", "yes", "no"]
    assert found["thin"].endswith("2026-03-01 12:00:00  memory >= 100 GB is wanted, here is memory 64 GB")
    assert found["other"].endswith("its description names other clusters")
    thin = next(line for line in clusters.splitlines() if line.startswith("thin"))
    assert "not eligible" in thin
    assert f"`gridstat --why {campaign}` says what its queues lack" in run(campaign).out


def test_programs_read_the_same(run: Run, campaign: int) -> None:
    fat, thin, other = run("--why", campaign, "--json").json
    assert (fat["cluster"], fat["state"]) == ("fat", "ok")
    assert [(queue["place"], queue["is_eligible"], queue["why"]) for queue in fat["queues"]] == [
        ("fat", True, ""),
        ("big@fat", True, ""),
    ]
    assert (thin["cluster"], thin["state"]) == ("thin", "not eligible")
    assert thin["queues"] == [
        {
            "place": "thin",
            "queue": "",
            "is_eligible": False,
            "is_used": True,
            "buckets": 1,
            "eligible": 0,
            "code": "too_small",
            "name": "memory",
            "wanted": "memory >= 100 GB",
            "found": "memory 64 GB",
            "since": NOON.isoformat(),
            "why": "memory >= 100 GB is wanted, here is memory 64 GB",
        }
    ]
    assert (other["cluster"], other["state"], other["queues"][0]["is_eligible"]) == ("other", "not asked for", True)


def test_a_task_is_told_of_its_own_bucket(run: Run, database: Database, campaign: int) -> None:
    with database.begin() as conn:
        split(conn, campaign, [1], submit(conn, {"memory": "1 GB"}))
    lines = {name: run("--why", *words).out.split("\n\n")[1].splitlines()[-1] for name, words in WORDS.items()}
    assert lines["campaign"].split()[:5] == ["thin", "1", "of", "2", "buckets"]
    assert lines["first"].split()[:2] == lines["by id"].split()[:2] == ["thin", "no"]
    assert lines["second"].split()[:2] == ["thin", "yes"]
    states = {name: run("--why", *words, "--json").json[1]["state"] for name, words in WORDS.items()}
    assert states == {"campaign": "ok", "first": "not eligible", "by id": "not eligible", "second": "ok"}


WORDS = {"campaign": (1,), "first": ("-T", "1:0"), "by id": ("--task", 1), "second": ("-T", "1:1")}


def test_a_task_that_does_not_wait_is_said_to_be(run: Run, database: Database, campaign: int) -> None:
    assert run("--why", "-T", f"{campaign}:0").err == ""
    with database.begin() as conn:
        conn.execute(text("UPDATE tasks SET state = 'done'"))
    assert "the task does not wait: it is done" in run("--why", "-T", f"{campaign}:0").err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--why", "-T", "9:9"], 1, "no such task"),
        (["--why", "-T", "1:0", "1"], 2, "--why needs one campaign, or one task"),
        (["--why", "-f", "1"], 2, "--why is a view of its own"),
        (["--why", "-j", "1"], 2, "--why "),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, words: list[str], status: int, message: str) -> None:
    printed = run(*words)
    assert printed.status == status
    assert message in printed.err


def test_a_campaign_without_pools_is_said_to_be(run: Run, database: Database, campaign: int) -> None:
    with database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET state = 'terminated', ended_at = submitted_at"))
        set_time(conn, NOON + timedelta(seconds=1))
        assert forget_pools(conn, 0.0) == 1
    told = run("--why", campaign)
    assert told.status == 0
    assert told.out.count("unknown") == 4
    assert told.out.count("not checked: the campaign has ended") == 4


@pytest.mark.parametrize("code", QueueRejectCode)
def test_every_reason_has_a_sentence(run: Run, database: Database, campaign: int, code: QueueRejectCode) -> None:
    with database.begin() as conn:
        conn.execute(text("UPDATE submit_pool_rejects SET code = CAST(:code AS reject_code)"), {"code": code.value})
    assert len(run("--why", campaign).out.splitlines()[-1].split("12:00:00  ")[1]) > 10


def test_where_the_grid_chooses_the_reason_of_a_cluster_is_that_of_its_queue(run: Run, database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        put_nodes(conn, a_cluster(conn, "other"), {"memory": 512 * GB})
        campaign = submit(conn, {"memory": "100 GB"}, clusters=("fat",), anywhere=True)
    lines = {line.split()[0]: line for line in run("--why", campaign).out.split("\n\n")[1].splitlines()[1:]}
    assert lines["thin"].endswith("memory >= 100 GB is wanted, here is memory 64 GB")
    assert "its description names other clusters" not in "".join(lines.values())
    whys = {cluster["cluster"]: cluster["why"] for cluster in run("--why", campaign, "--json").json}
    assert whys["thin"] == "memory >= 100 GB is wanted, here is memory 64 GB"
