"""Small faults that a rule of the grid forbids, each with the tests that must find it; `scripts/mutants` tries them.

Those of `seeds.toml` break what a sentence of the seeds wants: each of the tests that it is shown by must find it.
"""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

LIST = Path(__file__).with_name("faults.toml")
SEEDS_LIST = Path(__file__).with_name("seeds.toml")
ROOT = Path(__file__).parents[2]


class Fault(BaseModel):
    """`old` stands in the file once, and `new` breaks `rule`; `tests` are words of pytest of which some must fail."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    file: str
    old: str
    new: str
    tests: list[str]


def list_faults(file: Path = LIST) -> list[Fault]:
    return TypeAdapter(list[Fault]).validate_python(tomllib.loads(file.read_text())["fault"])
