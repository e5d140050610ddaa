"""A user's wish for a checkpoint: a file beside the running job, which its wrapper removes when it signals the task."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.journal import JobKey
from cigri.wrapper.read_limits import WRITE_NEW


class CheckpointRequestFile(NamedTuple):
    """`is_new`: to be put there; else only looked for."""

    key: JobKey
    is_new: bool


class CheckpointRequestState(StrEnum):
    """What became of a wish. ABSENT: the job has not started, or its directory is gone; UNWRITTEN: a full disk."""

    WAITING = "waiting"
    HEARD = "heard"
    ABSENT = "absent"
    UNWRITTEN = "unwritten"


HEAD, FOOT = "cigri-checkpoint 1", "cigri-checkpoint end"


def ask_checkpoints(base: str, wishes: Sequence[CheckpointRequestFile]) -> str:
    """sh text that puts the new wishes there and prints what became of each."""
    calls = "".join(
        f"cigri_ask {wish.key.campaign_id:d} {wish.key.batch_id:d} {wish.key.index:d} {int(wish.is_new)}\n"
        for wish in wishes
    )
    return f"""\
cigri_base={base}
{WRITE_NEW}cigri_ask() {{
    cigri_batch=$cigri_base/c$1/b$2
    if [ ! -e "$cigri_batch/journal.$3" ]; then
        echo {CheckpointRequestState.ABSENT}
    elif [ "$4" -eq 1 ] && ! cigri_write_new "$cigri_batch/checkpoint.$3" ''; then
        echo {CheckpointRequestState.UNWRITTEN}
    elif [ "$4" -eq 1 ] || [ -e "$cigri_batch/checkpoint.$3" ]; then
        echo {CheckpointRequestState.WAITING}
    else
        echo {CheckpointRequestState.HEARD}
    fi
}}
echo '{HEAD}'
{calls}echo '{FOOT}'
"""


def parse_checkpoints(answer: ShellResult, wishes: Sequence[CheckpointRequestFile]) -> list[CheckpointRequestState]:
    """One for each wish, in their order; raise UnreadableOutput when the answer is not whole."""
    head, *words, foot, end = answer.out.split("\n") if answer.out.count("\n") > 1 else ("", "", "")
    whole = answer.status == 0 and (head, foot, end) == (HEAD, FOOT, "") and len(words) == len(wishes)
    if not whole or not set(words) <= set(CheckpointRequestState):
        said = f"(exit status {answer.status}): {excerpt(answer.err)!r}"
        raise UnreadableOutput(f"whether jobs were asked for checkpoints is not known {said}")
    return [CheckpointRequestState(word) for word in words]
