"""What Prometheus and whoever restarts services are told: figures that do not grow, and no secrets."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cigri.database import Database
from cigri.flow.module_passes import HOLD_LIFE, ModulePass, put_pass
from cigri.flow.outcome_counts import add_up_ends, list_end_counts
from cigri.flow.remote_command_counts import RemoteCommandCosts
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, note_passes, run_jobs, submitted_jobs
from tests.portal.conftest import Mint, Served, bearer

ETC = Path(__file__).parents[2] / "etc"
RULES = ETC / "prometheus" / "cigri.rules.yml"
DASHBOARD = ETC / "grafana" / "cigri.json"

Series = Mapping[tuple[str, tuple[str, ...]], float]

ALERTS = """\
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'cigri_module_pass_age_seconds{{module="updator"}}', values: '5 5 70'}}
      - {{series: 'cigri_module_pass_age_seconds{{module="janitor"}}', values: '4 4 172801'}}
      - {{series: 'cigri_cluster_failures{{cluster="dahu"}}', values: '0 4x20'}}
      - {{series: 'cigri_processes_stalled', values: '0 0 1'}}
      - {{series: 'cigri_data_directory_free_ratio', values: '0.05x20'}}
    alert_rule_test:
      - {{eval_time: 1m, alertname: CigriNoPass, exp_alerts: []}}
      - eval_time: 2m
        alertname: CigriNoPass
        exp_alerts: [{{exp_labels: {{severity: critical}}, exp_annotations: {{summary: "{no_pass}"}}}}]
      - {{eval_time: 1m, alertname: CigriProcessStalled, exp_alerts: []}}
      - eval_time: 2m
        alertname: CigriProcessStalled
        exp_alerts: [{{exp_labels: {{severity: critical}}, exp_annotations: {{summary: "{stalled}"}}}}]
      - eval_time: 2m
        alertname: CigriJanitorLate
        exp_alerts: [{{exp_labels: {{severity: warning, module: janitor}}, exp_annotations: {{summary: "{janitor}"}}}}]
      - {{eval_time: 9m, alertname: CigriClusterAway, exp_alerts: []}}
      - eval_time: 12m
        alertname: CigriClusterAway
        exp_alerts: [{{exp_labels: {{severity: warning, cluster: dahu}}, exp_annotations: {{summary: "{away}"}}}}]
      - eval_time: 6m
        alertname: CigriDiskFull
        exp_alerts: [{{exp_labels: {{severity: critical}}, exp_annotations: {{summary: "{disk}"}}}}]
