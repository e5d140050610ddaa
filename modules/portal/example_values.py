"""What examples in OpenAPI say, by the name of a field or parameter, or by `Model.field` and `operation.parameter`.

All of them tell of one grid: campaign 1, `ising`, of alice, half way through its thousand tasks on the cluster dahu.
"""

from collections.abc import Mapping
from typing import Any

from cigri.jdl.json_schema import EXAMPLE_DESCRIPTION

SUBMITTED, STARTED, SEEN, LATER = (f"2026-10-01T{at}+00:00" for at in ("08:00:00", "08:01:10", "09:30:00", "11:15:00"))
TOMORROW, NEXT_YEAR = "2026-10-02T08:00:00+00:00", "2027-10-01T08:00:00+00:00"
FILE_CONTENT = "test"
DIGEST, NONCE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "n" * 43
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB laptop"
SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
CONFIG = {"driver": "slurm", "host": "dahu.example.org"}
REQUIRED = {"cores": 4, "mem": 2_000_000_000}

ENUMS: Mapping[str, str] = {
    "AfterWhen": "success",
    "CampaignState": "in_treatment",
    "EventLevel": "error",
    "JobState": "running",
    "PendingReasonCode": "full",
    "QueueRejectCode": "too_small",
    "Severity": "medium",
    "StepState": "done",
    "TaskState": "done",
}
"""The word of a schema of words, where the first one is not it."""

NULL = frozenset(
    [
        "anywhere",
        "archived_at",
        "away_since",
        "behind",
        "blocked_until",
        "checkpoint_asked_at",
        "checkpoint_heard_at",
        "closed_at",
        "closed_by",
        "drained_by",
        "ended_at",
        "error",
        "exit_code_means",
        "expected_end",
        "fallback_because",
        "group",
        "halted_since",
        "held_at",
        "held_by",
        "kill",
        "kill_asked_by",
        "max_replicas",
        "mode",
        "notify",
        "on_any",
        "paused_until",
        "purged_at",
        "removed_at",
        "replaced_at",
        "replicate",
        "revoked_at",
        "said",
        "set_aside_until",
        "why_missing",
    ]
)
"""What is null, where it may be: it has not come to that, or need not be said."""

TRUE = frozenset(
    [
        "has_almighty",
        "has_begun",
        "has_list",
        "is_below_home",
        "is_eligible",
        "is_enabled",
        "is_operator",
        "is_stored",
        "is_used",
        "is_valid",
        "is_own",
        "may_be_made",
        "resubmit",
        "done",
        "with_ended",
    ]
)
"""What is true; all others are false."""

