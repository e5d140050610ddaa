"""A driver of each kind, as its shipped options make it."""

from typing import Any

from cigri.drivers import load

OPTIONS: dict[str, dict[str, Any]] = {"local": {"spool": "/var/spool/cigri"}}
DRIVERS = {name: load(name, OPTIONS.get(name, {})) for name in ("slurm", "gridengine", "oar", "local")}
