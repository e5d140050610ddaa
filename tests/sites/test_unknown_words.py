"""A site's own sbatch says no in words of its own: what it says is the campaign's, and has an end."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.grid import Grid

pytestmark = pytest.mark.cluster

WRAPPER = """\
#!/bin/sh
case " $* " in *" --account=phys "*)
    echo 'Welcome to alpha.'
    echo 'Your project is temporarily suspended' >&2
    exit {status} ;;
esac
exec /usr/bin/sbatch "$@"
"""
OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
NOT_OF_A_CAMPAIGN = "SELECT code, message FROM events WHERE code IN ('ACCOUNT_REFUSED', 'CLUSTER_UNREACHABLE')"
TRIES = "SELECT failed_sends FROM campaign_clusters WHERE campaign_id = :id"
ENDED = "SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id"


@pytest.fixture(params=[1, 0])
def wrapped(alpha: Grid, request: pytest.FixtureRequest) -> Iterator[Grid]:
    """Slurm behind an sbatch that refuses one project, by its exit status or by its words alone."""
    path = "/usr/local/bin/sbatch"
    script = WRAPPER.format(status=request.param)
    alpha.site.sh(f"cat >{path} <<'END'\n{script}END\nchmod 755 {path}", user="root")
    yield alpha
    alpha.site.sh(f"rm {path}", user="root")


def after_tries(grid: Grid, campaign: int, number: int) -> bool:
    return bool(grid.one(TRIES, id=campaign) == number)


def let_it_be_tried(grid: Grid) -> None:
    with grid.database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET blocked_until = NULL WHERE strikes = 0"))


def test_the_third_no_of_a_site_is_a_refusal_for_one_campaign(wrapped: Grid) -> None:
    """The same account's other campaign runs; nobody else is blamed; nothing stays on the cluster."""
    refused = wrapped.submit(["1", "2", "3"], project="phys")
    for number in (1, 2, 3):
        let_it_be_tried(wrapped)
        wrapped.run_until(lambda number=number: after_tries(wrapped, refused, number))  # type: ignore[misc]
    [said] = wrapped.rows(OPEN)
    assert (said["code"], said["subject"]) == ("CLUSTER_SET_ASIDE", f"campaign {refused} on alpha")
    assert "Welcome to alpha.\nYour project is temporarily suspended" in said["message"]
    other = wrapped.submit(["1"], name="other")
    wrapped.run_until(lambda: wrapped.one(ENDED, id=other))
    assert wrapped.rows(NOT_OF_A_CAMPAIGN) == []
    assert wrapped.one("SELECT failures FROM clusters") == 0
    assert wrapped.one("SELECT count(*) FROM batches WHERE campaign_id = :id", id=refused) == 3
    key = wrapped.one("SELECT key FROM grid")
    assert wrapped.site.sh(f"find ~ -path '*/{key}/c{refused}/*' 2>/dev/null") == ""
    wrapped.assert_sane()
