"""The laboratory as a program: campaigns in JSON on its standard input, what would become of them on its output.

`gridsub --simulate` starts it. The grid is that of this installation, and is only read.
"""

import gc
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cigri import installation
from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow.known_tasks import KnownPast
from cigri.flow.submissions import NewCampaign, NewCampaignCluster
from cigri.settings.loading import load
from cigri.states import CampaignType
from modules.laboratory.whatif import prepared
from modules.laboratory.whatif.foresight import foresee
from modules.laboratory.whatif.plan import Prospect

TERMINATED = 143  # as a shell shows SIGTERM


def main() -> int:
    """Read prospects as JSON from standard input; write what becomes of them, or an `error`, to standard output."""
    gc.freeze()  # what is imported is never garbage, and the runs, which are short, need not look for any
    gc.disable()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that its database ends with it
    with prepared.server() as directory:  # while they who ask still make up their minds
        answer = _answer(directory, [_order(values) for values in json.load(sys.stdin)])
    json.dump(answer, sys.stdout)
    return 0


def _answer(directory: Path, orders: list[Prospect]) -> dict[str, Any]:
    database = Database(installation.find_database())
    try:
        report = foresee(directory, database, load(), orders, _progress())
    except CigriError as error:
        return {"error": str(error)}
    else:
        campaigns = []
        for foresight in report.campaigns:
            ends = {name: report.when(getattr(foresight, name)) for name in ("low", "expected", "high")}
            dates = {f"{name}_end": end.isoformat() if end else None for name, end in ends.items()}
            campaigns.append(foresight._asdict() | dates)
        return {"at": report.at.isoformat(), "campaigns": campaigns, "closed": report.closed, "ahead": report.ahead}
    finally:
        database.close()


def _order(values: dict[str, Any]) -> Prospect:
    campaign = values["campaign"]
    parts = {name: NewCampaignCluster(**part) for name, part in campaign["clusters"].items()}
    new = NewCampaign(**campaign | {"type": CampaignType(campaign["type"]), "clusters": parts})
    return Prospect(new, values["tasks"], KnownPast(**values["known"]))


def _progress() -> Callable[[int, int], None]:
    """One line that is written over, on a terminal only."""
    begun = time.monotonic()
    width = shutil.get_terminal_size().columns - 1

    def show(done: int, runs: int) -> None:
        text = f"simulated {done} of {runs} times in {time.monotonic() - begun:.0f} s" if done < runs else ""
        sys.stderr.write(f"\r{text[:width]:{width}}\r")
        sys.stderr.flush()

    return show if sys.stderr.isatty() else lambda *_: None


if __name__ == "__main__":
    sys.exit(main())
