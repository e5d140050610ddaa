"""Requests that schemathesis makes of what /openapi.json says, over a real portal: no answer that it does not say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cigri.database import Database
from cigri.identity.callers import AccessScope
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.portal.conftest import Mint, Served

ROOT = Path(__file__).parents[2]
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
EACH = 4  # requests of each endpoint, beside all that lie at the bounds of its parameters


@pytest.mark.process
def test_it_answers_as_it_says(open_portal: Served, database: Database, mint: Mint, tmp_path: Path) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, options={"spool": "/nowhere"})
        campaign = a_campaign(conn, 5, user="nobody")
        ended, runs = submitted_jobs(conn, campaign, cluster, 2)
        run_jobs(conn, [ended, runs])
        end_jobs(conn, cluster, [ended])
    place = f"http://127.0.0.1:{open_portal.port}/openapi.json"
    token = mint(scope=AccessScope.OPERATE)
    assert open_portal.get("/openapi.json").status == 200  # made once; on a busy host that is longer than 10 s
    argv = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        place,
        "--header",
        f"Authorization: Bearer {token}",
    ]
    argv += ["--checks", ",".join(CHECKS), "--max-examples", str(EACH), "--seed", "1", "--no-shrink"]
    argv += ["--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all", "--warnings", "off"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "tests.portal.lines_of_json", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
