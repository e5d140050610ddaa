"""Descriptions become a question to the laboratory, from one instant of the grid."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.flow.known_tasks import KnownPast, find_known_past
from cigri.flow.picture import take_picture
from cigri.settings.loading import load
from cigri.settings.sections import DatabaseSettings
from cigri.submission import new_campaign
from cigri.submission.laboratory import LaboratoryOrder, LaboratoryQuestion
from cigri.submission.placing import to_simulate

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.jdl import Description


def question_about(database: "Database", descriptions: "Sequence[Description]", user: str) -> LaboratoryQuestion:
    """It only reads; what it says has no way to the database in it."""
    with database.answering() as conn:
        orders = [_order(conn, description, user) for description in descriptions]
        picture = take_picture(conn, {(user, command) for order in orders for command in _commands(order)})
    return LaboratoryQuestion(load().model_copy(update={"database": DatabaseSettings()}), picture, orders)


def _order(conn: "Connection", description: "Description", user: str) -> LaboratoryOrder:
    campaign = to_simulate(conn, new_campaign(description, user))
    order = LaboratoryOrder(campaign, description.count, KnownPast())
    return order._replace(known=find_known_past(conn, user, _commands(order), description.parameters()))


def _commands(order: LaboratoryOrder) -> set[str]:
    return {part.settings["exec_file"] for part in order.campaign.clusters.values()}
