"""A grid of its own in a temporary directory, made by `cigri up` and ended by `cigri down`, and what is done on it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from cigri.database import Database, embedded
from cigri.flow.grid_identity import grid_key
from cigri.settings.cluster_config import ClusterConfig

PROGRAMS = Path(sys.executable).parent
BUSY = {"poll_interval": 0.5, "keep_waiting": 1000, "n_max_queued_jobs": 1000, "max_waiting": 1000}
"""What an operator sets for very many tiny tasks: the queue of the cluster never runs dry."""
LOOK = 0.02  # seconds between two looks at a campaign


class Ground:
    """`environment` carries the settings; the commands of CiGri are run as a user runs them."""

    def __init__(self, directory: Path, settings: Mapping[str, object]) -> None:
        self.directory = directory
        self.environment = {**os.environ, "CIGRI_SET_DATA_DIRECTORY": str(directory)}
        self.environment |= {f"CIGRI_SET_{name.upper()}": str(value) for name, value in settings.items()}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # it would compile all of CiGri with each command
        self.run("cigri", "up", "--no-almighty")
        self.database = Database(embedded.url(directory / "database"))

    def run(self, program: str, *words: str) -> str:
        """The output of a command of CiGri; raise when it fails."""
        done = subprocess.run(
            [str(PROGRAMS / program), *words], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(words)}: {done.stderr}")
        return done.stdout

    def start(self) -> None:
        """Let the almighty cycle; the first cycle is over when this returns."""
        self.run("cigri", "up")

    def change(self, cluster: str, settings: Mapping[str, object]) -> None:
        self.run("cigri", "cluster", "change", cluster, *_options(settings))

    def describe(self, name: str, **fields: Any) -> str:
        """A campaign's description in a file."""
        path = self.directory / f"{name}.json"
        path.write_text(json.dumps({"name": name, "clusters": {"localhost": {}}, "exec_file": "/bin/true", **fields}))
        return str(path)

    def submit(self, description: str) -> int:
        return int(self.run("gridsub", description).rpartition("CAMPAIGN_ID=")[2])

    def time_campaign(self, description: str, seconds: float = 1800) -> float:
        """From the start of gridsub to the end of the campaign, each of whose tasks must be done."""
        started = time.perf_counter()
        campaign_id = self.submit(description)
        self.wait_for(campaign_id, seconds)
        taken = time.perf_counter() - started
        undone = self.one("SELECT count(*) FROM tasks WHERE campaign_id = :id AND state <> 'done'", id=campaign_id)
        if undone:
            raise RuntimeError(f"{undone} tasks of campaign {campaign_id} are not done")
        return taken

    def wait_for(self, campaign_id: int, seconds: float = 300) -> None:
        """Until the campaign has ended."""
        deadline = time.perf_counter() + seconds
        while self.one("SELECT state::text FROM campaigns WHERE id = :id", id=campaign_id) != "terminated":
            if time.perf_counter() > deadline:
                raise RuntimeError(f"campaign {campaign_id} has not ended in {seconds:.0f} s")
            time.sleep(LOOK)

    def one(self, statement: str, **values: object) -> Any:
        with self.database.begin() as conn:
            return conn.execute(text(statement), values).scalar_one()

    def end(self) -> None:
        """Nothing is left, neither here nor in the home, where clusters keep the files of jobs."""
        with self.database.begin() as conn:
            key = grid_key(conn)
        self.database.close()
        self.run("cigri", "down", "--jobs", "kill")
        shutil.rmtree(Path.home() / ClusterConfig.model_fields["directory"].default / key, ignore_errors=True)


@contextmanager
def ground(**settings: object) -> Iterator[Ground]:
    """Settings by the names of their variables, e.g. almighty__period=1."""
    with tempfile.TemporaryDirectory(prefix="cigri-bench-") as name:
        grid = Ground(Path(name), settings)
        try:
            yield grid
        finally:
            grid.end()


def _options(settings: Mapping[str, object]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
