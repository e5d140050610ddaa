"""Rules of a site accept, change or refuse; the user is told all of it."""

import grp
import logging
import os
import pwd
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cigri import admission
from cigri.admission import admit, find_rules, is_among
from cigri.errors import AdmissionRefused, ConfigError
from cigri.jdl import CampaignDescription, parse
from cigri.settings.cluster_config import ClusterConfig

OURS = "10-normal-jobs.py"
SHIPPED = find_rules(None, ())

CAMPAIGN = """
name: n
exec_file: run {a}
params: [{a: 1}]
environment: {A: x}
clusters:
  dahu:
  luke: {max_jobs: 5}
"""


def campaign(text: str = CAMPAIGN) -> CampaignDescription:
    return parse(text, base=Path(), home=Path())


def rules(directory: Path, **bodies: str) -> Path:
    for name, body in bodies.items():
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        text = f"from cigri.admission import refuse\n\ndef rule(campaign, user):\n{lines}"
        (directory / f"{name}.py").write_text(text)
    return directory


def alone(directory: Path) -> list[Path]:
    return find_rules(directory, [OURS])


def refusal(directory: Path, text: str = CAMPAIGN, user: str = "bob") -> AdmissionRefused:
    with pytest.raises(AdmissionRefused) as caught:
        admit(campaign(text), user, alone(directory), {})
    return caught.value


