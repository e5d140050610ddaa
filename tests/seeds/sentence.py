"""One sentence of a seed, in a few words of ours: with the tests that show it, or why it has no meaning here."""

from typing import NamedTuple


class Sentence(NamedTuple):
    """`tests` are `FILE::NAME`, FILE below tests and without its suffix; `why_not` is set where there are none."""

    says: str
    tests: tuple[str, ...] = ()
    why_not: str = ""


def shown(says: str, *tests: str) -> Sentence:
    return Sentence(says, tests)


def left(says: str, why_not: str) -> Sentence:
    return Sentence(says, why_not=why_not)
