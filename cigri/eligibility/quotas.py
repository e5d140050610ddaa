"""Which quotas jobs are under: rules of queue, project, type and user, as OAR's scheduler_quotas.conf has them; pure.

In each place of a rule stands a name, `*` (all together) or `/` (each for itself). Of rules that count the same jobs
the one with most names holds. The type `*` leaves best-effort jobs out, as OAR does, and `all` is all of them. Users
choose names, of projects say: what in them would mean something in a rule is written as in a URL.
"""

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import NamedTuple, Self, TypeVar
from urllib.parse import unquote

from cigri.errors import UsageError

ALL, EACH, EVERY_TYPE = "*", "/", "all"
BEST_EFFORT = "best-effort"
KINDS_OF_JOBS = (BEST_EFFORT, "semi-best-effort", "nightly", "normal")
TYPES = (ALL, EVERY_TYPE, *KINDS_OF_JOBS)
FORM = "QUEUE,PROJECT,TYPE,USER"

Amounts = TypeVar("Amounts")


class QuotaKey(NamedTuple):
    """What a quota goes by of a job: "" where it has no queue by name, or no project."""

    queue: str
    project: str
    type: str
    user: str


class QuotaRule(NamedTuple):
    """Whose jobs are counted, in the order of OAR."""

    queue: str
    project: str
    type: str
    user: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Of QUEUE,PROJECT,TYPE,USER; raise UsageError."""
        words = [word.strip() for word in text.split(",")]
        if len(words) != len(cls._fields) or not all(words):
            raise UsageError(f"a rule is {FORM}, each a name, {ALL} (all together) or {EACH} (each): {text!r} is not")
        rule = cls(*words)
        if rule.type not in TYPES:
            raise UsageError(f"there is no type {rule.type!r}; there are: {', '.join(TYPES)}")
        return rule

    def __str__(self) -> str:
        return ",".join(self)

    @property
    def is_of_each(self) -> bool:
        """Does it hold for each of some, rather than for one sum?"""
        return EACH in self

    @property
    def names(self) -> int:
        """How many of its places name one."""
        return sum(word not in (ALL, EACH) for word in (self.queue, self.project, self.user))

    def of(self, jobs: QuotaKey) -> Self | None:
        """The rule with their own names in place of `/`; None: it does not count them."""
        if not _counts_type(self.type, jobs.type):
            return None
        words = []
        for word, name in ((self.queue, jobs.queue), (self.project, jobs.project), (self.user, jobs.user)):
            own = as_word(name)
            if word != ALL and (not own or word not in (EACH, own)):
                return None
            words.append(word if word == ALL else own)
        queue, project, user = words
        return self._replace(queue=queue, project=project, user=user)


def as_word(name: str) -> str:
    """A name as it stands in a rule: without a comma, and neither `*` nor `/`."""
    word = name.replace("%", "%25").replace(",", "%2C")
    return {ALL: "%2A", EACH: "%2F"}.get(word, word)


def _counts_type(word: str, type: str) -> bool:
    return word == EVERY_TYPE or (type != BEST_EFFORT if word == ALL else word == type)


def in_force(rules: Mapping[QuotaRule, Amounts], jobs: QuotaKey) -> dict[QuotaRule, list[Amounts]]:
    """By what it counts, what such jobs are under: that of most names, or those, where several have as many."""
    found: dict[QuotaRule, tuple[int, list[Amounts]]] = {}
    for rule, amounts in rules.items():
        own = rule.of(jobs)
        if own is None:
            continue
        names, together = found.get(own, (-1, []))
        if rule.names > names:
            found[own] = rule.names, [amounts]
        elif rule.names == names:
            together.append(amounts)
    return {own: amounts for own, (_, amounts) in found.items()}


def of_subject(kind: str, name: str) -> QuotaRule:
    """That of a user or a project whatever its jobs are; `*` is each of them."""
    own = EACH if name == ALL else as_word(name)
    return QuotaRule(ALL, own if kind == "project" else ALL, EVERY_TYPE, own if kind == "user" else ALL)


def as_words(rule: QuotaRule) -> str:
    """As `cigri quota` takes it: user NAME, project NAME, or rule QUEUE,PROJECT,TYPE,USER."""
    for kind, word in (("user", rule.user), ("project", rule.project)):
        name = ALL if word == EACH else unquote(word)
        if word != ALL and rule == of_subject(kind, name):
            return f"{kind} {quote(name)}"
    return f"rule {quote(str(rule))}"


def as_owner(rule: QuotaRule) -> str:
    """Whose jobs it counts, in a sentence."""
    words = {"user": rule.user, "project": rule.project, "queue": rule.queue}
    if rule.type not in (ALL, EVERY_TYPE):
        words["type"] = rule.type
    said = [
        f"each {what}" if word == EACH else f"{what} {unquote(word)}" for what, word in words.items() if word != ALL
    ]
    return ", ".join(said) or "everybody"


def least(amounts: Iterable[int | None]) -> int | None:
    """None is no limit."""
    return min((amount for amount in amounts if amount is not None), default=None)
