"""`gridstat -j JOB -O -E`: what a job wrote, as it is."""

import sys
from typing import TYPE_CHECKING

from cigri.cli.command import complain, safe
from cigri.formats.units import localised

if TYPE_CHECKING:
    from cigri.api_models.jobs import JobOutputs


def print_outputs(job_id: int, answer: "JobOutputs") -> int:
    """Print each output, under a title where there are several; 1 when one of them is missing."""
    has_titles = len(answer.outputs) > 1
    for output in answer.outputs:
        if output.text is None:
            complain(f"job {job_id}: {output.title}: {localised(answer.why_missing)}")
            continue
        if has_titles:
            print(f"==> {output.title} <==")
        if output.is_cut:
            complain("only the end of it is shown")
        _write(output.text, ends_line=has_titles)
    return int(any(output.text is None for output in answer.outputs))


def _write(text: str, *, ends_line: bool) -> None:
    sys.stdout.write(safe(text) if sys.stdout.isatty() else text)
    if ends_line and text and not text.endswith("\n"):
        sys.stdout.write("\n")