VALUES: Mapping[str, Any] = {
    # who, where, which
    **{"user": "alice", "grid_user": "alice", "local_user": "alice", "account": "alice", "asked_by": "alice"},
    **{"by": "alice", "project": "physics", "name": "ising", "cluster": "dahu", "queue": "default"},
    **{"place": "default@dahu", "subject": "cluster dahu", "host": "localhost", "site": "grenoble"},
    **{"node": "dahu-3", "nodes": ["dahu-3"], "names": ["dahu"], "clusters": ["dahu"], "driver": "slurm"},
    **{"remote_name": "default", "remote_id": "4711", "tag": "cigri-k3v9-1", "title": "output", "how": "unix socket"},
    **dict.fromkeys(("id", "campaign_id", "job_id", "task_id", "number", "task_number", "task", "batch_id"), 1),
    **dict.fromkeys(("key_id", "token_id", "ssh_key_id", "session_id", "subscription_id", "last_job", "version"), 1),
    **{"array_index": 1, "position": 0, "attempt": 1, "attempts": 1, "inputs_version": 1, "job_type": "best-effort"},
    **{"campaigns": "1", "ids": "1", "numbers": "0-9", "next": 100, "before": 1000, "after": 0, "limit": 100},
    # how many
    **{"total": 1000, "done": 400, "failed": 3, "cancelled": 0, "blocked": 0, "assigned": 97, "waiting": 500},
    **{"running": 90, "to_launch": 0, "held": 0, "suspended": 0, "errors": 3, "resubmitted": 2, "doubted": 0},
    **{"collected": 0, "uncollected": 0, "uncollected_bytes": 0, "lost": 0, "live": 0, "begun": 0, "won": 0},
    **{"burnt": 0.0, "profiled": 400, "times": 1, "tasks": 1000, "jobs": 100, "first": 0, "last": 999},
    **{"added": 10, "capacity": 5, "used": 64, "used_by_us": 32, "free": 128, "unavailable": 8, "most": 200},
    **{"others": 32, "ours": 32, "down": 8, "strikes": 3, "failures": 0, "sent": 2, "taken": 1, "ended": 1},
    **{"fixed": 1, "chosen": 3, "open_global": 1, "stalled": 0, "passes": 5400, "buckets": 1, "eligible": 1},
    **{"queues": 1, "dropped": 0, "cut": 0, "runs": 100, "together": 97, "unfinished": 0, "ahead": 0, "left": 600},
    **{"not_done": 3, "tolerated": 5, "recalled": 0, "replaced": 1, "intervals": 12, "commands": 320, "keep": 8},
    **{"width": 4, "size": 2048, "bytes": 2048, "offset": 0, "files": 2, "clock_skew": 0, "live_jobs": 97},
    # how much, and how long
    **{"cpu": 500.0, "most_cpu": 700.0, "busy": 3.6, "bytes_read": 1e6, "most_read": 2e6, "bytes_written": 4e6},
    **{"most_written": 8e6, "mean": 600.0, "deviation": 60.0, "median": 590.0, "p95": 720.0, "throughput": 340.0},
    **{"pressure": 0.2, "calibration": 0.92, "pace": 1.0, "age": 4.5, "seconds": 612.0, "visited": 4.0, "period": 60},
    **{
        "halted_seconds": 0.0,
        "stuck": 0,
        "peak_memory": 746_586_112,
        "most_memory": 746_586_112,
        "asked_memory": 209_715_200,
    },
    **{"share": 2.0, "core_hours": 10_000.0, "cores": 100, "used_core_hours": 1200.0, "used_cores": 32, "used_jobs": 8},
    **{"days": 30, "within": 30, "hours": 24, "ended_within": 7, "asked": 66.0, "well": 64.0, "replicas": 0.5},
    **{"core_seconds": 230_400.0, "expected": 7200.0, "low": 6600.0, "high": 8100.0, "tolerance": 0.01},
    **{"walltime": 1800, "mem": "2GB", "max": "100 MB", "checkpoint_cost": 4.0, "checkpoint_life": 7200.0},
    **{"checkpoint_period": 240, "draining_waste": 10.0, "enforced_time": 60.0, "kill_waste": 200.0},
    **{"remaining_time": 900.0, "expires_in": 86_400, "budget": "10 %", "priority": 0, "own_priority": 0},
    # when
    **dict.fromkeys(("submitted_at", "created_at", "opened_at", "published", "updated_at"), SUBMITTED),
    **dict.fromkeys(("started_at", "since"), STARTED),
    **dict.fromkeys(("now", "at", "visited_at", "examined_at", "last_at", "last_used_at", "last_sent_at"), SEEN),
    **{"moments": [STARTED, SEEN], "eta": LATER, "eta_low": SEEN, "eta_high": TOMORROW, "ends_at": LATER},
    **{"low_end": SEEN, "high_end": TOMORROW, "until": TOMORROW, "expires_at": NEXT_YEAR, "opens_until": SEEN},
    **{"files_until": NEXT_YEAR, "starts_at": LATER, "day": "2026-10-01T00:00:00+00:00"},
    # words
    **{"state": "running", "status": 404, "code": "TASK_FAILED", "reason": "node_failure", "result": "works"},
    **{"exit_code": 0, "message": "task 7 failed: exit 3", "detail": "no campaign 9; `gridstat -a` lists all"},
    **{"details": [], "hint": "", "comment": "a laptop", "rule": "*,*,all,/", "kind": "user", "type": "best-effort"},
    **{"explanation": "all its cores are in use", "why": "all its cores are in use", "stress": "", "means": None},
    **{"because": "its partition is a power of two", "default_scheduler": "lean", "served_by": "lean"},
    **{"scheduler": "lean", "stderr_ends": "no such file", "durations": "as measured", "module": "runner"},
    **{"endpoint": "hold_campaign", "digest": DIGEST[:16], "wanted": "cores >= 64", "found": "32", "shown": "32"},
    **{"value": 32, "source": "seen", "unreadable": "", "parameter": "2.1 7", "parameters": "2.1", "grid": "k3v9"},
    **{"address": "mail:alice@example.org", "target": "alice@example.org", "note": "", "attribute": "constraint"},
    **{"option": "--constraint", "overrides": "", "meaning": "Features that the nodes have.", "where": "cores>=4"},
    **{"sentences": ["The cluster dahu does not answer since 09:12."], "notes": [], "changes": [], "problems": []},
    **{"missing": [], "warnings": [], "doubts": [], "drained_nodes": [], "sick_nodes": [], "tags": ["END", "ERROR"]},
    **{"stream": "out", "streams": ["out"], "content": "energy -1.74\n", "text": "energy -1.74\n", "order": "id"},
    **{"apart": "day,user", "backend": ["--constraint=ssd"], "lines": [1], "Prefer": "wait=10", "search": "/opt/bin"},
    **{"Idempotency-Key": "7c1f0a52-ising-1", "file": "0/results/a.csv", "sent_from": "/home/alice/ising"},
    # files and keys
    **{"path": "solve.py", "to": "solve.py", "sha256": DIGEST, "sums": [DIGEST], "wrong": [], "task_inputs": DIGEST},
    **{"secret": "cgw_" + NONCE, "token": "cgr_1_" + NONCE, "nonce": NONCE, "signature": SIGNATURE, "mode": "0640"},
    **{"public_key": PUBLIC_KEY, "fingerprint": "SHA256:" + NONCE, "url": "http://127.0.0.1:8080/sign-in#" + NONCE},
    **{"command": "~/ising/run 2.1 7", "by_hand": "cd ~/ising && ./run 2.1 7", "directory": "$HOME/ising"},
    **{"last_command": "./run 2.4 100", "last_directory": "$HOME/ising", "directories": ["$HOME/ising"]},
    # things of several parts
    **{"config": CONFIG, "settings": {"exec_file": "~/ising/run", "walltime": 1800}, "described": EXAMPLE_DESCRIPTION},
    **{"requirements": REQUIRED, "requires": REQUIRED, "resources": REQUIRED, "given": REQUIRED, "anywhere": None},
    **{"counts": {"done": 9, "failed": 1}, "cluster_hours": {}, "sessions": {"runner": 1}, "closed": {}, "events": {}},
    **{"shares": {"dahu": 1.0}, "failed_before": {"dahu": 2}},
}

