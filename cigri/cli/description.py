"""`gridstat --jdl`: the description of a campaign as `gridsub` takes it, parameters and all."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cigri.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.descriptions import StoredDescription


def show_description(conn: "Connection", campaign_id: int) -> None:
    """One JSON object; parameters one a line, read as they are printed, for there may be millions."""
    from cigri.flow.views.descriptions import find_description, list_parameters
    from cigri.jdl.writing import COMPUTED

    stored = find_description(conn, campaign_id)
    if stored is None:
        raise NotFound(f"no campaign {campaign_id}; `gridstat -a` lists all")
    described = stored.written or _from_settings(stored)
    is_computed = any(source in described for source in COMPUTED)
    _print(described, () if is_computed else list_parameters(conn, campaign_id), has_list=not is_computed)


def _from_settings(stored: "StoredDescription") -> dict[str, Any]:
    from cigri.jdl.writing import from_settings

    heading = {
        "name": stored.name,
        "campaign_type": stored.type,
        "scheduler": stored.scheduler,
        "project": stored.project,
        "replicate": stored.replicate,
        "requirements": stored.requirements,
        "priority": stored.priority,
    }
    return from_settings(heading, stored.clusters, is_anywhere=stored.is_anywhere)


def _print(described: Mapping[str, Any], parameters: Iterable[object], *, has_list: bool) -> None:
    text = json.dumps(described, indent=2, ensure_ascii=False)
    if not has_list:
        print(text)
        return
    sys.stdout.write(f'{text.removesuffix("}").rstrip()},\n  "params": [')
    separator = "\n    "
    for parameter in parameters:
        sys.stdout.write(separator + json.dumps(parameter, ensure_ascii=False))
        separator = ",\n    "
    print("\n  ]\n}")
