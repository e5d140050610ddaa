"""How what the laboratory foretells is written for people."""

from cigri.api_models.simulations import ForetoldCampaign

NEVER_ENDS = "never, as the grid stands: no simulation came to its end"
NOT_KNOWN = "not known: time was over when hardly a task was done (is this host busy?)"


def no_end(campaign: ForetoldCampaign) -> str:
    """Why there is no date of one that is not expected to end."""
    return NOT_KNOWN if campaign.cut else NEVER_ENDS


def how_simulated(campaign: ForetoldCampaign) -> str:
    """How often, and how coarsely."""
    cut = f", {campaign.cut} of them cut short" if campaign.cut else ""
    cut += f", {campaign.unfinished} without an end" if campaign.unfinished else ""
    small = f", a grid {campaign.cores:.1f} times smaller" if campaign.cores > 1 else ""
    together = f", {campaign.together} tasks as one" if campaign.together > 1 else ""
    return f"{campaign.runs} times{cut}{small}{together}"
