"""`gridstat --jdl`: the description of a campaign as `gridsub` takes it, parameters and all."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cigri.endpoints.descriptions import description, parameters
from cigri.endpoints.dispatch import GridClient
from cigri.formats.untrusted_text import safe_json


def show_description(grid: GridClient, campaign_id: int) -> None:
    """One JSON object; parameters one a line, read as they are printed, for there may be millions."""
    written = grid.call(description, campaign_id=campaign_id)
    if written.has_list:
        _print_with(written.described, list_parameters(grid, campaign_id))
    else:
        print(_text(written.described))


def list_parameters(grid: GridClient, campaign_id: int) -> Iterator[object]:
    """Of all tasks, in the order of their numbers."""
    last = -1
    while page := grid.call(parameters, campaign_id=campaign_id, after=last):
        yield from page
        last += len(page)


def _print_with(described: Mapping[str, Any], parameters: Iterable[object]) -> None:
    sys.stdout.write(f'{_text(described).removesuffix("}").rstrip()},\n  "params": [')
    separator = "\n    "
    for parameter in parameters:
        sys.stdout.write(separator + safe_json(json.dumps(parameter, ensure_ascii=False)))
        separator = ",\n    "
    print("\n  ]\n}")


def _text(described: Mapping[str, Any]) -> str:
    return safe_json(json.dumps(described, indent=2, ensure_ascii=False))
