"""What a campaign waits for."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import AfterWhen, CampaignState


class DependencyView(NamedTuple):
    """A campaign that another one waits for, or has waited for."""

    campaign_id: int
    """The campaign that is waited for."""
    name: str
    """As its user called it."""
    tasks: str
    """Whether all tasks wait for `all` of it, or each for the one of the `same` number."""
    when: AfterWhen
    """How it has to end."""
    tolerated: int
    """So many of its tasks may fail."""
    tolerance: float
    """The share of its tasks that may fail."""
    state: str
    """`waits` or `met`; `failed`: it has ended otherwise; `waived`: its user does not wait any longer."""
    campaign_state: CampaignState
    """Where it stands in its life."""
    has_begun: bool
    """Whether any of its tasks was ever in a job."""
    left: int
    """Its tasks that are still to be done."""
    not_done: int
    """Its tasks that failed or were cancelled."""
    total: int
    """All its tasks."""
    ends_at: datetime | None
    """When it is expected to end."""
    is_held: bool
    """Whether it is open and held as a whole."""


class BlockedTasks(NamedTuple):
    """So many tasks of a campaign wait for others, of all that it has."""

    blocked: int
    """Tasks that wait for other campaigns."""
    total: int
    """All its tasks."""