"""
SUMMARIES = {
    "no_pass": "No module has made a pass for a minute: `cigri status`, `cigri doctor`",
    "stalled": "A process of the grid is stopped or hangs, and may hold locks: `cigri status` says how to end it",
    "janitor": "The janitor has not run for two days: nothing is archived or removed",
    "away": "dahu does not answer: `cigri cluster test dahu`",
    "disk": "Less than a tenth of the disk of the grid's data directory is free",
}


def ask(portal: Served, path: str, headers: Mapping[str, str] = {}, method: str = "GET") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", portal.port)
    try:
        connection.request(method, path, headers=dict(headers))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def scrape(portal: Served, mint: Mint) -> Series:
    status, text = ask(portal, "/metrics", bearer(mint()))
    assert status == 200, text
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def busy(database: Database) -> int:
    """The number of a cluster where something has ended well, and badly, while more runs."""
    with database.begin() as conn:
        cluster = a_cluster(conn, "dahu", free=3, used=5)
        campaign = a_campaign(conn, 10)
        well, badly, runs = submitted_jobs(conn, campaign, cluster, 3)
        run_jobs(conn, [well, badly, runs])
        end_jobs(conn, cluster, [well])
        end_jobs(conn, cluster, [badly], Outcome.PREEMPTED, exit_code=143, seconds=4.0)
        note_passes(conn, "boom")
        for spent in (RemoteCommandCosts(2, 0.5), RemoteCommandCosts(3, 0.25)):
            put_pass(
                conn,
                ModulePass(
                    "updator", "host", 1, 0.1, {}, "boom", spent={"dahu": spent, "gone": spent}, sessions={"dahu": 2}
                ),
            )
    return cluster


def test_the_grid_is_told_in_figures(busy: int, open_portal: Served, mint: Mint) -> None:
    read = scrape(open_portal, mint)
    assert read["cigri_cluster_cores", ("dahu", "free")] == 3
    assert read["cigri_cluster_cores", ("dahu", "others")] == 5
    assert read["cigri_jobs", ("dahu", "running")] == 1
    assert read["cigri_tasks", ("waiting",)] == 8
    assert read["cigri_tasks", ("done",)] == 1
    assert read["cigri_campaigns", ("in_treatment",)] == 1
    assert read["cigri_attempts_ended_total", ("dahu", "success", "no")] == 1
    assert read["cigri_attempts_ended_total", ("dahu", "preempted", "no")] == 1
    assert read["cigri_core_seconds_total", ("dahu", "success", "no")] == pytest.approx(10, abs=1)
    assert read["cigri_module_failing", ("updator",)] == 1
    assert read["cigri_module_failing", ("runner",)] == 0
    assert read["cigri_cluster_commands_total", ("dahu", "updator")] == 5
    assert read["cigri_cluster_command_seconds_total", ("dahu", "updator")] == 0.75
    assert read["cigri_cluster_sessions", ("dahu", "updator")] == 0, "no almighty lives that could keep one"
    assert read["cigri_almighty_up", ()] == 0
    assert 0 < read["cigri_data_directory_free_ratio", ()] < 1


def test_series_do_not_grow_with_campaigns_and_users(
    busy: int, open_portal: Served, mint: Mint, database: Database
) -> None:
    scrape(open_portal, mint)
    before = scrape(open_portal, mint).keys()
    with database.begin() as conn:
        for number in range(20):
            a_campaign(conn, 3, name=f"c{number}", user=f"u{number}")
    assert scrape(open_portal, mint).keys() == before


def test_what_ended_is_the_same_when_it_has_been_added_up(busy: int, database: Database) -> None:
    with database.begin() as conn:
        before = list_end_counts(conn)
        assert sum(one.attempts for one in before) == sum(one.jobs for one in before) == 2
        add_up_ends(conn, longest=0)
        assert list_end_counts(conn) == before


def test_requests_are_counted_by_endpoint_and_status(open_portal: Served, mint: Mint) -> None:
    ask(open_portal, "/api/v1/whoami", bearer(mint()))
    ask(open_portal, "/api/v1/whoami", bearer(mint()), "HEAD")
    ask(open_portal, "/api/v1/campaigns/7", bearer(mint()))
    ask(open_portal, "/api/v1/nothing/7")
    read = scrape(open_portal, mint)
    assert read["cigri_portal_requests_total", ("whoami", "200")] == 2
    assert read["cigri_portal_requests_total", ("campaign", "404")] == 1
    assert read["cigri_portal_requests_total", ("other", "404")] == 1
    assert read["cigri_portal_request_seconds_count", ()] >= 3


def test_strangers_read_no_figures(open_portal: Served) -> None:
    assert ask(open_portal, "/metrics")[0] == 401


def test_whoever_restarts_what_hangs_needs_no_token(open_portal: Served) -> None:
    assert ask(open_portal, "/healthz") == (200, "alive\n")


def test_a_grid_is_ready_while_it_works(open_portal: Served, database: Database, database_url: str) -> None:
    assert ask(open_portal, "/readyz") == (503, "no almighty\n")
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(HOLD_LIFE)
        assert ask(open_portal, "/readyz") == (503, "no module has made a pass for a minute\n")
        with database.begin() as noting:
            note_passes(noting)
        assert ask(open_portal, "/readyz") == (200, "ready\n")
        with database.begin() as other:
            other.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
        assert ask(open_portal, "/readyz") == (503, "the database has another schema\n")


def test_rules_and_dashboard_name_figures_that_there_are(busy: int, open_portal: Served, mint: Mint) -> None:
    scrape(open_portal, mint)
    there = {name for name, _ in scrape(open_portal, mint)}
    there.add("cigri_forecast_calibration_ratio")  # once campaigns have ended
    for file in (RULES, DASHBOARD):
        asked = set(re.findall(r"\bcigri_\w+", file.read_text()))
        assert asked
        assert asked <= there
    assert len({panel["title"] for panel in json.loads(DASHBOARD.read_text())["panels"]}) == 14


@pytest.mark.process
def test_alerts_come_when_they_should(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool: apt-get install prometheus")
    tests = tmp_path / "alerts.yml"
    tests.write_text(ALERTS.format(rules=RULES, **SUMMARIES))
    done = subprocess.run([promtool, "test", "rules", tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "prometheus.yml").write_text((ETC / "prometheus" / "scrape.yml").read_text().split("\n", 2)[2])
    checked = [promtool, "check", "config", "--syntax-only", str(tmp_path / "prometheus.yml")]
    assert subprocess.run(checked, capture_output=True, check=False).returncode == 0
