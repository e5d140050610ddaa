import json
import subprocess
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.health import checks
from cigri.flow.events import NewEvent, put_events
from cigri.flow.views.invariants import RULES
from cigri.flow.views.stuck_items import list_stuck
from cigri.formats.json_values import to_json_value
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from cigri.states import EventLevel
from tests.factories import a_cluster
from tests.operator.conftest import Cigri


def test_a_schema_is_made_and_found_whole(cigri: Cigri, empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", empty_url)
    said = cigri("db", "check")
    assert said.status == 1
    assert "run `cigri db upgrade`" in said.err
    assert "went from None to" in cigri("db", "upgrade").out
    assert cigri("db", "check").status == 0
    assert "already" in cigri("db", "upgrade").out


def test_a_column_too_few_is_named(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("ALTER TABLE jobs DROP COLUMN node"))
    said = cigri("db", "check")
    assert said.status == 1
    assert "node" in said.err
    assert cigri("doctor").status == 1


def test_the_url_is_one_that_psql_takes(cigri: Cigri, database_url: str) -> None:
    url = cigri("db", "url").out.strip()
    assert url == database_url
    with psycopg.connect(url) as conn:
        assert conn.execute("SELECT count(*) FROM campaigns").fetchone() == (0,)


def test_the_doctor_names_every_promise_it_found_kept(cigri: Cigri) -> None:
    said = cigri("doctor")
    assert said.status == 0
    for rule in RULES:
        assert f"✓ {rule}\n" in said.out
    assert "! check failed: everything runs that should\n  nothing cycles the modules" in said.out


def test_a_broken_promise_is_told_with_ids_and_advice(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("INSERT INTO task_counts (campaign_id, state, n) VALUES (4711, 'waiting', 3)"))
    said = cigri("doctor")
    assert said.status == 1
    assert "✗ check failed: the counts of tasks are those of the tasks\n  1 times, campaigns.id 4711" in said.out
    assert "keep a dump" in said.out


def test_who_can_read_the_url_is_looked_at(
    cigri: Cigri, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cigri.toml"
    file.write_text(f'[database]\nurl = "{database_url}"\n')
    monkeypatch.delenv("CIGRI_SET_DATABASE__URL")
    monkeypatch.setenv("CIGRI_CONFIG", str(file))
    file.chmod(0o644)
    assert f"! other users can read where the database is\n  everybody can read {file}" in cigri("doctor").out
    file.chmod(0o640)
    assert "\N{CHECK MARK} nobody else can read where the database is\n" in cigri("doctor").out
    file.chmod(0o660)
    assert f"others can write {file}: `chmod go-w {file}`" in cigri("doctor").out


def test_directories_that_are_open_are_told_and_how_to_close_them(cigri: Cigri, tmp_path: Path) -> None:
    closed, data = "\N{CHECK MARK} the directories of the grid are private\n", tmp_path / "data"
    assert closed in cigri("doctor").out, "nothing is there"
    (data / "inputs").mkdir(parents=True)
    (data / "inputs").chmod(0o777)
    for mode, told in ((0o700, 0), (0o750, 0), (0o770, 1), (0o755, 2), (0o711, 1)):
        data.chmod(mode)
        said = cigri("doctor").out
        assert said.count(" is open to others: ") == told, oct(mode)
        assert (closed in said) == (told == 0)
    advice = f"drwxrwxrwx {data}/inputs is open to others: `chmod go-w,o= {data}/inputs`"
    assert advice in said
    subprocess.run(["sh", "-c", advice.split("`")[1]], check=True)
    assert closed in cigri("doctor").out


def test_operators_are_told_the_same_in_a_browser(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_events(conn, [NewEvent("OLD", EventLevel.ERROR, "cluster a", "x")])
        conn.execute(text("UPDATE events SET opened_at = now() - interval '2 days'"))
        conn.execute(text("UPDATE clusters SET failures = 3, blocked_until = now()"))
    told = {check["rule"]: check for check in json.loads(cigri("doctor", "--json").out)["checks"]}
    _, *found = InProcessClient(database, Settings, Caller("root", is_operator=True)).call(checks).checks
    assert [told.get(check.rule) for check in found] == [to_json_value(check) for check in found]
    assert [check.rule for check in found if check.details] == [
        "everything runs that should",
        "every cluster answers",
        "no event has been open for more than a day",
    ]


def test_old_events_are_told_and_young_ones_not(cigri: Cigri, database: Database) -> None:
    with database.begin() as conn:
        put_events(
            conn, [NewEvent("OLD", EventLevel.ERROR, "cluster a", "x"), NewEvent("NEW", EventLevel.ERROR, "b", "y")]
        )
        conn.execute(text("UPDATE events SET opened_at = now() - interval '2 days' WHERE code = 'OLD'"))
    said = cigri("doctor")
    assert said.status == 0
    assert "! check failed: no event has been open for more than a day" in said.out
    assert "OLD cluster a: x" in said.out
    assert "NEW" not in said.out


def test_a_batch_that_launches_for_ever_is_stuck(database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("INSERT INTO clusters (name, config) VALUES ('dahu', '{}')"))
        conn.execute(
            text(
                "INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)"
                " VALUES ('x', 'u', 'default', 'in_treatment', '', now())"
            )
        )
        conn.execute(
            text(
                "INSERT INTO batches (tag, campaign_id, cluster_id, local_user, state, size, created_at)"
                " SELECT 'cigri.x.1', campaigns.id, clusters.id, 'u', 'launching', 1, now() FROM campaigns, clusters"
            )
        )
        assert list_stuck(conn) == []
        conn.execute(text("UPDATE batches SET created_at = created_at - :age"), {"age": timedelta(minutes=11)})
        [told] = list_stuck(conn)
    assert "on dahu has been launching since" in told
    assert "cigri cluster test dahu" in told
