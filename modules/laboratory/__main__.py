"""The laboratory as a program: a pickled question on its standard input, its answer in JSON on its standard output.

Who starts it has read the grid, and hands all of it over (cigri.submission.simulation_process).
"""

import gc
import json
import pickle
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cigri.errors import CigriError
from cigri.submission.simulation_process import SimulationRequest
from modules.laboratory.whatif import prepared_database
from modules.laboratory.whatif.plan import ProposedCampaign
from modules.laboratory.whatif.simulation import simulate_futures

TERMINATED = 143  # as a shell shows SIGTERM


def main() -> int:
    """Read a SimulationRequest from standard input; write what becomes of it, or an `error`, to standard output."""
    gc.freeze()  # what is imported is never garbage, and the runs, which are short, need not look for any
    gc.disable()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that its database ends with it
    with prepared_database.server() as directory:  # while they who ask still make up their minds
        question = pickle.load(sys.stdin.buffer)  # noqa: S301  # of whoever starts it, and may do all that it may
        answer = _answer(directory, question)
    json.dump(answer, sys.stdout)
    return 0


def _answer(directory: Path, question: SimulationRequest) -> dict[str, Any]:
    prospects = [ProposedCampaign(*order) for order in question.orders]
    try:
        report = simulate_futures(directory, question.picture, question.settings, prospects, _progress())
    except CigriError as error:
        return {"error": str(error)}
    else:
        campaigns = []
        for foresight in report.campaigns:
            ends = {name: report.when(getattr(foresight, name)) for name in ("low", "expected", "high")}
            dates = {f"{name}_end": end.isoformat() if end else None for name, end in ends.items()}
            campaigns.append(foresight._asdict() | dates)
        return {"at": report.at.isoformat(), "campaigns": campaigns, "closed": report.closed, "ahead": report.ahead}


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
