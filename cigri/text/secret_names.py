"""Names whose values nobody is to read, as far as their names tell."""

import re
from typing import Any

SECRET = re.compile(r"passw|secret|token|credential|private", re.IGNORECASE)
HIDDEN = "***"


def is_secret(name: str) -> bool:
    return SECRET.search(name) is not None


def without_secrets(config: Any) -> Any:
    """A configuration with the values of telling names hidden."""
    if isinstance(config, dict):
        return {key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in config.items()}
    return [without_secrets(value) for value in config] if isinstance(config, list) else config
