"""gridsub: what is submitted, what is refused, and what the user is told."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.flow.views.invariants import examine
from cigri.states import CampaignState, CampaignType, StepState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.tasks import Task
from tests.cli.conftest import AsUser, Program
from tests.factories import a_campaign, a_cluster

Capture = pytest.CaptureFixture[str]

PLAIN: dict[str, Any] = {"name": "n", "exec_file": "$HOME/run", "clusters": {"dahu": {}}, "params": ["a", "b", "c"]}
REFUSING = "from cigri.admission import refuse\ndef rule(campaign, user):\n    refuse(f'not for {user}')\n"
CHANGING = "def rule(campaign, user):\n    return campaign.with_cluster('dahu', walltime=60)\n"
PROGRAM = Path(sys.argv[0]).name
BOTH_WAYS = pytest.mark.usefixtures("both_ways")


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user("alice")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "run").touch(0o755)  # --check looks for it
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
        a_cluster(conn, "luke")


def described(**fields: object) -> str:
    return json.dumps({key: value for key, value in (PLAIN | fields).items() if value is not None})


def stored(grid: Database) -> list[tuple[Any, ...]]:
    with grid.begin() as conn:
        assert examine(conn) == []
        columns = (Campaign.c.id, Campaign.c.name, Campaign.c.grid_user, Campaign.c.type)
        return [tuple(row) for row in conn.execute(select(*columns).order_by(Campaign.c.id))]


def tasks(grid: Database) -> list[object]:
    with grid.begin() as conn:
        return list(conn.scalars(select(Task.c.parameter).order_by(Task.c.id)))


@pytest.mark.parametrize("name", ["campaign.json", "campaign.jdl"])
def test_a_file_of_cigri3_is_read_as_that_did(name: str, grid: Database, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / name
    fields = {"heaviness": 1, "test_mode": "false", "exec_file": "cd x && ./run"}
    path.write_text(described(**fields))
    main([str(path)])
    told = capsys.readouterr()
    assert ("CAMPAIGN_ID=1" in told.out, f"{path}: heaviness: unknown field, left out" in told.err) == (True, True)
    with grid.begin() as conn:
        assert "cd x && ./run" in str(conn.scalar(select(CampaignCluster.c.settings["exec_file"])))


@BOTH_WAYS
def test_a_file_is_submitted_and_its_number_told(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "campaign.json"
    path.write_text(described(max_jobs="4", resources={"cpu": 2, "nodes": 3}, prologue="true"))
    assert main(["-f", str(path)]) == 0
    said = capsys.readouterr()
    assert said.out == "Campaign successfully submitted\nCAMPAIGN_ID=1\n"
    assert "gridstat 1" in said.err
    assert stored(grid) == [(1, "n", "alice", CampaignType.DEFAULT)]
    assert tasks(grid) == ["a", "b", "c"]
    with grid.begin() as conn:
        part = CampaignCluster
        row = conn.execute(select(part.c.width, part.c.max_jobs, part.c.prologue, part.c.epilogue)).one()
        assert tuple(row) == (6, 4, StepState.WAITING, StepState.NONE)


@pytest.mark.parametrize("arguments", [[], ["-"], ["-f", "-"]])
def test_a_description_may_come_from_a_pipe(
    grid: Database, typed: Callable[[bytes], None], arguments: list[str]
) -> None:
    typed(b"name: yaml\nexec_file: run\nnb_jobs: 2\nclusters: {dahu: }\n")
    assert main(arguments) == 0
    assert tasks(grid) == ["0", "1"]


@BOTH_WAYS
def test_formats_are_told_by_the_name_and_files_are_beside_it(grid: Database, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    path = tmp_path / "campaign.toml"
    path.write_text('name = "t"\nexec_file = "run"\nparam_file = "lines.txt"\n[clusters.dahu]\n')
    assert main([str(path)]) == 0
    assert tasks(grid) == ["one", "two"]


@BOTH_WAYS
@pytest.mark.parametrize("name", ["l" * 300, "a\0b"], ids=["long", "NUL"])
def test_a_file_of_parameters_that_cannot_be_is_told_in_one_line(name: str, grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(param_file=name, nb_jobs=None)]) == 1
    assert "cannot be read: " in capsys.readouterr().err
    assert stored(grid) == []


@BOTH_WAYS
def test_several_descriptions_are_several_campaigns(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.json").write_text(described(name="file"))
    assert main(["-j", described(name="first"), "-j", described(name="second"), str(tmp_path / "a.json")]) == 0
    assert [row[1] for row in stored(grid)] == ["first", "second", "file"]
    assert capsys.readouterr().out.count("CAMPAIGN_ID=") == 3


@BOTH_WAYS
def test_a_misspelled_field_and_an_unknown_cluster_are_told_together(grid: Database, capsys: Capture) -> None:
    wrong = described(exec_file=None, exec_fiel="$HOME/run", clusters={"dahuu": {}})
    assert main(["-j", wrong]) == 1
    said = capsys.readouterr().err
    for part in ("exec_fiel: unknown field (did you mean 'exec_file'?)", ": exec_file: is missing"):
        assert part in said
    assert "clusters.dahuu: there is no such cluster (did you mean 'dahu'?" in said
    assert main(["-j", described(exec_fiel="x", clusters={"dahuu": {}, "dahu": {}})]) == 1
    assert "dahuu" not in capsys.readouterr().err  # it would be left out
    assert stored(grid) == []


@BOTH_WAYS
def test_nothing_is_stored_when_one_of_several_is_wrong(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    wrong = described(nam="x", walltime="banana")
    faraway = described(clusters={"dahuu": {}, "moon": {}})
    missing = str(tmp_path / "missing.json")
    assert main(["-j", described(), "-j", wrong, "-j", faraway, missing]) == 1
    said = capsys.readouterr().err
    for part in ("did you mean 'name'", "walltime: expected a duration", "clusters.dahuu: there is no such cluster"):
        assert part in said
    for part in ("did you mean 'dahu'? there are: dahu, luke", "clusters.moon", f"{missing}: the file: cannot be read"):
        assert part in said
    assert "nothing was submitted" in said
    assert stored(grid) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\xff\xfe", "is not UTF-8 text (byte 0)"),
        (b'{"name": ', "line 1, column"),
        (b"[1, 2]", "expected an object"),
        (b'{"name": "a\\u001b[31m", "params": 3}', "expected one line without control characters"),
        (json.dumps(PLAIN | {"params": ["a\0b"]}).encode(), "holds a NUL character"),
        (json.dumps(PLAIN | {"params": ["it's"]}).encode(), "a quote is not closed"),
        (json.dumps(PLAIN | {"scheduler": "workqueu"}).encode(), "did you mean 'workqueue'?"),
        (
            json.dumps(PLAIN | {"scheduler": "../../etc/passwd"}).encode(),
            "finalize, prediction, test, workqueue",
        ),
    ],
)
def test_hostile_descriptions_are_refused_in_words(
    grid: Database, tmp_path: Path, capsys: Capture, content: bytes, told: str
) -> None:
    path = tmp_path / "campaign.json"
    path.write_bytes(content)
    assert main([str(path)]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert stored(grid) == []


@BOTH_WAYS
def test_hostile_parameters_are_stored_as_they_are(grid: Database) -> None:
    parameters = ['"\'"; DROP TABLE tasks; --', "tab\tnewline\n\\\\N", "é😀", "x" * 100_000]
    assert main(["-j", described(params=parameters)]) == 0
    assert tasks(grid) == parameters


@BOTH_WAYS
def test_a_test_takes_one_task_for_each_cluster(grid: Database, capsys: Capture) -> None:
    two = described(clusters={"dahu": {}, "luke": {}}, params=[str(i) for i in range(9)])
    assert main(["-t", "test", "-j", two]) == 0
    assert "one task for each cluster: 2 kept, 7 left out" in capsys.readouterr().err
    assert stored(grid)[0][3] is CampaignType.TEST
    assert tasks(grid) == ["0", "1"]
    assert main(["-t", "default", "-j", described(campaign_type="test")]) == 0
    assert stored(grid)[1][3] is CampaignType.DEFAULT
    assert "left out" not in capsys.readouterr().err


def test_a_test_of_more_clusters_than_there_are_tasks_begins_again_with_the_first(grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "edel")
    three = described(clusters={"dahu": {}, "luke": {}, "edel": {}}, params=["a", "b"])
    assert main(["-t", "test", "-j", three]) == 0
    assert tasks(grid) == ["a", "b", "a"]


def test_no_tasks_are_added_to_a_test(grid: Database, capsys: Capture) -> None:
    assert main(["-t", "test", "-j", described()]) == 0
    for more in ([], ["--check"]):
        assert main(["-c", "1", "-J", '["b"]', *more]) == 1
        assert "campaign 1 is a test, which has one task for each cluster; submit a new one" in capsys.readouterr().err
    assert tasks(grid) == ["a"]
    assert main(["-c", "1", "--priority", "3"]) == 0


def test_tests_run_as_normal_jobs_for_those_who_may_have_them(grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "dahu", normal_users=["alice"])
    assert main(["-t", "test", "-j", described(clusters={"dahu": {}, "luke": {}})]) == 0
    with grid.begin() as conn:
        types = select(Cluster.c.name, CampaignCluster.c.settings["type"].astext).order_by(Cluster.c.name)
        joined = types.join(Cluster, Cluster.c.id == CampaignCluster.c.cluster_id)
        assert [tuple(row) for row in conn.execute(joined)] == [("dahu", "normal"), ("luke", "best-effort")]


@BOTH_WAYS
def test_admission_refuses_and_the_reason_is_told_beside_other_faults(
    grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "no.py").write_text(REFUSING)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    assert main(["-j", described(clusters={"moon": {}})]) == 1
    said = capsys.readouterr().err
    assert "not for alice" in said
    assert "clusters.moon: there is no such cluster" in said
    assert stored(grid) == []


@BOTH_WAYS
def test_the_operator_hears_of_a_rule_that_is_broken(
    grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "odd.py").write_text("def rule(campaign, user):\n    1 / 0\n")
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    assert main(["-j", described()]) == 1
    assert "tell the operator of this CiGri" in capsys.readouterr().err
    with grid.begin() as conn:
        (event,) = conn.execute(select(Event.c.code, Event.c.subject, Event.c.campaign_id, Event.c.message))
    assert tuple(event)[:3] == ("ADMISSION_RULE_BROKEN", "admission rule odd.py", None)
    assert "a campaign of user alice was refused" in event.message


@pytest.mark.parametrize("mend", [lambda rule: rule.write_text("def rule(campaign, user): pass\n"), Path.unlink])
def test_what_the_operator_heard_of_a_rule_is_closed_when_it_works_again(
    grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mend: Callable[[Path], object]
) -> None:
    rule = tmp_path / "odd.py"
    rule.write_text("def rule(campaign, user):\n    1 / 0\n")
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))

    def closed() -> list[str | None]:
        with grid.begin() as conn:
            return [*conn.scalars(select(Event.c.closed_by).where(Event.c.code == "ADMISSION_RULE_BROKEN"))]

    assert main(["-j", described()]) == 1
    assert main(["-j", "{}"]) == 1  # no rule is asked about what is no description
    assert closed() == [None]
    mend(rule)
    assert main(["-j", described()]) == 0
    assert closed() == ["cigri"]


def test_what_a_cluster_has_no_words_for_is_refused_at_once(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "delta", driver="oar", options={"types": ["night"]})
        a_cluster(conn, "here", options={"spool": "/var/spool/cigri", "pools": {"cpu": 4}})
    wishes = {"resources": "{gpu='YES'}/nodes=2", "types": ["night", "timesharing=*,*"]}
    assert main(["-j", described(clusters={"delta": wishes})]) == 0
    assert main(["-j", described(clusters={"here": wishes, "delta": {**wishes, "types": "day"}})]) == 1
    said = capsys.readouterr().err
    assert "clusters.here: " in said
    assert "{gpu='YES'}/nodes=2" in said
    assert "clusters.delta: no type of jobs 'day' is allowed on this cluster; allowed are: " in said
    assert main(["--check", "-j", described(clusters={"delta": {"resources": {"gpu": 1}}})]) == 1
    assert "clusters.delta: oar counts no gpu beside the cores" in capsys.readouterr().err
    assert len(stored(grid)) == 1


def test_no_driver_is_loaded_for_a_core(grid: Database, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "odd", driver="nowhere")
    assert main(["-j", described(clusters={"odd": {"resources": "core=1"}})]) == 0
    assert "not checked" not in capsys.readouterr().err
    assert main(["-j", described(clusters={"odd": {"resources": "core=2"}})]) == 0
    assert "whether odd can take its jobs was not checked: no driver 'nowhere'" in capsys.readouterr().err


@BOTH_WAYS
def test_what_no_task_can_get_is_refused_with_the_task_and_the_line_that_would_change_it(
    grid: Database, capsys: Capture
) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "here", options={"spool": "/s", "pools": {"cpu": 4, "mem": 5000}})
    sized = {"clusters": {"here": {}}, "exec_file": "run {size}", "resources": {"mem": "{size} GB", "gnat": "{size}"}}
    assert main(["-j", described(**sized, params=[{"size": 3}, {"size": 5}, {"size": 4}])]) == 1
    said = capsys.readouterr().err
    most = "(the most of any task: mem=5120 by task 1, gnat=5 by task 1)"
    for asked, there in (("mem=5120", "5000"), ("gnat=5", "none")):
        change = f"`cigri cluster change here --option pools.{asked}` would change that"
        assert f"clusters.here: a job asks for {asked}, and the cluster has {there}; {change} {most}" in said
    assert stored(grid) == []


def test_tasks_that_are_too_large_for_one_cluster_only_go_to_the_others(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        for name, memory in (("small", 4000), ("large", 9000)):
            a_cluster(conn, name, options={"spool": "/s", "pools": {"mem": memory}})
    sized = {"exec_file": "run", "resources": {"mem": "{size}"}, "params": [{"size": 100}, {"size": 8000}]}
    assert main(["-j", described(**sized, clusters={"small": {}, "large": {}})]) == 0
    assert "clusters.small: a job asks for mem=8000, and the cluster has 4000" in (said := capsys.readouterr().err)
    assert "such tasks go to large" in said
    assert main(["-j", described(**sized, clusters={"small": {"resources": {"mem": 5000}}, "large": {}})]) == 1
    assert "clusters.small: a job asks for mem=5000, and the cluster has 4000" in capsys.readouterr().err


def test_every_task_whose_amounts_cannot_be_computed_is_told(grid: Database, capsys: Capture) -> None:
    sized = {"exec_file": "run {size}", "resources": {"mem": "{size} GB"}}
    assert main(["--check", "-j", described(**sized, params=[{"size": 3}, {"size": "big"}, {"size": -1}])]) == 1
    said = capsys.readouterr().err
    assert "task 1: resources.mem: size is no number: 'big'" in said
    assert "task 2: resources.mem: {size} GB is negative" in said
    assert main(["-j", described(exec_file="run", resources={"mem": "{sze} GB"}, params=[{"size": 3}])]) == 1
    assert "resources.mem: no parameter is called 'sze' (did you mean 'size'?)" in capsys.readouterr().err
    assert stored(grid) == []


@BOTH_WAYS
def test_tasks_that_compute_their_amounts_are_stored_in_buckets(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "here", options={"spool": "/s", "pools": {"mem": 5000}})
    sized = {"clusters": {"here": {}}, "exec_file": "run", "resources": {"mem": "{size} GB"}}
    parameters = [{"size": 3}, {"size": 1}, {"size": 3}]
    assert main(["--details", "-j", described(**sized, params=parameters)]) == 0
    assert "1 core, mem = {size} GB" in capsys.readouterr().out
    assert tasks(grid) == parameters
    with grid.begin() as conn:
        assert len({*conn.scalars(select(Task.c.bucket_id))}) == 2


@BOTH_WAYS
def test_what_admission_changes_is_shown_and_stored(
    grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "shorter.py").write_text(CHANGING)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    assert main(["-j", described()]) == 0
    assert "clusters.dahu.walltime: 3600 -> 60 (by shorter.py)" in capsys.readouterr().err
    with grid.begin() as conn:
        assert conn.execute(select(CampaignCluster.c.settings)).scalar_one()["walltime"] == 60


@BOTH_WAYS
def test_the_first_and_the_last_command_are_told(capsys: Capture) -> None:
    numbers = described(exec_file="sleep 60", params=None, nb_jobs=12)
    assert main(["-j", numbers]) == 0
    assert capsys.readouterr().err.splitlines()[:2] == [
        f"{PROGRAM}: task 0 runs: sleep 60 0",
        f"{PROGRAM}: task 11 runs: sleep 60 11",
    ]
    assert main(["--check", "-j", numbers]) == 0
    assert (
        '    and 9 tasks more, the last of them:\n    task 11      cd "$HOME" && sleep 60 11\n'
        in capsys.readouterr().out
    )
    assert main(["-j", described(params=["a\x1b"])]) == 0
    assert capsys.readouterr().err.startswith(f'{PROGRAM}: task 0 runs: "$HOME"/run')
    assert main(["-j", described(), "--output", "json"]) == 0
    assert "runs:" not in capsys.readouterr().err


@BOTH_WAYS
def test_more_tasks_of_a_command_that_takes_no_parameter_are_numbers(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(exec_file="run {number}", params=None, nb_jobs=2)]) == 0
    assert main(["-c", "1", "-J", '["2", "x"]']) == 1
    assert "params[1]: would reach no task: nothing follows the command" in capsys.readouterr().err
    assert main(["-c", "1", "-J", '["2"]']) == 0
    assert tasks(grid) == ["0", "1", "2"]


@BOTH_WAYS
def test_check_shows_what_would_run_and_stores_nothing(grid: Database, capsys: Capture) -> None:
    description = described(
        exec_file="~/run 'a b' {index}",
        exec_directory="runs/{CAMPAIGN_ID}",
        walltime="00:10:00",
        params=["one $x", "two", "three", "four"],
        clusters={"dahu": {"queue": "night", "resources": "/nodes=2/core=4"}, "moon": {}},
    )
    assert main(["--check", "-j", description]) == 0
    shown = capsys.readouterr()
    for part in ("campaign n (default) of alice: 4 tasks", "on dahu:", "night"):
        assert part in shown.out
    for part in ("2 x 4 cores", " 0:10:00", "best-effort", "and 1 task more:\n"):
        assert part in shown.out
    assert "task 0       cd \"$HOME\"/runs/0 && \"$HOME\"/run 'a b' 0 one '$x'" in shown.out
    assert "task 2 " in shown.out
    assert 'task 3       cd "$HOME"/runs/0 && "$HOME"/run \'a b\' 3 four\n' in shown.out
    assert "on moon" not in shown.out
    assert "left out: clusters.moon: there is no such cluster" in shown.err
    assert main(["--check", "-j", described(clusters={"moon": {}})]) == 1
    assert "on moon (NO SUCH CLUSTER):" in capsys.readouterr().out
    assert main(["--check", "-j", described()]) == 0
    assert stored(grid) == []


def test_check_shows_when_a_task_is_asked_to_save(grid: Database, capsys: Capture) -> None:
    checkpoint = {"signal": "USR1", "period": "0:30"}
    assert main(["--check", "-j", described(checkpoint=checkpoint, idempotent=True)]) == 0
    said = capsys.readouterr().out
    assert "checkpoint   SIGUSR1 0:02:00 before the walltime, every 0:30:00\n" in said
    assert "idempotent   yes\n" in said
    assert main(["--check", "-j", described(checkpoint={})]) == 0
    said = capsys.readouterr().out
    assert (
        "checkpoint   SIGUSR2 0:02:00 before the walltime, before that as often as the cluster's kills make it" in said
    )
    assert main(["--check", "-j", described(checkpoint={"period": "never"})]) == 0
    assert "checkpoint   SIGUSR2 0:02:00 before the walltime\n" in capsys.readouterr().out


@pytest.mark.usefixtures("grid")
def test_check_shows_what_tasks_are_to_bring(capsys: Capture) -> None:
    assert main(["--check", "-j", described(outputs=["a.h5", "log/*.txt"], collect={"when": "end"})]) == 0
    said = capsys.readouterr().out
    assert "outputs      a.h5, log/*.txt\n" in said
    assert "collect      however the task has ended\n" in said
    assert "task 0       (in a new directory per task) " in said


@pytest.mark.usefixtures("grid")
def test_check_shows_where_outputs_come_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    collect = {"to": "./results/{number}", "max": "1 GB", "keep": "7d"}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "c.json").write_text(described(outputs=["a.h5"], collect=collect))
    assert main(["--check", "in/c.json"]) == 0
    said = capsys.readouterr().out
    assert f"collect to   {tmp_path}/in/results/{{number}}, at most 1024 MB of a task\n" in said
    assert "collected    stays on the cluster 7 d more\n" in said


def test_check_needs_no_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    monkeypatch.delenv("CIGRI_SET_DATABASE__URL")
    monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(tmp_path))
    assert main(["--check", "-j", described()]) == 0
    said = capsys.readouterr()
    assert 'cd "$HOME" && "$HOME"/run a' in said.out
    assert "whether the clusters exist was not checked" in said.err
    assert main(["-j", described()]) == 1
    assert "start it with `cigri up`" in capsys.readouterr().err


def test_a_database_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://nobody@127.0.0.1:1/none")
    assert main(["-j", described()]) == 1
    said = capsys.readouterr().err
    assert "the database does not answer" in said
    assert "try again later" in said
    assert "Traceback" not in said


def test_a_database_of_another_version_is_the_operators_to_mend(
    empty_url: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", empty_url)
    assert main(["-j", described()]) == 2
    assert "cigri db upgrade" in capsys.readouterr().err


@BOTH_WAYS
def test_details_and_json_tell_what_was_stored(capsys: Capture) -> None:
    assert main(["-d", "-j", described()]) == 0
    assert "CAMPAIGN_ID=1\ncampaign n (default) of alice: 3 tasks\n" in capsys.readouterr().out
    assert main(["--output", "json", "-t", "test", "-j", described(exec_file="run {CAMPAIGN_ID}")]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert (answer["id"], answer["tasks"], answer["dropped"], answer["changes"]) == (2, 1, 2, [])
    assert answer["clusters"]["dahu"]["commands"] == ["run 2 a"]


@BOTH_WAYS
def test_tasks_are_added(grid: Database, tmp_path: Path, capsys: Capture) -> None:
    assert main(["-j", described()]) == 0
    (tmp_path / "more.json").write_text('["d"]')
    assert main(["-c", "1", "-F", str(tmp_path / "more.json"), "-J", '["e", "f"]']) == 0
    assert "Jobs successfully added to campaign 1: 3" in capsys.readouterr().out
    assert tasks(grid) == ["a", "b", "c", "d", "e", "f"]
    assert main(["-c", "1", "--check", "-J", '["g"]']) == 0
    assert len(tasks(grid)) == 6


@BOTH_WAYS
def test_more_tasks_are_looked_at_with_the_words_of_their_campaign(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(exec_file="run --a={a}", params=[{"a": 1}])]) == 0
    for length, status in ((131_068, 1), (131_067, 0)):  # with --a= one byte above what is taken, and just that
        assert main(["-c", "1", "-J", json.dumps([{"a": "x" * length}])]) == status
    assert "params[0]: a word of 131072 bytes" in capsys.readouterr().err
    assert len(tasks(grid)) == 2


def own_priorities(grid: Database) -> list[int]:
    with grid.begin() as conn:
        return list(conn.scalars(select(Campaign.c.own_priority).order_by(Campaign.c.id)))


def test_users_order_their_own_campaigns(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(priority=3)]) == 0
    assert main(["-j", described(), "-j", described(priority=3), "--priority", "-7"]) == 0
    assert own_priorities(grid) == [3, -7, -7]
    capsys.readouterr()
    assert main(["--check", "-j", described(priority=3)]) == 0
    assert "priority     3 among your campaigns" in capsys.readouterr().out
    assert main(["-c", "1", "--priority", "5"]) == 0
    assert capsys.readouterr().out == "Campaign 1 has priority 5 among yours\n"
    assert main(["-c", "2", "--priority", "0", "-J", '["d"]', "--output", "json"]) == 0
    assert own_priorities(grid) == [5, 0, -7]


def test_a_priority_is_of_ones_own_open_campaigns_only(grid: Database, as_user: AsUser, capsys: Capture) -> None:
    assert main(["-j", described(), "--priority", "1001"]) == 2
    assert "--priority 1001: expected a whole number from -1000 to 1000" in capsys.readouterr().err
    assert main(["-j", described(priority="high")]) == 1
    assert "priority" in capsys.readouterr().err
    assert main(["-j", described()]) == 0
    assert main(["-c", "1", "--check", "--priority", "1"]) == 2
    as_user("bob")
    assert main(["-c", "1", "--priority", "1"]) == 1
    assert "you have no campaign 1" in capsys.readouterr().err
    as_user("alice")
    with grid.begin() as conn:
        conn.execute(update(Campaign).values(state=CampaignState.TERMINATED, ended_at=Campaign.c.submitted_at))
    assert main(["-c", "1", "--priority", "1"]) == 1
    assert "campaign 1 is terminated" in capsys.readouterr().err
    assert own_priorities(grid) == [0]


@BOTH_WAYS
def test_wrong_tasks_are_all_told_and_none_added(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described()]) == 0
    assert main(["-c", "1", "-J", '["d", {"x": 1}]', "-J", '"e"', "-F", "missing.json"]) == 1
    said = capsys.readouterr().err
    for part in ("params[1]: expected text", "expected a list", "missing.json: the file: cannot be read"):
        assert part in said
    assert len(tasks(grid)) == 3


@BOTH_WAYS
def test_tasks_are_added_to_ones_own_living_campaigns_only(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        theirs = a_campaign(conn, 1, user="bob")
        cancelled = a_campaign(conn, 1)
        when = {"state": CampaignState.CANCELLED, "ended_at": Campaign.c.submitted_at}
        conn.execute(update(Campaign).where(Campaign.c.id == cancelled).values(when))
    for campaign, told in ((theirs, "you have no campaign"), (99, "you have no campaign"), (cancelled, "is cancelled")):
        assert main(["-c", str(campaign), "-J", '["x"]']) == 1
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--fil", "x"], "did you mean --file?"),
        (["-t", "tset", "x"], "invalid choice: 'tset'"),
        (["-F", "x"], "say which with -c"),
        (["-c", "1"], "-c needs the tasks to add"),
        (["-c", "1", "-J", "[]", "-j", "{}"], "nothing else"),
        (["-c", "1", "-J", "[]", "-t", "test"], "nothing else"),
        (["-c", "1-2", "-J", "[]"], "one campaign"),
        (["-c", "one", "-J", "[]"], "'one' is no id"),
        (["-", "-f", "-"], "standard input can be read once only"),
    ],
)
def test_bad_usage_is_told_and_does_nothing(grid: Database, capsys: Capture, arguments: list[str], told: str) -> None:
    assert main(arguments) == 2
    assert told in capsys.readouterr().err
    assert stored(grid) == []


def test_the_program_submits_as_the_account_it_runs_under(grid: Database, program: Program) -> None:
    done = program("gridsub", text=described())
    assert (done.returncode, done.stdout) == (0, "Campaign successfully submitted\nCAMPAIGN_ID=1\n")
    assert stored(grid)[0][2] == pwd.getpwuid(os.geteuid()).pw_name
    assert program("gridsub", "--version").stdout.startswith("gridsub ")
    assert program("gridsub", "--no-such-option").returncode == 2


def test_nightly_jobs_that_can_never_run_are_refused(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(type="nightly", clusters={"dahu": {}, "luke": {}})]) == 1
    assert "clusters.dahu.type: no job of type nightly can run there" in (said := capsys.readouterr().err)
    assert "clusters.luke.type" in said
    with grid.begin() as conn:
        for name in ("dahu", "luke"):
            a_cluster(conn, name, hours=["20:00-06:00"], options={"spool": "/nowhere"})
    assert main(["-j", described(type="nightly", walltime="11:00:00")]) == 1
    assert "its hours are never longer than 10 h," in capsys.readouterr().err
    assert main(["-j", described(type="nightly", walltime="11:00:00"), "-t", "test"]) == 0
    assert main(["-j", described(type="nightly", walltime="10:00:00")]) == 0
    assert len(stored(grid)) == 2


def test_normal_jobs_are_for_those_whom_the_operator_names(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(type="normal")]) == 1
    assert "alice may not submit jobs of type normal on dahu" in capsys.readouterr().err
    with grid.begin() as conn:
        a_cluster(conn, "dahu", normal_users=["alice"])
    assert main(["-j", described(type="normal")]) == 0
    assert len(stored(grid)) == 1


def test_without_a_cluster_the_grid_has_no_choice(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        conn.execute(delete(Cluster))
    assert main(["-j", described(clusters="any")]) == 1
    assert "clusters: no cluster is declared yet (see `cigri cluster add`)" in capsys.readouterr().err


def test_words_that_are_no_text_are_bad_usage(capsys: Capture) -> None:
    assert main(["--priority", "\udcff"]) == 2
    assert "word 2 is not UTF-8 text: \\udcff" in capsys.readouterr().err


def test_a_description_is_no_device(capsys: Capture) -> None:
    assert main(["/dev/zero"]) == 1
    assert "/dev/zero: the file: cannot be read: it is a device, not a file" in capsys.readouterr().err


def test_of_very_many_problems_the_first_are_told(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(described(clusters={f"c{number}": {"walltime": "x"} for number in range(1000)}))
    assert main([str(path)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 102
    assert told[100:] == ["900 more problems", "nothing was submitted"]


@pytest.mark.parametrize("arguments", [[], ["--output", "json"], ["-c", "1", "-J", '["d"]']])
def test_what_is_stored_is_told_though_the_answer_is_lost(
    grid: Database, tmp_path: Path, program: Program, arguments: list[str]
) -> None:
    user = pwd.getpwuid(os.geteuid()).pw_name
    with grid.begin() as conn:
        a_campaign(conn, user=user, tasks=["a"])
    path = tmp_path / "campaign.json"
    path.write_text(described())
    files = [] if "-c" in arguments else [str(path)]
    command = [str(Path(sys.executable).with_name("gridsub")), *arguments, *files]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert ("added to campaign 1: 1 tasks" if "-c" in arguments else "gridsub: submitted: 2\n") in done.stderr
    assert "gridsub: the answer cannot be written: No space left on device\n" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert len(tasks(grid)) == (2 if "-c" in arguments else 4)


def test_a_wrong_description_is_told_though_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://nobody@/none?host=/nowhere")
    assert main([str(tmp_path / "none.json")]) == 1
    said = capsys.readouterr().err
    assert "none.json: the file: cannot be read: No such file" in said
    assert "database" not in said
    assert main([str(tmp_path / "none.json"), "-j", described()]) == 1
    said = capsys.readouterr().err
    assert "No such file" in said
    assert "the database does not answer" in said


@BOTH_WAYS
def test_one_unknown_cluster_among_several_is_left_out(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(clusters={"dahu": {}, "dauh": {}})]) == 0
    assert "left out: clusters.dauh: there is no such cluster (did you mean 'dahu'?" in capsys.readouterr().err
    assert used(grid) == ["dahu"]
    many: dict[str, dict[str, str]] = {"dahu": {}, **{f"c{number}": {} for number in range(1000)}}
    assert main(["-j", described(clusters=many)]) == 0
    told = capsys.readouterr().err
    assert "left out: 980 more clusters that there are not" in told
    assert len(told.splitlines()) < 30


def test_with_one_cluster_none_need_be_named(grid: Database, capsys: Capture) -> None:
    assert main(["-j", described(clusters=None)]) == 1
    assert "clusters: is missing, and there are several (there are: dahu, luke; or write any" in capsys.readouterr().err
    with grid.begin() as conn:
        conn.execute(delete(Cluster).where(Cluster.c.name == "luke"))
    assert main(["-j", described(clusters=None)]) == 0
    assert used(grid) == ["dahu"]
    with grid.begin() as conn:
        assert list(conn.scalars(select(Campaign.c.anywhere))) == [None]


def used(grid: Database) -> list[str]:
    """The clusters of campaigns."""
    with grid.begin() as conn:
        part = CampaignCluster.c
        names = select(Cluster.c.name).distinct().join(CampaignCluster, part.cluster_id == Cluster.c.id)
        return sorted(conn.scalars(names))


@BOTH_WAYS
def test_what_a_description_does_not_say_operators_have_said(grid: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WALLTIME", "120"), ("CPU", "2"), ("MEM", "500")):
        monkeypatch.setenv(f"CIGRI_SET_JOBS__{name}", value)
    clusters: dict[str, Any] = {"dahu": {}, "luke": {"walltime": "1 h", "resources": {"mem": "1 GB"}}}
    assert main(["-j", described(clusters=clusters)]) == 0
    with grid.begin() as conn:
        part = CampaignCluster.c
        rows = conn.execute(select(Cluster.c.name, part.settings).join(Cluster, Cluster.c.id == part.cluster_id))
        settings = {name: own for name, own in rows}
    asked = {
        name: (own["walltime"], own["resources"]["cpu"], own["resources"]["mem"]) for name, own in settings.items()
    }
    assert asked == {"dahu": (120, 2, 500), "luke": (3600, 2, 1024)}
