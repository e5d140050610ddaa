"""Real clusters that refuse what one campaign asks for, in words that nobody has written a driver for."""

import re
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from tests.grid import Grid

pytestmark = pytest.mark.cluster

RULE = """\
die("[ADMISSION RULE] 'core' resource is not allowed with a deploy job\\n") if grep(/^deploy$/, @{$type_list});
"""
WRAPPER = """\
#!/bin/sh
# The site's own: where there are arrays of several jobs, it says no.
if [ "$(hostname)" = alpha ]; then
    case " $* " in *" --array=1-1 "*) ;; *)
        echo 'Welcome to alpha.' >&2
        echo 'arrays are switched off here' >&2
        exit 1 ;;
    esac
fi
exec /usr/bin/sbatch "$@"
"""
OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
PAUSE = "UPDATE campaign_clusters SET blocked_until = now() + interval '1 hour' WHERE blocked_until IS NOT NULL"
TRIES = "SELECT failed_sends FROM campaign_clusters WHERE campaign_id = :id"


@pytest.fixture
def ruled(delta: Grid) -> Iterator[Grid]:
    """OAR with an admission rule of the site."""
    script = f"cat >/tmp/cigri-rule <<'END'\n{RULE}END\noaradmissionrules -n -r /tmp/cigri-rule; rm /tmp/cigri-rule"
    [number] = re.findall(r"#(\d+)", delta.site.sh(script, user="root"))
    yield delta
    delta.site.sh(f"oaradmissionrules --delete {number}", user="root")


@pytest.fixture
def wrapped(alpha: Grid) -> Iterator[Grid]:
    """Slurm behind the site's own sbatch, the first one on the PATH."""
    path = "/usr/local/bin/sbatch"
    alpha.site.sh(f"cat >{path} <<'END'\n{WRAPPER}END\nchmod 755 {path}", user="root")
    yield alpha
    alpha.site.sh(f"rm {path}", user="root")


def later(grid: Grid) -> None:
    """As if the campaign's pause on the cluster were over."""
    with grid.database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET blocked_until = now() WHERE blocked_until IS NOT NULL"))


def after_tries(grid: Grid, campaign: int, number: int) -> Callable[[], bool]:
    return lambda: bool(grid.one(TRIES, id=campaign) == number)


def assert_the_third_is_a_refusal(grid: Grid, campaign: int, words: str) -> None:
    """Of this campaign, while others go on; nothing of it stays on the cluster."""
    grid.run_until(after_tries(grid, campaign, 1))
    [said] = grid.rows(OPEN)
    assert (said["code"], said["subject"]) == ("SUBMISSION_FAILED", f"campaign {campaign} on {grid.site.name}")
    assert words in said["message"]
    with grid.database.begin() as conn:  # however long the other one takes, this one is paused meanwhile
        conn.execute(text(PAUSE))
    other = grid.submit(["1"], name="other")
    ended = "SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id"
    grid.run_until(lambda: grid.one(ended, id=other))
    assert after_tries(grid, campaign, 1)()
    for number in (2, 3):
        with grid.database.begin() as conn:  # tried with all that waits, not with one job
            conn.execute(text("UPDATE campaign_clusters SET blocked_until = NULL"))
        grid.run_until(after_tries(grid, campaign, number))
    [said] = grid.rows(OPEN)
    assert (said["code"], said["subject"]) == ("CLUSTER_SET_ASIDE", f"campaign {campaign} on {grid.site.name}")
    assert said["message"].startswith("its jobs are refused; ")
    assert words in said["message"]
    assert not grid.rows("SELECT 1 FROM events WHERE code IN ('ACCOUNT_REFUSED', 'CLUSTER_UNREACHABLE')")
    assert grid.one("SELECT failures FROM clusters") == 0
    key = grid.one("SELECT key FROM grid")
    assert grid.site.sh(f"find ~ -path '*/{key}/c{campaign}/*' 2>/dev/null") == ""
    grid.assert_sane()


def test_an_admission_rule_of_oar_refuses_one_campaign_alone(ruled: Grid) -> None:
    campaign = ruled.submit(["1", "2"], types="deploy")
    assert_the_third_is_a_refusal(ruled, campaign, "[ADMISSION RULE] 'core' resource is not allowed with a deploy job")


def test_a_sites_own_sbatch_refuses_one_campaign_alone(wrapped: Grid) -> None:
    """Until its tasks are sent one by one."""
    campaign = wrapped.submit([str(number) for number in range(3)])
    wrapped.run_until(after_tries(wrapped, campaign, 1))
    [said] = wrapped.rows(OPEN)
    assert said["code"] == "SUBMISSION_FAILED"
    assert "Welcome to alpha.\narrays are switched off here" in said["message"]
    assert not wrapped.rows("SELECT 1 FROM events WHERE code IN ('ACCOUNT_REFUSED', 'CLUSTER_UNREACHABLE')")
    assert wrapped.one("SELECT failures FROM clusters") == 0
    key = wrapped.one("SELECT key FROM grid")
    assert wrapped.site.sh(f"find ~ -path '*/{key}/c{campaign}/*' 2>/dev/null") == ""
    later(wrapped)
    wrapped.run_to_end()
    assert wrapped.rows(OPEN) == []
    wrapped.assert_each_ran_once(3)


def test_more_licences_than_slurm_has_are_refused_once_with_slurms_words(alpha: Grid) -> None:
    """The testbed's Slurm has four of matlab. What is asked in sbatch's own spelling is judged by Slurm alone."""
    campaign = alpha.submit(["1", "2"], clusters={"alpha": {"backend": ["--licenses=matlab:9"]}})
    alpha.run_until(lambda: alpha.rows(OPEN))
    for _ in range(3):
        alpha.cycle()
    [said] = alpha.rows(OPEN)
    assert (said["code"], said["subject"]) == ("CLUSTER_SET_ASIDE", f"campaign {campaign} on alpha")
    assert "Invalid license specification" in said["message"]
    assert alpha.one("SELECT count(*) FROM batches") == 1
    assert alpha.counts() == {"waiting": 2}
    alpha.assert_sane()
