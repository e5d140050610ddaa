"""The local load of the simulated clusters: the jobs of those who own them."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Annotated, assert_never

from pydantic import Field

from modules.laboratory.load import lublin, shapes, swf
from modules.laboratory.load.job import LocalJob
from modules.laboratory.load.lublin import LublinLoad
from modules.laboratory.load.shapes import BurstyLoad, ConstantLoad, DayNightLoad, NoLoad
from modules.laboratory.load.swf import SwfLoad

Load = Annotated[NoLoad | ConstantLoad | DayNightLoad | BurstyLoad | LublinLoad | SwfLoad, Field(discriminator="kind")]
"""A cluster's local load as a scenario describes it; `kind` says which."""

__all__ = [
    "BurstyLoad",
    "ConstantLoad",
    "DayNightLoad",
    "Load",
    "LocalJob",
    "LublinLoad",
    "NoLoad",
    "SwfLoad",
    "jobs_of",
]


def jobs_of(load: Load, cores: int, seconds: float, seed: int, directory: Path) -> Iterator[LocalJob]:
    """The jobs submitted in the first `seconds` to a cluster of `cores`, sorted by submission, made one by one.

    The same arguments give the same jobs. A trace's file is below `directory` unless its path is absolute.
    Raise ConfigError when the load does not fit the cluster or a trace cannot be read: at once, or at the line.
    """
    random = Random(seed)
    match load:
        case NoLoad():
            return iter(())
        case ConstantLoad() | DayNightLoad() | BurstyLoad():
            return shapes.jobs(load, cores, seconds, random)
        case LublinLoad():
            return lublin.jobs(load, cores, seconds, random)
        case SwfLoad():
            return swf.jobs(load, cores, seconds, random, directory)
        case _:
            assert_never(load)
