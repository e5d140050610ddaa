"""Descriptions become a question to the laboratory, from one instant of the grid."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cigri.flow.dependencies import NewDependency, find_required
from cigri.flow.grid_snapshot import take_picture
from cigri.flow.task_durations import PastDurations, find_known_past
from cigri.settings.sections import DatabaseSettings, Settings
from cigri.submission.cluster_placement import to_simulate
from cigri.submission.new_campaign import new_campaign, wanted_before
from cigri.submission.simulation_process import SimulatedSubmission, SimulationRequest

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.identity.callers import Caller
    from cigri.jdl import CampaignDescription


def question_about(
    database: "Database", settings: Settings, descriptions: "Sequence[CampaignDescription]", caller: "Caller"
) -> SimulationRequest:
    """It only reads; what it says has no way to the database in it."""
    user = caller.user
    with database.answering() as conn:
        orders, places = list[SimulatedSubmission](), dict[str, int]()
        for place, description in enumerate(descriptions, start=1):
            after = [*_required(conn, description, caller, places)]
            orders.append(_order(conn, description, user)._replace(after=after))
            places[description.name] = -place
        picture = take_picture(conn, {(user, command) for order in orders for command in _commands(order)})
    return SimulationRequest(settings.model_copy(update={"database": DatabaseSettings()}), picture, orders)


def _order(conn: "Connection", description: "CampaignDescription", user: str) -> SimulatedSubmission:
    campaign = to_simulate(conn, new_campaign(description, user))
    order = SimulatedSubmission(campaign, description.count, PastDurations())
    return order._replace(known=find_known_past(conn, user, _commands(order), description.parameters()))


def _required(
    conn: "Connection", description: "CampaignDescription", caller: "Caller", places: Mapping[str, int]
) -> Iterator[NewDependency]:
    """By name the latest of its name before it, else a campaign of the grid."""
    for wanted in wanted_before(description):
        if isinstance(wanted.campaign, str) and (place := places.get(wanted.campaign)):
            yield NewDependency(place, *wanted[1:])
        else:
            found = find_required(conn, caller, [wanted], description.count)
            yield from [each for each in found if not isinstance(each, str)]  # what was wrong has been told


def _commands(order: SimulatedSubmission) -> set[str]:
    return {part.settings["exec_file"] for part in order.campaign.clusters.values()}
