"""Exit codes in words for people: of commands, and of tasks. What they mean for a task: cigri/lifecycle/verdicts.py."""

import signal

UNLESS_ITS_OWN = "unless the program itself ends so"
OF_COMMANDS = {
    0: "done",
    1: "something failed, or is wrong; standard error says what, and what to do next",
    2: "the command line or a setting is wrong, and nothing was done",
    130: "interrupted",
    141: "nobody reads what it writes any more",
}
OF_TASKS = {
    0: "the task is done",
    66: "start it again",
    67: "start it again after all others",
    99: "its state is saved: continue it, where the campaign has `checkpoint` or `idempotent`",
}
EXPLAINED = {
    71: f"one of its outputs, which the campaign names, was not there when it had ended, {UNLESS_ITS_OWN}",
    72: f"its directory could not be made or entered on the node, {UNLESS_ITS_OWN}",
    73: f"CiGri could make no scratch directory or no output file there: is a disk or quota full? ({UNLESS_ITS_OWN})",
    74: f"CiGri could not write down what became of it: is a disk or quota full? ({UNLESS_ITS_OWN})",
    75: f"CiGri ran nothing: the job had been started before, or was withdrawn, {UNLESS_ITS_OWN}",
    76: f"CiGri ran nothing: the job had been started before, and that start is over, {UNLESS_ITS_OWN}",
    77: f"CiGri ran nothing: the grid's own directory is not on the node; is the home there? ({UNLESS_ITS_OWN})",
    78: f"CiGri ran nothing: the batch system gave the job no array index, {UNLESS_ITS_OWN}",
    126: "the program is there, but cannot be executed: is it a program, with `chmod +x` and a right first line?",
    127: "the program was not found on the node: is `exec_file` right there, and what it calls in its PATH?",
    137: "killed by SIGKILL: often because it used too much memory, or by the batch system at its walltime",
    143: "ended by SIGTERM: by the batch system, often at the walltime or to make room, or by a person",
}


def explain(exit_code: int | None) -> str | None:
    """A sentence; None where the code is the program's own business."""
    if exit_code is None or exit_code in EXPLAINED:
        return EXPLAINED.get(exit_code or 0)
    try:
        return f"killed by {signal.Signals(exit_code - 128).name}" if exit_code > 128 else None
    except ValueError:
        return None
