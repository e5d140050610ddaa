"""Which files campaigns have taken along, and those before.
Read by: users.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from cigri.api_models.files import InputVersionView
from cigri.api_models.tasks import AttemptView
from cigri.database.typed_rows import null_column
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.inputs import EarlierInputs


def find_sent_from(conn: Connection, campaign_id: int) -> str | None:
    """Where relative paths of its inputs began; None: nobody knows."""
    return conn.scalar(select(Campaign.c.sent_from).where(Campaign.c.id == campaign_id))


def list_inputs_found(conn: Connection, campaign_id: int, attempts: Sequence[AttemptView]) -> list[InputVersionView]:
    """Those that these attempts of a campaign found."""
    found = {(attempt.cluster, attempt.inputs_version) for attempt in attempts}
    return [each for each in list_input_versions(conn, campaign_id) if (each.cluster, each.version) in found]


def list_input_versions(conn: Connection, campaign_id: int) -> list[InputVersionView]:
    """By cluster, the latest version first."""
    part, earlier = CampaignCluster.c, EarlierInputs.c
    present = (
        select(Cluster.c.name, part.inputs_version.label("version"), part.settings["inputs"].label("inputs"))
        .add_columns(null_column("replaced_at", earlier.replaced_at))
        .join(Cluster, Cluster.c.id == part.cluster_id)
        .where(part.campaign_id == campaign_id)
    )
    past = (
        select(Cluster.c.name, earlier.version, earlier.inputs, earlier.replaced_at)
        .join(Cluster, Cluster.c.id == earlier.cluster_id)
        .where(earlier.campaign_id == campaign_id)
    )
    rows = [row for question in (present, past) for row in conn.execute(question)]
    rows.sort(key=lambda row: (row.name, -row.version))
    return [
        InputVersionView(row.name, row.version, row.replaced_at, *_of(each))
        for row in rows
        for each in row.inputs or ()
    ]


def _of(each: dict[str, Any]) -> tuple[str, str, str, int, bool]:
    return each["to"], each["path"], each["sha256"], each["size"], each["packed"]
