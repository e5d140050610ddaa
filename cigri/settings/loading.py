"""Settings in force: defaults, then files, then the environment; each value knows where it comes from."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError

from cigri.errors import ConfigError
from cigri.settings.sections import Settings, SettingsSection
from cigri.settings.sources import gather


class EffectiveSettings(NamedTuple):
    """The settings in force, and for each dotted name the file or variable it was read from ("default" if none)."""

    settings: Settings
    origins: dict[str, str]


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force; raise ConfigError with every problem."""
    return load_effective(environment).settings


def load_effective(environment: Mapping[str, str] = os.environ) -> EffectiveSettings:
    """The settings in force, each with its source (cigri.settings.sources)."""
    values, read = gather(environment)
    origins = dict.fromkeys(_names(Settings), "default") | read
    try:
        return EffectiveSettings(Settings.model_validate(values), origins)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(problem, origins) for problem in error.errors())) from None


def _names(section: type[SettingsSection], above: str = "") -> list[str]:
    names = []
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, SettingsSection):
            names += _names(kind, f"{above}{name}.")
        else:
            names.append(above + name)
    return names


def _explain(problem: Any, origins: dict[str, str]) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"]
    if problem["type"] == "extra_forbidden":
        names = _names(Settings)
        near = get_close_matches(place, [*names, *(name.partition(".")[0] for name in names)], n=1)
        message = "unknown setting" + (f", did you mean {near[0]}?" if near else "")
    return f"{origins.get(place, 'settings')}: {place}: {message} (see `cigri config --sample`)"
