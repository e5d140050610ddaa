"""What commands show of a grid of large numbers and long names, by the width of the terminal."""

from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cigri.api_models.campaigns import CampaignClusterStatus, CampaignClusterView, CampaignDetail, CampaignView
from cigri.api_models.clusters import ClusterView
from cigri.api_models.failures import ErrorView
from cigri.api_models.tasks import TaskView
from cigri.cli import campaigns, clusters, jobs
from cigri.cli.watching import WatchSnapshot, drawn
from cigri.presentation.cluster_status import status_of
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from cigri.states import CampaignState, CampaignType, JobState, Outcome, StepState, TaskState
from tests.cli.running import Terminal

WIDTHS = (80, 100, 120, 200)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LARGE = CampaignView(
    id=12,
    name="povray",
    user="alice",
    project="",
    type=CampaignType.DEFAULT,
    state=CampaignState.IN_TREATMENT,
    submitted_at=NOON - timedelta(hours=3),
    ended_at=None,
    archived_at=None,
    blocked=0,
    waiting=279950,
    assigned=47,
    done=20000,
    failed=3,
    cancelled=0,
    errors=3,
    throughput=6667.0,
    mean=65.0,
    deviation=12.5,
    median=62.0,
    p95=88.0,
    eta=NOON + timedelta(hours=42, minutes=10),
    eta_low=NOON + timedelta(hours=40),
    eta_high=NOON + timedelta(hours=47),
    is_held=False,
    held_by=None,
    held_at=None,
    scheduler="",
    max_replicas=None,
    published=None,
    pressure=None,
    priority=0,
    own_priority=0,
    total=300000,
    running=34,
    has_failed_epilogue=False,
    served_by="",
    uncollected=0,
    uncollected_bytes=0,
    collected=0,
    lost=0,
)
LONG = LARGE._replace(
    id=1234567, name="parameter study of a long named mesh, second try", user="bernadette", errors=0, running=0
)
PART = CampaignClusterView(
    campaign_id=12,
    cluster="dahu",
    to_launch=3,
    waiting=10,
    running=34,
    prologue=StepState.NONE,
    epilogue=StepState.NONE,
    lacks_inputs=False,
    outputs_wait=False,
    done=20000,
    failed=3,
    resubmitted=117,
    width=2,
    profiled=20000,
    cpu=61.5,
    most_cpu=88.0,
    busy=0.95,
    bytes_read=1.2e9,
    most_read=1.3e9,
    bytes_written=2.5e6,
    most_written=4e6,
    most_memory=None,
    asked_memory=None,
    throughput=6667.0,
    mean=65.0,
    deviation=12.5,
    median=62.0,
    p95=88.0,
    set_aside_until=None,
    why=None,
    is_enabled=True,
    paused_until=None,
    free=120,
    fallback_because="",
    drained_by=None,
    is_held=False,
    held=0,
    suspended=0,
    job_type="best-effort",
    walltime=3600,
    doubted=0,
    is_sink=False,
    is_barred=False,
    cluster_hours={},
)
NEVER = PART._replace(
    to_launch=0,
    waiting=0,
    running=0,
    done=0,
    failed=0,
    resubmitted=0,
    throughput=None,
    mean=None,
    deviation=None,
    profiled=0,
    cpu=None,
    most_cpu=None,
    busy=None,
    bytes_read=None,
    most_read=None,
    bytes_written=None,
    most_written=None,
)
AWAY = NEVER._replace(cluster="luke", prologue=StepState.WAITING, is_enabled=False)
SHARES = [CampaignClusterStatus(part, run_status(LARGE, part, NOON, Settings())) for part in (PART, AWAY)]
WHOLE = CampaignDetail(LARGE, None, 0, "", SHARES, [], [], [], None)
TASK = TaskView(
    id=1,
    campaign_id=12,
    number=0,
    parameter={"seed": 1, "model": "square lattice"},
    state=TaskState.DONE,
    attempts=1,
    job_id=20041,
    job_state=JobState.ENDED,
    cluster="dahu",
    remote_id="1234567_1",
    outcome=Outcome.SUCCESS,
    exit_code=0,
    started_at=NOON,
    seconds=65.4,
    node="dahu-17",
    is_halted=False,
)
FAILED = TASK._replace(number=20000, state=TaskState.FAILED, outcome=Outcome.FAILURE, exit_code=137, attempts=3)
ERROR = ErrorView(
    345, "TASK_FAILED", 12, "alice", "dahu", 20041, 7, 1, NOON, NOON, "failure, exit code 5; stderr ends: boom"
)
CLUSTER = ClusterView(
    id=1,
    name="dahu",
    config={"driver": "slurm", "ssh": {"host": "dahu.example.org"}},
    is_enabled=True,
    paused_until=None,
    visited_at=NOON,
    total=2048,
    free=120,
    used=1900,
    used_by_us=34,
    unavailable=28,
    waiting=10,
    running=34,
    away_since=None,
    why=None,
    drained_by=None,
    sick_nodes=[],
    drained_nodes=[],
    pace=1.0,
    stress="",
)
GONE = CLUSTER._replace(
    id=2,
    name="luke",
    config={"driver": "oar", "ssh": {"host": "luke.example.org"}},
    paused_until=NOON + timedelta(minutes=5),
    away_since=NOON,
    why="ssh: connect to host luke.example.org port 22: Connection timed out",
)
STATUSES = [status_of(cluster) for cluster in (CLUSTER, GONE)]


def screen(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """All of it, one below the other."""
    monkeypatch.setenv("COLUMNS", str(width))
    looks = [WatchSnapshot(LARGE, NOON), WatchSnapshot(LONG, NOON)]
    shown: dict[str, Callable[[], None]] = {
        "gridstat": lambda: campaigns.print_list([LARGE, LONG], NOON, False),
        "gridstat -s": lambda: campaigns.print_summary([LARGE, LONG], NOON, False),
        "gridstat 12": lambda: campaigns.print_campaign(WHOLE, None, NOON, False),
        "gridstat -f 12": lambda: jobs.print_tasks([TASK, FAILED], False),
        "gridstat -e": lambda: campaigns.print_errors([ERROR], False),
        "gridstat -w": lambda: print("\n".join(drawn(looks, width))),
        "gridclusters": lambda: clusters.print_list(STATUSES, False),
    }
    terminal = Terminal()
    with redirect_stdout(terminal):
        for command, show in shown.items():
            print(f"$ {command}")
            show()
            print()
    return terminal.getvalue()


def stored(width: int) -> Path:
    return Path(__file__).with_name(f"{width}.txt")
