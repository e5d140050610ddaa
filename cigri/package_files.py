"""Files that come with the code: beside it in a checkout, inside the package when installed from a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).parent


def directory(name: str) -> Path:
    """The shipped directory `migrations` or `etc`."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name
