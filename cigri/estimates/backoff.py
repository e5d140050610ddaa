"""Back-off: who fails is left alone for a while, twice as long after each failure in a row. All of it is here; pure.

`cigri.database.pause_after` says the same to PostgreSQL.
"""

from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cigri.settings.sections import BudgetSettings, NodeSettings

MOST_DOUBLINGS = 20


class BackOff(NamedTuple):
    """Seconds of the pause after the first failure, and of the longest pause."""

    first: float
    longest: float

    def seconds(self, failures: int) -> float:
        """The pause after so many failures in a row, the latest one among them."""
        return min(self.first * 2.0 ** min(max(failures - 1, 0), MOST_DOUBLINGS), self.longest)


CLUSTERS_THAT_DO_NOT_ANSWER = BackOff(5.0, 300.0)
ACCOUNTS_THAT_ARE_REFUSED = BackOff(5.0, 300.0)
"""Of one user on a cluster that answers others."""
LOGINS_THAT_ARE_REFUSED = BackOff(150.0, 300.0)
"""Of an account whose keys an SSH server does not take: fail2ban bans whoever is refused five times in ten minutes."""
SUBMISSIONS_THAT_FAIL = BackOff(10.0, 300.0)
"""Of a campaign on a cluster, in words that nobody knows for a refusal; so many as tables say are one."""
JOBS_THAT_DO_NOTHING = BackOff(10.0, 3600.0)
"""Of a campaign on a cluster: they die at once, until one of them works."""
JOBS_THAT_CANNOT_START = BackOff(600.0, 21_600.0)
"""Of a campaign on a cluster: they wait there for what does not come by itself, an allocation say."""
QUEUES_THAT_ARE_FULL = BackOff(60.0, 900.0)
"""Of an account: so long nobody looks whether its batch system takes more of it by now."""
CAMPAIGNS_THAT_BREAK_A_MODULE = BackOff(5.0, 300.0)
CLUSTERS_THAT_BREAK_A_MODULE = BackOff(5.0, 300.0)
"""A module raises on them: the fault is ours, or a site's own file."""
JOBS_ASKED_FOR_A_CHECKPOINT = BackOff(5.0, inf)
"""They are looked at until they have heard it."""
MESSAGES_THAT_ARE_NOT_TAKEN = BackOff(30.0, 3600.0)
"""By the server of mail, the command or the web server that shall tell somebody."""
SESSIONS_THAT_ARE_REFUSED = BackOff(0.05, 5.0)
"""By an SSH server that has too many; they are tried again until the deadline of the command."""


def campaigns_that_fail_on_a_cluster(budget: "BudgetSettings") -> BackOff:
    """The cluster is set aside for such a campaign: settings `budget.backoff` and `budget.longest`."""
    return BackOff(budget.backoff, budget.longest)


def nodes_that_are_sick(nodes: "NodeSettings") -> BackOff:
    """Sick nodes are left out so long: settings `nodes.backoff` and `nodes.longest`."""
    return BackOff(nodes.backoff, nodes.longest)
