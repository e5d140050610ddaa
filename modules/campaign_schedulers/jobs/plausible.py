"""What is told of a campaign and its clusters, as far as it can be: odd figures make odd jobs, and no failure; pure."""

from cigri.estimates.plausible import LARGEST_PLAUSIBLE, known_speed, known_within, within
from cigri.flow.tasks import Backlog
from cigri.flow.views.job_sizes import Crew, Ground, SharePace
from cigri.flow.views.tries import LiveTry


def plausible_ground(ground: Ground) -> Ground:
    return ground._replace(
        seconds=within(ground.seconds, LARGEST_PLAUSIBLE),
        delay=within(ground.delay),
        hazard=within(ground.hazard),
        speed=known_speed(ground.speed),
        expected=within(ground.expected, LARGEST_PLAUSIBLE),
        cycle=within(ground.cycle),
    )


def plausible_try(one: LiveTry) -> LiveTry:
    return one._replace(ran=known_within(one.ran), waited=known_within(one.waited), expected=known_within(one.expected))


def plausible_backlog(backlog: Backlog) -> Backlog:
    return backlog._replace(expected=within(backlog.expected, LARGEST_PLAUSIBLE), longest=within(backlog.longest))


def plausible_crew(crew: Crew) -> Crew:
    return crew._replace(ran=within(crew.ran, LARGEST_PLAUSIBLE))


def plausible_pace(pace: SharePace) -> SharePace:
    return pace._replace(
        seconds=within(pace.seconds, LARGEST_PLAUSIBLE),
        squares=within(pace.squares, LARGEST_PLAUSIBLE),
        starts=[within(start) for start in pace.starts],
        lived=within(pace.lived, LARGEST_PLAUSIBLE),
        under_way=within(pace.under_way, LARGEST_PLAUSIBLE),
        cycle=within(pace.cycle),
    )
