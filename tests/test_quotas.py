"""Which quotas jobs are under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.eligibility.quotas import TYPES, QuotaKey, QuotaRule, as_owner, as_words, in_force, of_subject
from cigri.errors import UsageError

HERS = QuotaKey("long", "astro", "best-effort", "alice")


def over(rules: dict[str, int], jobs: QuotaKey = HERS) -> dict[str, list[int]]:
    declared = {QuotaRule.parse(rule): most for rule, most in rules.items()}
    return {str(own): most for own, most in in_force(declared, jobs).items()}


def test_best_effort_jobs_are_counted_where_the_rule_says_so() -> None:
    rules = {"*,*,*,*": 1, "*,*,all,*": 2, "*,*,best-effort,*": 3, "*,*,normal,*": 4}
    assert over(rules) == {"*,*,all,*": [2], "*,*,best-effort,*": [3]}
    assert over(rules, HERS._replace(type="normal")) == {"*,*,*,*": [1], "*,*,all,*": [2], "*,*,normal,*": [4]}


def test_each_has_its_own_and_a_name_goes_before_each() -> None:
    assert over({"*,*,all,/": 5, "*,/,all,*": 9}) == {"*,*,all,alice": [5], "*,astro,all,*": [9]}
    assert over({"*,*,all,/": 5, "*,*,all,alice": 8, "*,*,all,bob": 1}) == {"*,*,all,alice": [8]}
    assert over({"*,/,all,/": 5, "*,astro,all,/": 4, "*,/,all,alice": 3}) == {"*,astro,all,alice": [4, 3]}
    assert over({"*,/,all,/": 5, "*,astro,all,/": 4, "*,astro,all,alice": 9}) == {"*,astro,all,alice": [9]}


def test_a_combination_counts_beside_its_parts() -> None:
    rules = {"long,*,all,*": 1, "*,*,all,alice": 2, "long,*,all,alice": 3, "short,*,all,alice": 4}
    assert over(rules) == {"long,*,all,*": [1], "*,*,all,alice": [2], "long,*,all,alice": [3]}


def test_jobs_without_a_project_or_a_queue_are_none_of_each() -> None:
    assert over({"/,*,all,*": 1, "*,/,all,*": 2}, HERS._replace(queue="", project="")) == {}


def words(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from(["*", "/", name])


@given(st.builds(QuotaRule, words("long"), words("astro"), st.sampled_from(TYPES), words("alice")))
def test_what_a_rule_counts_is_under_the_name_that_it_has_for_them(rule: QuotaRule) -> None:
    own = rule.of(HERS)
    assert (own is None) == (rule.type not in ("all", "best-effort"))
    if own is not None:
        assert "/" not in own
        assert own.of(HERS) == own
    assert QuotaRule.parse(str(rule)) == rule


@pytest.mark.parametrize("text", ["", "alice", "*,*,all", "*,*,all,*,*", "*,,all,*", "*,*,/,*", "*,*,besteffort,*"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        QuotaRule.parse(text)


def test_how_it_is_told() -> None:
    assert as_words(of_subject("user", "alice")) == "user alice"
    assert as_words(of_subject("project", "*")) == "project '*'"
    assert as_words(QuotaRule.parse("*,*,normal,/")) == "rule '*,*,normal,/'"
    assert as_owner(QuotaRule.parse("long,/,normal,bob")) == "user bob, each project, queue long, type normal"
    assert as_owner(QuotaRule.parse("*,*,*,*")) == "everybody"


@pytest.mark.parametrize("project", ["*", "/", "a,b", "a,b,all,*", "100%", "%2A"])
def test_no_name_that_a_user_chooses_means_anything_in_a_rule(project: str) -> None:
    rules = {"*,*,all,*": 1000, "*,/,all,*": 10}
    (own,) = over(rules, HERS._replace(project=project)).keys() - {"*,*,all,*"}
    assert over(rules, HERS._replace(project=project)) == {"*,*,all,*": [1000], own: [10]}
    assert over({own: 7}, HERS) == {}
    assert over({own: 7}, HERS._replace(project=project)) == {own: [7]}
    assert str(QuotaRule.parse(own)) == own
    assert QuotaRule.parse(str(of_subject("project", "a,b"))).project == "a%2Cb"
