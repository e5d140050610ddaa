"""Options of one submission laid over a campaign's settings on a cluster, field by field; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from cigri.drivers import Driver
from cigri.jdl import ClusterSettings

OF_RESOURCES = ("cpu", "mem", "tmp")


def override(settings: ClusterSettings, driver: Driver, words: Sequence[str] = ()) -> ClusterSettings:
    """The settings with their own `backend` and then `words` obeyed; ValueError with all that is wrong.

    What has a field of its own is found there afterwards, the rest in `backend`.
    """
    if driver.backend is None:
        return settings.model_copy(update={"backend": ()})
    chosen = driver.read_backend(settings.backend) | driver.read_backend(words)
    fields, words_left = _sorted(driver, chosen)
    given = settings.model_dump() | {"backend": words_left}
    given["resources"] = given["resources"] | {name: fields.pop(name) for name in OF_RESOURCES if name in fields}
    given |= {name: value.split("\n") if name == "resources" else value for name, value in fields.items()}
    try:
        return ClusterSettings.model_validate(given)
    except ValidationError as wrong:
        raise ValueError("; ".join(_text(error["loc"], error["msg"]) for error in wrong.errors())) from None


def _sorted(driver: Driver, chosen: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Values by field, and the words for what has none."""
    assert driver.backend is not None
    field_of = {option.name: option.field for option in driver.backend.options}
    fields: dict[str, Any] = {field_of[name]: value for name, value in chosen.items() if field_of[name]}
    words_left = [f"--{name}={value}" for name, value in sorted(chosen.items()) if not field_of[name]]
    return fields, words_left


def _text(place: Sequence[int | str], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message}"
