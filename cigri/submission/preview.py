"""A description that was looked at, as it is told to people."""

from collections.abc import Iterator
from itertools import islice

from cigri.api_models.submissions import (
    NEW_DIRECTORY,
    CampaignPreview,
    CheckedCampaign,
    ClusterPreview,
    HostPath,
    LocalProgramStart,
)
from cigri.jdl import CampaignDescription, ClusterSettings, CommandTemplate, Parameter
from cigri.jdl.command import OWN_DIRECTORY
from cigri.jdl.sweep import last_of
from cigri.shell.words import ShellWord
from cigri.submission.dry_run import ExaminedDescription
from cigri.submission.feedback import SubmissionFeedback

SHOWN_TASKS = 3
LOOKED_AT = 100  # tasks


def outline(description: CampaignDescription, user: str, campaign_id: int | None) -> CampaignPreview:
    """With the commands of the first tasks; a campaign without a number is number 0."""
    number = campaign_id or 0
    return CampaignPreview(
        description.name,
        user,
        description.campaign_type,
        description.scheduler,
        description.project,
        description.priority,
        description.replicate.model_dump() if description.replicate else None,
        description.requirements,
        [each.words for each in description.after],
        description.count,
        description.anywhere.model_dump(mode="json") if description.anywhere else None,
        {name: _place(description, settings, number) for name, settings in description.clusters.items()},
        _place(description, description.anywhere, number) if description.anywhere else None,
        [str(told) for told in description.notify],
    )


def checked(examined: ExaminedDescription, remarks: SubmissionFeedback, user: str) -> CheckedCampaign:
    """The answer to whoever only wants to know."""
    description, changes, dropped, missing, clusters = examined
    starts: list[LocalProgramStart] = []
    for name in description.clusters if description else ():
        if name in clusters and clusters[name].in_use.driver == "local" and clusters[name].in_use.ssh is None:
            assert description
            starts += dict.fromkeys(_starts(name, description, description.clusters[name]))
    campaign = outline(description, user, None) if description else None
    return CheckedCampaign(campaign, changes, dropped, remarks.problems, remarks.notes, missing, starts)


def _place(description: CampaignDescription, settings: ClusterSettings, campaign_id: int) -> ClusterPreview:
    """Quoted as a shell would need it."""
    command = CommandTemplate(settings, description.names)
    first = enumerate(islice(description.parameters(), SHOWN_TASKS))
    shown = [_run(command, parameter, campaign_id, number) for number, parameter in first]
    if description.count > SHOWN_TASKS:
        shown.append(_run(command, last_of(description.tasks), campaign_id, description.count - 1))
    directories, commands = [directory for directory, _ in shown], [line for _, line in shown]
    last = shown[-1] if shown else ("", "")
    return ClusterPreview(settings.model_dump(mode="json"), directories[:SHOWN_TASKS], commands[:SHOWN_TASKS], *last)


def _run(command: CommandTemplate, parameter: Parameter, campaign_id: int, number: int) -> tuple[str, str]:
    words = command.words(parameter, campaign_id=campaign_id, number=number)
    environment = command.environment(parameter, campaign_id=campaign_id, number=number)
    variables = [f"{name}={value!r}" for name, value in environment.items()]
    directory = command.directory(parameter, campaign_id=campaign_id, number=number)
    where = NEW_DIRECTORY if directory == OWN_DIRECTORY else directory.quoted()
    return where, " ".join([*variables, *(word.quoted() for word in words)])


def _starts(cluster: str, description: CampaignDescription, settings: ClusterSettings) -> Iterator[LocalProgramStart]:
    command = CommandTemplate(settings, description.names)
    for number, parameter in enumerate(islice(description.parameters(), 0 if settings.own_directory else LOOKED_AT)):
        directory = _path(command.directory(parameter, campaign_id=0, number=number))
        program = _path(command.words(parameter, campaign_id=0, number=number)[0])
        search = command.environment(parameter, campaign_id=0, number=number).get("PATH")
        yield LocalProgramStart(cluster, directory, program, search, bool(settings.prologue))


def _path(word: ShellWord) -> HostPath:
    return HostPath(word.at_home, word.text)
