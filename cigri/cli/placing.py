"""Which clusters a campaign may use: those that its user names, or all that are eligible where the grid chooses."""

from contextlib import suppress
from typing import TYPE_CHECKING

from cigri.cli.command import complain
from cigri.errors import DescriptionError

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.flow.user_to_metascheduler import NewCampaign
    from cigri.jdl import Description


def on_eligible(database: "Database", description: "Description") -> "Description":
    """Where the grid chooses: on the clusters that are eligible, unless none is; why, is told elsewhere."""
    if description.anywhere is None:
        return description
    from cigri.flow.matcher_to_user import choose_clusters

    settings = {name: one.model_dump(mode="json") for name, one in description.clusters.items()}
    try:
        with database.begin() as conn:
            chosen = choose_clusters(conn, description.project, description.requirements, settings).clusters
    except DescriptionError:
        return description
    return description.chosen(chosen) if chosen else description


def tell_unheard(database: "Database | None", name: str, description: "Description") -> None:
    """Properties that no queue has may be meant, as in `not el7`: a person is told, and the campaign goes on."""
    if database is None or description.requirements is None:
        return
    from cigri.flow.matcher_to_user import unheard_of

    with suppress(DescriptionError), database.begin() as conn:
        for sentence in unheard_of(conn, description.project, description.requirements).properties:
            complain(f"{name}: requirements: {sentence}")


def to_simulate(database: "Database", campaign: "NewCampaign") -> "NewCampaign":
    """Without requirements, of which simulated clusters know nothing: on the clusters that satisfy them."""
    from cigri.flow.matcher_to_user import choose_clusters

    settings = {name: part.settings for name, part in campaign.clusters.items()}
    with database.begin() as conn:
        chosen = choose_clusters(conn, campaign.project, campaign.wanted, settings).clusters
    kept = {name: part for name, part in campaign.clusters.items() if name in chosen}
    return campaign._replace(clusters=kept, wanted=None, anywhere=None)
