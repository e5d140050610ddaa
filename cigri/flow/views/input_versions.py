"""Which files campaigns have taken along, and those before.
Read by: users.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from cigri.api_models.files import InputVersionView
from cigri.api_models.tasks import AttemptView
from cigri.database.typed_rows import null_column
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.inputs import EarlierInputs


def find_sent_from(conn: Connection, campaign_id: int) -> str | None:
    """Where relative paths of its inputs began; None: nobody knows."""
    return conn.scalar(_sent_from(), {"id": campaign_id})


def list_inputs_found(conn: Connection, campaign_id: int, attempts: Sequence[AttemptView]) -> list[InputVersionView]:
    """Those that these attempts of a campaign found."""
    found = {(attempt.cluster, attempt.inputs_version) for attempt in attempts}
    return [each for each in list_input_versions(conn, campaign_id) if (each.cluster, each.version) in found]


def list_input_versions(conn: Connection, campaign_id: int) -> list[InputVersionView]:
    """By cluster, the latest version first."""
    rows = [row for question in _versions() for row in conn.execute(question, {"id": campaign_id})]
    rows.sort(key=lambda row: (row.name, -row.version))
    return [
        InputVersionView(row.name, row.version, row.replaced_at, *_of(each))
        for row in rows
        for each in row.inputs or ()
    ]


# Built once: they take longer to build than to answer.


@cache
def _sent_from() -> Select[str | None]:
    return select(Campaign.c.sent_from).where(Campaign.c.id == bindparam("id"))


@cache
def _versions() -> tuple[Select[*tuple[Any, ...]], ...]:
    """The present ones, and those before."""
    part, earlier = CampaignCluster.c, EarlierInputs.c
    present = (
        select(Cluster.c.name, part.inputs_version.label("version"), part.settings["inputs"].label("inputs"))
        .add_columns(null_column("replaced_at", earlier.replaced_at))
        .join(Cluster, Cluster.c.id == part.cluster_id)
        .where(part.campaign_id == bindparam("id"))
    )
    past = (
        select(Cluster.c.name, earlier.version, earlier.inputs, earlier.replaced_at)
        .join(Cluster, Cluster.c.id == earlier.cluster_id)
        .where(earlier.campaign_id == bindparam("id"))
    )
    return present, past


def _of(each: dict[str, Any]) -> tuple[str, str, str, int, bool]:
    return each["to"], each["path"], each["sha256"], each["size"], each["packed"]
