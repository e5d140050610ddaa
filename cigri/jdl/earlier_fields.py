"""Fields of earlier CiGris in a description: what they mean here, or that nothing comes of them yet."""

from collections.abc import Callable, Mapping
from typing import Any

from cigri.errors import DescriptionProblem
from cigri.jdl.problems import place_of, shown
from cigri.jdl.value_types import truth
from cigri.outputs.destination import NOTHING_WORDS

Block = Mapping[str, Any]

# What no campaign can ask for yet, and its name for a person; only CiGri 3's ways to say "nothing" are taken.
FIELDS_OF_LATER = {
    "checkpointing_type": "checkpointing by software of the cluster",
    "checkpointing_period": "checkpointing by software of the cluster",
    "data_to_transfer": "the first CiGri's staging",
    "transfer_timeout": "the first CiGri's staging",
    "desktop_computing": "desktop computing",
}
FIELDS_INSTEAD = {
    **dict.fromkeys(
        ("checkpointing_type", "checkpointing_period"), "write 'checkpoint' for a program that saves its state itself"
    ),
    **dict.fromkeys(
        ("data_to_transfer", "transfer_timeout"), "name files in 'inputs', and those of each task in 'task_inputs'"
    ),
}
GATHERING, DESTINATION = "output_gathering_method", "output_destination"
GATHERING_METHODS = ("scp", "collector")
"""Of CiGri 3, where they are stored and nothing comes of them; here each means `collect`."""


def is_test(top: Block, blocks: Mapping[str, Block], problems: list[DescriptionProblem]) -> bool:
    """CiGri 3's test_mode: it may stand in the clusters' blocks, but a campaign is a test as a whole."""
    everywhere = _truth(top, "test_mode", False, problems)
    modes = {
        _truth(block, place_of("clusters", name, "test_mode"), everywhere, problems) for name, block in blocks.items()
    }
    if len(modes) > 1:
        problems.append(DescriptionProblem("test_mode", "is true on some clusters only", "write it once, at the top"))
    return True in (modes or {everywhere})


def _truth(block: Block, place: str, default: bool, problems: list[DescriptionProblem]) -> bool:
    try:
        return truth(block.get("test_mode", default))
    except ValueError as error:
        problems.append(DescriptionProblem(place, str(error)))
        return default


def is_desktop(top: Block, problems: list[DescriptionProblem]) -> bool:
    """Does jobs_type ask for desktop computing?"""
    jobs_type = top.get("jobs_type", "normal")
    if jobs_type == "desktop_computing":
        problems.append(DescriptionProblem("jobs_type", "desktop_computing is not supported yet", "leave it out"))
        return True
    if jobs_type != "normal" and not _is_nothing(jobs_type):
        problems.append(DescriptionProblem("jobs_type", f"expected 'normal', not {shown(jobs_type)}"))
    return False


def without_later(block: Block, place: Callable[..., str], problems: list[DescriptionProblem]) -> dict[str, Any]:
    """The fields without those of which nothing comes; one that wants something is a problem."""
    for key, capability in FIELDS_OF_LATER.items():
        if key in block and not _is_nothing(block[key]):
            message = f"{capability} is not supported yet, so {shown(block[key])} cannot be obeyed"
            problems.append(DescriptionProblem(place(key), message, FIELDS_INSTEAD.get(key, "leave it out")))
    is_empty = "output_file" in block and _is_nothing(block["output_file"])
    return {k: v for k, v in block.items() if k not in FIELDS_OF_LATER and not (k == "output_file" and is_empty)}


def gathered(block: Block, place: Callable[..., str], problems: list[DescriptionProblem]) -> Block:
    """With CiGri 3's words for where outputs come to in ours; each task has a directory below it."""
    block = dict(block)
    method, to = block.pop(GATHERING, None), block.pop(DESTINATION, None)
    if not _is_nothing(method) and str(method).strip().lower() not in GATHERING_METHODS:
        words = " or ".join(GATHERING_METHODS)
        problems.append(
            DescriptionProblem(place(GATHERING), f"expected {words}, not {shown(method)}", "write 'collect' instead")
        )
    elif not _is_nothing(to) and "collect" in block:
        problems.append(DescriptionProblem(place(DESTINATION), "contradicts collect", "leave one of them out"))
    elif not _is_nothing(to):
        block["collect"] = {"to": to if not isinstance(to, str) or "{" in to else f"{to.rstrip('/')}/{{number}}"}
    elif not _is_nothing(method):
        problems.append(
            DescriptionProblem(place(GATHERING), "says not where to", f"write {DESTINATION}, or collect: {{to: ...}}")
        )
    return block


def _is_nothing(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str) and value.strip().lower() in NOTHING_WORDS)
