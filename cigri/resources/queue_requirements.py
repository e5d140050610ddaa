"""What a queue demands of jobs, as an operator writes it."""

from collections.abc import Iterable, Mapping
from typing import Any

from cigri.requirements import OF_JOBS, parse_requirement, read_canonical
from cigri.requirements.conditions import names

GPU = "gpu"
"""A job's, as campaigns ask for it."""


def read_requires(text: str, declared: Iterable[str]) -> dict[str, Any]:
    """The canonical form of `cpu >= 8 and walltime <= 2 h`; raise ValueError with what is wrong.

    Besides the words for jobs it may have the names of resources that are `declared`.
    """
    requirement = parse_requirement(text, OF_JOBS)
    allowed = {*OF_JOBS, GPU, *declared}
    if strange := sorted({name for condition in requirement.conditions for name in names(condition)} - allowed):
        raise ValueError(f"a job has no {', '.join(strange)}; there are {', '.join(sorted(allowed))}")
    return requirement.canonical()


def show_requires(canonical: Mapping[str, Any]) -> str:
    """A canonical requirement of jobs as the line that `read_requires` reads again."""
    return str(read_canonical(canonical))
