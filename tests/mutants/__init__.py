"""Small faults that a rule of the grid forbids, each with the tests that must find it; `scripts/mutants` tries them.

Those in `seeds` break what a sentence of the seeds wants: each of the tests that it is shown by must find it.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

LISTS = (Path(__file__).with_name("faults.toml"),)
SEEDS_LISTS = tuple(sorted(Path(__file__).with_name("seeds").glob("*.toml")))
ROOT = Path(__file__).parents[2]


class Fault(BaseModel):
    """`old` stands in the file once, and `new` breaks `rule`; `tests` are words of pytest of which some must fail.

    `run`: what pytest is told instead, where the tests are those of a class for several batch systems. `clusters`: the
    mark of the real clusters that they need, "alpha" or another one's name, "several"; "" where they need none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    file: str
    old: str
    new: str
    tests: list[str]
    run: list[str] = []
    clusters: str = ""


def list_faults(files: Iterable[Path] = LISTS) -> list[Fault]:
    return [
        fault
        for file in files
        for fault in TypeAdapter(list[Fault]).validate_python(tomllib.loads(file.read_text())["fault"])
    ]
