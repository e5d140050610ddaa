"""Users and projects get what they are due of the grid over time, by the karma of OAR's fair sharing.

OAR sorts jobs by karma; here it makes weights, as campaigns are served side by side. What users have had is forgotten
by half in `policy.half_life` days (cigri/flow/fair_share_usage.py), where OAR has a window. Long form:
docs/explanation/scheduling.md#order, under Fair sharing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp

from cigri.flow.affinities_and_targets import Principal
from cigri.flow.fair_share_usage import Consumption
from cigri.flow.views.cluster_demands import PendingCampaign
from cigri.states import PrincipalKind
from modules.metascheduler.policies import PolicyFacts, RankedCampaign

OF_PROJECT, OF_USER, OF_USER_ASKED = 1.0, 2.0, 1.0  # OAR's SCHEDULER_FAIRSHARING_COEF_PROJECT, _USER and _USER_ASK
LARGEST_TARGET = 1e9  # times another's
LARGEST_USAGE = 1e30  # core-seconds
FIRMNESS = 4.0  # a karma less by 1, a quarter of all in each of its parts, makes the weight e^4 = 55 times as large

UserAndProject = tuple[str, str]
"""A user and a project."""


def order(claims: Sequence[PendingCampaign], facts: PolicyFacts) -> list[RankedCampaign]:
    """All side by side, by weight: due * e^(-FIRMNESS * karma) / campaigns, all three of a user in a project.

    So users with many campaigns get no more than those with one. The exponential keeps weights above 0, and makes of a
    difference of karma the same ratio whoever has how much; it is a choice of ours, OAR has none.
    """
    campaigns = Counter((claim.user, claim.project) for claim in claims)
    due = dues(campaigns, facts.targets)
    too_much = karma(due, facts.usage)
    turns = []
    for claim in claims:
        pair = claim.user, claim.project
        weight = due[pair] * exp(-FIRMNESS * too_much[pair]) / campaigns[pair]
        turns.append(RankedCampaign(claim.campaign_id, claim.clusters, (), weight))
    return turns


def dues(pairs: Iterable[UserAndProject], targets: Mapping[Principal, float]) -> dict[UserAndProject, float]:
    """The part of all that is due to each user in a project, among those who want something now; together 1.

    (target of the project / all projects') * (target of the user / all users' in the project); who has none has 1.
    """
    users: dict[str, dict[str, float]] = defaultdict(dict)
    for user, project in pairs:
        users[project][user] = _target(targets, Principal(PrincipalKind.USER, user))
    projects = {project: _target(targets, Principal(PrincipalKind.PROJECT, project)) for project in users}
    whole = sum(projects.values())
    return {
        (user, project): projects[project] / whole * target / sum(users[project].values())
        for project in users
        for user, target in users[project].items()
    }


def _target(targets: Mapping[Principal, float], subject: Principal) -> float:
    """At least 1 / LARGEST_TARGET, so that no user's due is 0."""
    return min(LARGEST_TARGET, max(1 / LARGEST_TARGET, targets.get(subject, 1.0)))


def karma(
    due: Mapping[UserAndProject, float], usage: Mapping[UserAndProject, Consumption]
) -> dict[UserAndProject, float]:
    """How much more a user in a project has had than is due; 0 is just right.

    OF_PROJECT (used by the project - due) + OF_USER (used by the user - due) + OF_USER_ASKED (asked by the user - due),
    each as a part of what all users, or projects, who want something now have had; from -4 to 4. Used: core-seconds of
    jobs; asked: cores times walltime.
    """
    users, projects = {user for user, _ in due}, {project for _, project in due}
    of_users = {pair: had for pair, had in usage.items() if pair[0] in users}
    of_projects = {pair: had for pair, had in usage.items() if pair[1] in projects}
    used = _excess({pair: had.used for pair, had in of_users.items()}, due, 0)
    asked = _excess({pair: had.asked for pair, had in of_users.items()}, due, 0)
    by_project = _excess({pair: had.used for pair, had in of_projects.items()}, due, 1)
    return {
        (user, project): OF_PROJECT * by_project[project] + OF_USER * used[user] + OF_USER_ASKED * asked[user]
        for user, project in due
    }


def _excess(had: Mapping[UserAndProject, float], due: Mapping[UserAndProject, float], which: int) -> dict[str, float]:
    """By user (`which` 0) or project (1): the part of all that was had, less the part that is due; 0 if nothing was."""
    had = {pair: min(LARGEST_USAGE, max(0.0, amount)) for pair, amount in had.items()}
    whole = sum(had.values())
    excess: dict[str, float] = defaultdict(float)
    for pair, part in due.items() if whole > 0 else ():
        excess[pair[which]] -= part
    for pair, amount in had.items() if whole > 0 else ():
        excess[pair[which]] += amount / whole
    return excess
