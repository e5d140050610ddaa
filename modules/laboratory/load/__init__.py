"""The local load of the simulated clusters: the jobs of those who own them."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Annotated, assert_never

from pydantic import Field

from modules.laboratory.load import lublin, shapes, swf
from modules.laboratory.load.job import LocalJob
from modules.laboratory.load.lublin import Lublin
from modules.laboratory.load.shapes import Bursty, Constant, DayNight, NoLoad
from modules.laboratory.load.swf import Swf

Load = Annotated[NoLoad | Constant | DayNight | Bursty | Lublin | Swf, Field(discriminator="kind")]
"""A cluster's local load as a scenario describes it; `kind` says which."""

__all__ = ["Bursty", "Constant", "DayNight", "Load", "LocalJob", "Lublin", "NoLoad", "Swf", "jobs_of"]


def jobs_of(load: Load, cores: int, seconds: float, seed: int, directory: Path) -> Iterator[LocalJob]:
    """The jobs submitted in the first `seconds` to a cluster of `cores`, sorted by submission, made one by one.

    The same arguments give the same jobs. A trace's file is below `directory` unless its path is absolute.
    Raise ConfigError when the load does not fit the cluster or a trace cannot be read: at once, or at the line.
    """
    random = Random(seed)
    match load:
        case NoLoad():
            return iter(())
        case Constant() | DayNight() | Bursty():
            return shapes.jobs(load, cores, seconds, random)
        case Lublin():
            return lublin.jobs(load, cores, seconds, random)
        case Swf():
            return swf.jobs(load, cores, seconds, random, directory)
        case _:
            assert_never(load)