def test_no_rule_accepts(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("not a rule")
    assert admit(campaign(), "bob", alone(tmp_path), {}) == (campaign(), [])


def test_a_rule_that_returns_nothing_accepts(tmp_path: Path) -> None:
    assert admit(campaign(), "bob", alone(rules(tmp_path, a="pass")), {}) == (campaign(), [])


def test_a_rule_that_goes_on_for_ever_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PURE_LIMIT", 0.1)
    said = str(refusal(rules(tmp_path, slow="while True: pass")))
    assert "the rule itself is broken (TimeoutError: it went on for more than 0.1 s and was stopped)" in said


def test_every_change_is_told_with_its_rule(tmp_path: Path) -> None:
    rules(
        tmp_path,
        b='return campaign.with_changes(project="p-" + user, campaign_type="test")',
        a="fields = dict(walltime='0:30:0', resources='core=2', environment={'B': 'y'}, retries=1)\n"
        'return campaign.with_cluster("dahu", **fields)',
        c='return campaign.without_cluster("luke")',
    )
    admitted, changes = admit(campaign(), "bob", alone(tmp_path), {})
    assert (admitted.clusters["dahu"].walltime, admitted.project, list(admitted.clusters)) == (1800, "p-bob", ["dahu"])
    assert changes == [
        "clusters.dahu.environment.A: x -> nothing (by a.py)",
        "clusters.dahu.resources.cpu: 1 -> 2 (by a.py)",
        "clusters.dahu.walltime: 3600 -> 1800 (by a.py)",
        "clusters.dahu.retries: 0 -> 1 (by a.py)",
        "clusters.dahu.environment.B: nothing -> y (by a.py)",
        "campaign_type: default -> test (by b.py)",
        "project: nothing -> p-bob (by b.py)",
        "clusters.luke: used -> nothing (by c.py)",
    ]


def test_a_change_in_place_is_told_too(tmp_path: Path) -> None:
    rules(tmp_path, a='campaign.clusters["dahu"].environment["A"] = "z"')
    assert admit(campaign(), "bob", alone(tmp_path), {})[1] == ["clusters.dahu.environment.A: x -> z (by a.py)"]


def test_rules_are_asked_in_the_order_of_their_names(tmp_path: Path) -> None:
    bodies = {name: f'return campaign.with_changes(name=campaign.name + "{name}")' for name in ("c", "a", "b")}
    assert admit(campaign(), "bob", alone(rules(tmp_path, **bodies)), {})[0].name == "nabc"


@pytest.mark.parametrize("body", ['refuse("too big")', 'return refuse("too big")', 'raise refuse("too big")'])
def test_a_rule_refuses(tmp_path: Path, body: str) -> None:
    error = refusal(rules(tmp_path, a=body))
    assert error.rule == "a.py"
    assert str(error) == "admission rule a.py refuses this campaign: too big"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit()", "SystemExit"),
        ("return 5", "a rule returns None or a campaign, not int"),
        ('return campaign.with_cluster("dahu", walltime="banana")', "banana"),
        ('return campaign.with_cluster("dahu", walltme=1)', "walltme"),
        ('return campaign.with_cluster("other", walltime=1)', "other"),
        ('return campaign.with_changes(campaign_type="x")', "campaign_type"),
        ('return campaign.with_cluster("dahu", exec_file="run {b}")', "no parameter is called 'b'"),
        ("return (", "SyntaxError"),
    ],
)
def test_a_broken_rule_refuses_and_is_logged(
    tmp_path: Path, body: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        error = refusal(rules(tmp_path, a=body))
    assert error.rule == "a.py"
    assert "the rule itself is broken" in str(error)
    assert reason in str(error)
    assert "admission rule a.py failed" in caplog.text


def test_a_file_without_a_rule_refuses(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "broken (KeyError: 'rule')" in str(refusal(tmp_path))


def test_the_last_cluster_is_not_taken_away_in_silence(tmp_path: Path) -> None:
    rules(tmp_path, a='return campaign.without_cluster("dahu").without_cluster("luke")')
    assert "no cluster is left" in str(refusal(tmp_path))


def test_a_missing_directory_is_the_operators_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is missing"):
        admit(campaign(), "bob", alone(tmp_path / "none"), {})


DAHU = ClusterConfig(driver="local", normal_users=("alice",))
LOCAL = "name: n\nexec_file: e\nnb_jobs: 1\ntype: normal\nclusters: {dahu: , elsewhere: }\n"


def asked(names: tuple[str, ...], user: str = "bob", text: str = LOCAL) -> str:
    """What the shipped rule says when these names may submit normal jobs on dahu."""
    try:
        admit(campaign(text), user, SHIPPED, {"dahu": DAHU.model_copy(update={"normal_users": names})})
    except AdmissionRefused as error:
        return str(error)
    return ""


def test_the_shipped_rule_keeps_normal_jobs_to_those_whom_the_operator_names() -> None:
    assert "admission rule 10-normal-jobs.py refuses" in asked(())
    assert "bob may not submit jobs of type normal on dahu" in asked(())
    assert 'write "type": "best-effort", or ask its operator' in asked(("alice", "bobby", "@no-such-group"))
    assert asked(("alice", "bob")) == asked(("*",)) == ""


@pytest.mark.parametrize("type", ["best-effort", "semi-best-effort", "nightly"])
def test_other_types_need_no_right(type: str) -> None:
    assert asked((), text=LOCAL.replace("normal", type)) == ""


@pytest.mark.parametrize("type", ["best-effort", "normal", "nightly"])
def test_a_test_has_normal_jobs_where_its_user_may_have_them_and_best_effort_ones_elsewhere(type: str) -> None:
    text = LOCAL.replace("normal", type) + "campaign_type: test\n"
    luke = DAHU.model_copy(update={"normal_users": ("bob",)})
    description, changes = admit(campaign(text), "bob", SHIPPED, {"dahu": DAHU, "elsewhere": luke})
    types = {name: settings.type for name, settings in description.clusters.items()}
    assert (types, changes) == ({"dahu": "best-effort", "elsewhere": "normal"}, [])


def test_a_campaign_that_a_rule_makes_a_test_has_the_jobs_of_one(tmp_path: Path) -> None:
    rules(tmp_path, a='return campaign.with_changes(campaign_type="test")')
    description, _ = admit(campaign(), "alice", alone(tmp_path), {"dahu": DAHU})
    assert description.clusters["dahu"].type == "normal"


def test_a_right_may_be_a_groups() -> None:
    user = pwd.getpwuid(os.geteuid())
    group = grp.getgrgid(user.pw_gid).gr_name
    assert is_among(user.pw_name, [f"@{group}"])
    assert not is_among(user.pw_name, [group if group != user.pw_name else "nobody", "@no-such-group"])
    assert not is_among("no-such-user", [f"@{group}"])


def test_a_rule_may_see_what_is_declared_of_the_clusters(tmp_path: Path) -> None:
    text = (
        "from cigri.admission import refuse\ndef rule(campaign, user, clusters):\n    refuse(clusters['dahu'].driver)\n"
    )
    (tmp_path / "a.py").write_text(text)
    with pytest.raises(AdmissionRefused, match="refuses this campaign: local"):
        admit(campaign(), "bob", alone(tmp_path), {"dahu": DAHU})


def test_the_rules_that_come_with_cigri_hold_beside_those_of_the_site(tmp_path: Path) -> None:
    rules(tmp_path, **{"99-last": "return campaign.with_cluster('dahu', type='normal')"})
    assert [path.name for path in find_rules(tmp_path, ())] == ["99-last.py", OURS]
    with pytest.raises(AdmissionRefused, match="bob may not submit jobs of type normal on dahu"):
        admit(campaign(), "bob", find_rules(tmp_path, ()), {"dahu": DAHU})
    assert admit(campaign(), "bob", find_rules(tmp_path, [OURS]), {"dahu": DAHU})[0].clusters["dahu"].type == "normal"


def test_only_what_there_is_is_switched_off() -> None:
    with pytest.raises(ConfigError, match=f"there is no rule 10-normal.py that comes with CiGri; there are: {OURS}"):
        find_rules(None, ["10-normal.py"])


def test_a_rule_that_goes_on_for_ever_is_stopped_in_a_thread_of_a_server_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "PURE_LIMIT", 0.1)
    rules(tmp_path, slow="while True: pass")
    with ThreadPoolExecutor() as pool:
        assert "went on for more than 0.1 s" in str(pool.submit(refusal, tmp_path).result())
