"""Sessions that give way: where processors are short, the server works for others first."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import event

from cigri.database import Database

SERVER_NAME = "postgres"
"""What the kernel calls its processes."""


def give_way(database: Database, niceness: int) -> None:
    """Of connections that are yet to be made, where the server is the embedded one: another account's is left alone."""
    event.listen(database.engine, "connect", partial(_make_nice, niceness))


def _make_nice(niceness: int, connection: Any, _record: object) -> None:
    pid = connection.info.backend_pid
    with suppress(OSError):
        if connection.info.host.startswith("/") and Path(f"/proc/{pid}/comm").read_text().startswith(SERVER_NAME):
            os.setpriority(os.PRIO_PROCESS, pid, niceness)
