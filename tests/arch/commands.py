"""Which command asks which endpoint, found by what its file imports."""

import ast
import tomllib
from pathlib import Path

from cigri import endpoints
from modules.operator import module_of
from modules.operator.parsers import operator_commands

ROOT = Path(__file__).parents[2]
NAMES = {endpoint.name for endpoint in endpoints.list_endpoints()}
WORDS = {
    "add_tasks": "gridsub -c",
    "admit_nodes": "cigri cluster nodes --admit",
    "affinities": "cigri affinity list",
    "add_affinity": "cigri affinity add",
    "remove_affinity": "cigri affinity remove",
    "audit_trail": "gridevents --audit",
    "backend_options": "gridsub -b -h",
    "check_campaign": "gridsub --check",
    "check_stages": "gridsub --check",
    "set_grid_priority": "cigri campaign priority",
    "set_priority": "gridsub --priority",
    "resubmit_tasks": "gridsub --resubmit",
    "purge_campaign": "griddel --purge",
    "forget_campaign": "griddel --forget",
    "checkpoint_campaign": "griddel --checkpoint",
    "checkpoint_job": "griddel --checkpoint -j",
    "kill_job": "griddel -j",
    "hold_campaign": "gridhold",
    "release_campaign": "gridresume",
    "hold_job": "gridhold -j",
    "release_job": "gridresume -j",
    "fix_events": "gridevents --fix",
    "cluster_hours": "gridclusters -i",
    "cluster_usage": "gridclusters -u",
    "properties": "gridclusters -p",
    "eligible_queues": "gridclusters --where",
    "drain_nodes": "cigri cluster nodes --drain",
    "description": "gridstat -J",
    "replace_inputs": "gridsub -c --input",
    "campaign_inputs": "gridsub --resubmit",
    "parameters": "gridstat -J",
    "errors": "gridstat -e",
    "failures": "gridstat --failed",
    "latest_tasks": "gridstat -f",
    "tasks": "gridstat -f",
    "task": "gridstat -T",
    "task_by_id": "gridstat -T",
    "why": "gridstat --why",
    "replicas": "gridstat -f",
    "job": "gridstat -j",
    "outputs": "gridstat -j -O",
    "limits": "cigri limit list",
    "set_limit": "cigri limit set",
    "remove_limit": "cigri limit remove",
    "quotas": "cigri quota list",
    "set_quota": "cigri quota set",
    "remove_quota": "cigri quota remove",
    "targets": "cigri target list",
    "set_target": "cigri target set",
    "remove_target": "cigri target remove",
    "create_token": "gridtoken create",
    "get_tokens": "gridtoken list",
    "revoke_token": "gridtoken revoke",
    "add_key": "gridtoken keys add",
    "get_keys": "gridtoken keys list",
    "remove_key": "gridtoken keys remove",
    "create_challenge": "gridtoken create --ssh-key",
    "answer_challenge": "gridtoken create --ssh-key",
    "subscribe": "gridnotify ADDRESS",
    "subscribe_to_grid": "gridnotify --operator",
    "subscribe_to_campaign": "gridnotify -c",
    "subscriptions": "gridnotify",
    "unsubscribe": "gridnotify --unsubscribe",
    "new_secret": "gridnotify --secret",
    "used_work": "gridusage",
    "end_sessions": "gridweb --sign-out",
}
"""More of a command than its name, where that asks another endpoint or several."""


def commands_asking() -> dict[str, str]:
    """By endpoint its commands; those that no command asks are missing."""
    found: dict[str, list[str]] = {}
    for command, path in command_files().items():
        for name in asked_in(path):
            found.setdefault(name, []).append(command)
    return {name: WORDS.get(name) or ", ".join(sorted(commands)) for name, commands in found.items()}


def command_files() -> dict[str, Path]:
    """Every command of users, and every sub-command of operators, with the file that it begins in."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    users = {name: _file(entry.partition(":")[0]) for name, entry in scripts.items() if name != "cigri"}
    operators = {
        " ".join(["cigri", *words]): _file(".".join(["modules.operator", *map(module_of, words)]))
        for words in operator_commands()
    }
    return users | operators


def asked_in(path: Path, seen: frozenset[Path] = frozenset()) -> set[str]:
    """Endpoints that this file or one that it imports of cigri.cli and modules.operator names."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    found = set[str]()
    for node in nodes:
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        names = {alias.name for alias in node.names}
        if node.module == "cigri.endpoints":
            found |= {attribute.attr for attribute in attributes if ast.unparse(attribute.value) in names}
        elif node.module.startswith("cigri.endpoints."):
            found |= names
        elif node.module.startswith(("cigri.cli", "modules.operator")):
            below = {_file(name) for name in (node.module, *(f"{node.module}.{name}" for name in names))}
            for file in below - seen - {ROOT / "modules/operator/__init__.py"}:
                found |= asked_in(file, seen | below) if file.exists() else set()
    return found & NAMES


def _file(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
