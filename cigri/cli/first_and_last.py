"""What the first and the last task of a campaign run, said when it is submitted."""

from collections.abc import Iterator

from cigri.api_models.submissions import CampaignPreview

LONGEST_TOLD_COMMAND = 300


def first_and_last(campaign: CampaignPreview) -> Iterator[str]:
    """A line each; on several clusters the command of one of them."""
    place = campaign.on_any or next(iter(campaign.clusters.values()), None)
    if place is None or not place.commands:
        return
    yield f"task 0 runs: {_cut(place.commands[0])}"
    if campaign.tasks > 1:
        yield f"task {campaign.tasks - 1} runs: {_cut(place.last_command)}"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_TOLD_COMMAND else f"{line[:LONGEST_TOLD_COMMAND]}..."
