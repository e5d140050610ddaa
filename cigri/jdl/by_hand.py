"""A task as a person would run it in a shell on the cluster."""

import shlex
from typing import NamedTuple, cast

from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.command import OWN_DIRECTORY, Command
from cigri.jdl.parameters import Parameter, names_of


class ByHand(NamedTuple):
    """All quoted for sh; `line` goes to the directory, sets the variables and runs the command."""

    directory: str
    command: str
    line: str


def by_hand(settings: ClusterSettings, parameter: object, campaign_id: int, number: int) -> ByHand:
    """One task, of a parameter as it was stored."""
    given = cast(Parameter, parameter)  # it was checked when it was submitted
    command = Command(settings, names_of(given))
    numbers = {"campaign_id": campaign_id, "number": number}
    where = command.directory(given, **numbers)
    directory = '"$(mktemp -d)"' if where == OWN_DIRECTORY else where.quoted()
    words = " ".join(word.quoted() for word in command.words(given, **numbers))
    own = {"CIGRI_CAMPAIGN_ID": str(campaign_id), "CIGRI_TASK_NUMBER": str(number)}
    environment = own | command.environment(given, **numbers)
    variables = " ".join(f"{name}={shlex.quote(text)}" for name, text in environment.items())
    return ByHand(directory, words, f"cd {directory} && env {variables} {words}")