OTHERWISE: Mapping[str, Any] = {
    **{"after": "", "nodes": 16, "sessions": 1, "sums": DIGEST, "fallback_because": "", "why_missing": ""},
}
"""The same of names that are of two types; a page that begins behind nothing is the first one."""

OVERRIDES: Mapping[str, Any] = {
    "ActionResult.message": "",
    "ActionResult.details": "",
    "After": "1:success",
    "AuditEntry.asked": {"campaign_id": 1, "cluster": "dahu"},
    "CampaignInputs.sent_from": "/home/alice/ising",
    "CampaignPreview.after": [],
    "CampaignPreview.notify": ["[END,ERROR]mail:alice@example.org"],
    "CampaignPreview.type": "default",
    "CampaignSimulationView.core_hours": {"dahu": 166.7},
    "ChangeConfirmation.message": "campaign 1 is held",
    "CheckpointSettings": {"signal": "USR2", "before_walltime": "5m", "period": "30m"},
    "CheckpointSettings.period": "30m",
    "ClusterCoresSeries.cores": [0, 64],
    "ClusterDayReport.state": "enabled",
    "ClusterExplanation.state": "full",
    "ClusterPreview.commands": ["./run 2.0 1"],
    "ClusterStatus.state": "enabled",
    "CollectSettings": {"to": "./results/{number}", "max": "100 MB", "keep": "7d"},
    "CreateLinkBody.scope": "submit",
    "DependencyView.tasks": "all",
    "DependencyView.state": "waits",
    "DrainClusterBody.by": "+2h",
    "DrainNodesBody.by": "+2h",
    "EventView.exit_code": 3,
    "EventView.outcome": "failure",
    "found_tasks.order": "number",
    "found_tasks.state": "failed",
    "send_input.size": len(FILE_CONTENT),
    "submit_stages.Idempotency-Key": "7c1f0a52-stages-1",
    "FailureGroup.exit_code": 3,
    "FailureGroup.number": 2,
    "FailureGroup.outcome": "failure",
    "FailureGroup.tasks": [7, 9],
    "FixEventsBody.ids": "",
    "GridMetrics.campaigns": {"in_treatment": 1},
    "GridMetrics.tasks": {"done": 400, "waiting": 500},
    "HealthCheck.rule": "Each task is in one state.",
    "HealthCheck.details": [],
    "HoldCampaignBody.cluster": "dahu",
    "JobResources": "/nodes=1/cores=4",
    "OutputsMode": {"group": "physics", "mode": "0640"},
    "ProblemDetails.problems": None,
    "ProblemDetails.title": "Not Found",
    "ProblemDetails.type": "/problems/NotFound",
    "ProblemLocation.message": "Input should be greater than or equal to 1",
    "ProblemLocation.place": "query.limit",
    "PoolView.requirements": REQUIRED,
    "QuotaView.core_hours": None,
    "ReplaceInputsBody.inputs": [["solve.py", DIGEST]],
    "ReplicationSettings": {"budget": 0.1, "max_replicas": 2},
    "ResubmitTasksBody.inputs": None,
    "ResubmitTasksBody.tasks": [[0, 9]],
    "ResubmitTasksBody.walltime": "2h",
    "ResubmittedTasks.inputs": None,
    "SetLimitBody.name": "matlab",
    "SetTargetBody.name": "alice",
    "RemoveLimitBody.name": "matlab",
    "RemoveTargetBody.name": "alice",
    "TaskOutputSummary.state": "done",
    "ThroughputHistory.done": [12, 30, 28],
    "WaitingJobs.jobs": 30,
    "WaitingJobs.meaning": "jobs with a higher priority go first",
    "WaitingJobs.said": "Priority",
    "UsedWork.day": "2026-10-01T00:00:00+00:00",
    "accounting.since": "2026-09-01",
    "accounting.until": "2026-10-01",
    "campaigns.name": "ising",
    "campaigns.state": "in_treatment",
    "used_work.since": "2026-09-01",
    "used_work.type": "best-effort",
    "used_work.until": "2026-10-01",
}
"""Where a name means something else."""
