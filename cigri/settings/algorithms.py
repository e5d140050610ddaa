"""The names of the predictor's algorithms, for those who choose one; the predictor itself loads them."""

import pkgutil
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

DIRECTORY = Path(__file__).parents[2] / "modules" / "predictor" / "algorithms"


def names() -> list[str]:
    """Every algorithm there is: a file each, its name with hyphens."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules([str(DIRECTORY)]))


def _known(name: str) -> str:
    if name not in names():
        raise ValueError(f"there is no algorithm {name!r}; there are: {', '.join(names())}")
    return name


Algorithm = Annotated[str, AfterValidator(_known)]
AlgorithmOrNone = Annotated[str, AfterValidator(lambda name: name and _known(name))]
"""Empty: another place says it."""
