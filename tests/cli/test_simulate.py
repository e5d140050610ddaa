"""gridsub --simulate: what it foretells comes true, and it changes nothing."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.api_models.simulations import CampaignSimulationView, SimulationView
from cigri.cli import simulating
from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.submissions import simulate_campaigns
from cigri.errors import UsageError
from cigri.formats.json_values import from_json_value
from tests.cli.conftest import AsUser
from tests.factories import NOON, a_campaign, a_cluster
from tests.grid import Grid
from tests.portal.conftest import Served

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all tests here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def contents(database: Database) -> dict[str, tuple[int, int]]:
    """Rows of every table, and the last transaction that touched one."""
    with database.begin() as conn:
        tables = conn.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).all()
        last = "coalesce(max(greatest(xmin::text::bigint, xmax::text::bigint)), 0)"
        found = {name: conn.execute(text(f"SELECT count(*), {last} FROM {name}")).one() for name in tables}
        return {name: (rows, touched) for name, (rows, touched) in found.items()}


def described(**fields: Any) -> str:
    return json.dumps({"name": "n", "exec_file": "sleep 1", "clusters": {"dahu": {}}, "nb_jobs": 4} | fields)


@pytest.mark.usefixtures("both_ways")
def test_a_real_campaign_ends_in_the_interval(local: Grid, grid: Database, as_user: AsUser, capsys: Capture) -> None:
    as_user(local.site.user)
    local.cycle()  # the cluster is visited
    before = contents(grid)
    words = described(walltime=60, duration=1, clusters={"here": {}}, nb_jobs=24)
    assert main(["--simulate", "--output", "json", "-j", words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert contents(grid) == before
    (campaign,) = told["campaigns"]
    local.submit([str(number) for number in range(24)], "sleep 1", walltime=60)
    local.run_to_end()
    took = local.one("SELECT extract(epoch FROM max(ended_at) - min(submitted_at)) FROM campaigns")
    assert campaign["low"] < took < campaign["high"]
    assert 24 / 4 < campaign["expected"] < 30  # four cores
    assert campaign["shares"] == {"here": 1.0}
    assert campaign["core_hours"]["here"] == pytest.approx(24 / 3600, rel=0.4)
    assert 2 <= campaign["runs"] <= 5
    assert campaign["unfinished"] == 0
    assert campaign["durations"] == "the duration in the description"
    span = datetime.fromisoformat(campaign["expected_end"]) - datetime.fromisoformat(told["at"])
    assert span.total_seconds() == pytest.approx(campaign["expected"], abs=0.01)


@pytest.mark.parametrize(("cut", "told"), [(2, "not known: time was over when hardly a task was done"), (0, "never")])
def test_an_end_that_was_not_reached_in_time_is_not_known(cut: int, told: str) -> None:
    runs = {"runs": 2, "cut": cut, "unfinished": 2}
    told_of = {"name": "n", "tasks": 9, "shares": {}, "core_hours": {}, "cores": 1.0, "together": 1, "notes": []}
    ends = dict.fromkeys(("low", "expected", "high", "low_end", "expected_end", "high_end"))
    campaign = from_json_value(
        CampaignSimulationView, {**told_of, **runs, **ends, "task": 1.0, "durations": "5 of these tasks"}
    )
    lines = list(simulating._lines(campaign, SimulationView(NOON, [campaign], {}, 0)))
    assert lines[2].startswith(f"  expected end  {told}")


@pytest.mark.usefixtures("both_ways")
def test_a_campaign_that_can_run_nowhere_is_told_so(grid: Database, as_user: AsUser, capsys: Capture) -> None:
    as_user("alice")
    with grid.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3)
        conn.execute(text("UPDATE clusters SET is_enabled = false"))
    before = contents(grid)
    assert main(["--simulate", "-j", described()]) == 1
    assert "none of its clusters now (dahu: its operator has disabled it)" in capsys.readouterr().err
    assert contents(grid) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--simulate", "--check", "-j", "{}"], "ask one"),
        (["--simulate", "-c", "3", "-J", "[]"], "gridstat ID"),
        (["--simulated", "-j", "{}"], "did you mean --simulate?"),
    ],
)
def test_words_that_mean_nothing_are_refused(grid: Database, capsys: Capture, words: list[str], said: str) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("both_ways")
def test_it_is_checked_first_as_a_submission_is(grid: Database, as_user: AsUser, capsys: Capture) -> None:
    as_user("alice")
    with grid.begin() as conn:
        a_cluster(conn)
    assert main(["--simulate", "-j", described(clusters={"dauh": {}}), "-j", described(duration="soon")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "no such cluster" in said.err
    assert "duration" in said.err


@pytest.mark.usefixtures("both_ways")
def test_several_are_played_together(local: Grid, as_user: AsUser, capsys: Capture, tmp_path: Path) -> None:
    as_user(local.site.user)
    local.cycle()  # the cluster is visited
    (tmp_path / "lines").write_text("one\ntwo\nthree\n")
    here = {"walltime": 60, "duration": 5, "clusters": {"here": {}, "gone": {}}}
    (tmp_path / "table.json").write_text(
        json.dumps({"name": "table", "exec_file": "true", "param_file": "lines"} | here)
    )
    words = ["--simulate", "--output", "json", str(tmp_path / "table.json"), "-j", described(**here, nb_jobs=7)]
    assert main(words) == 0
    said = capsys.readouterr()
    told = [(campaign["name"], campaign["tasks"]) for campaign in json.loads(said.out)["campaigns"]]
    assert told == [("n", 7), ("table", 3)]
    assert f"{tmp_path}/table.json: left out: clusters.gone" in said.err
    assert "JSON of the command line: left out: clusters.gone" in said.err


def ends(capsys: Capture, *stages: dict[str, Any]) -> dict[str, float]:
    """When each stage is expected to end, seconds from now; its tasks of 10 s have one of four cores."""
    common = {"exec_file": "sleep 10", "walltime": 60, "duration": 10, "clusters": {"here": {}}, "max_jobs": 1}
    assert main(["--simulate", "--output", "json", "-j", json.dumps({**common, "stages": stages})]) == 0
    return {each["name"]: each["expected"] for each in json.loads(capsys.readouterr().out)["campaigns"]}


@pytest.mark.usefixtures("grid")
def test_stages_are_played_one_after_the_other(local: Grid, as_user: AsUser, capsys: Capture) -> None:
    as_user(local.site.user)
    local.cycle()  # the cluster is visited
    told = ends(capsys, {"name": "make", "nb_jobs": 4}, {"name": "solve", "nb_jobs": 4})
    assert told["make"] > 30
    assert told["solve"] > told["make"] + 30, "there is a core for each, which the second one waits with"


@pytest.mark.usefixtures("grid")
def test_tasks_of_the_same_number_are_played_as_pairs(local: Grid, as_user: AsUser, capsys: Capture) -> None:
    as_user(local.site.user)
    local.cycle()  # the cluster is visited
    pairs = {"nb_jobs": 12, "after": "make:same"}
    told = ends(
        capsys, {"name": "make", "nb_jobs": 12}, {"name": "solve", **pairs}, {"name": "look", **pairs, "duration": 1}
    )
    assert told["solve"] < 1.5 * told["make"], "they do not wait for all"
    assert told["look"] > told["make"], "nor do they begin before"


@pytest.mark.usefixtures("grid")
def test_what_is_waited_for_may_be_on_the_grid(local: Grid, as_user: AsUser, capsys: Capture) -> None:
    as_user(local.site.user)
    local.cycle()  # the cluster is visited
    local.submit(["1"] * 4, "sleep 10", walltime=60, duration=10, max_jobs=1)
    solve = {"name": "solve", "after": {"campaign": 1, "when": "failure"}, "nb_jobs": 4}
    here = {"walltime": 60, "duration": 10, "clusters": {"here": {}}, "max_jobs": 1}
    assert main(["--simulate", "--output", "json", "-j", described(**here, **solve)]) == 0
    said = capsys.readouterr()
    assert "no task fails in a simulation: it is played as if" in said.err
    (told,) = json.loads(said.out)["campaigns"]
    assert told["expected"] > 40 + 30, "there is a core for each, which the second one waits with"


@pytest.mark.parametrize("lines", [[1], [2, 0], [3], [1, 1, 1], [-1, 3]])
def test_lines_that_are_not_those_that_were_sent_are_refused(portal: Served, lines: list[int]) -> None:
    remote = PortalClient(portal.place)
    try:
        with pytest.raises(UsageError, match="2 lines were sent"):
            remote.send(simulate_campaigns, [{"name": "n"}, "one"], lines=lines)
    finally:
        remote.close()
