"""A test that is left out fails in CI, and none is run as pure that starts a process."""

import pytest

from tests import kinds, reports

SAMPLE = """
    import subprocess, sys
    import pytest

    def test_starts():
        subprocess.run([sys.executable, "-c", ""], check=True)

    @pytest.mark.process
    def test_starts_and_says_so():
        subprocess.run([sys.executable, "-c", ""], check=True)

    @pytest.fixture
    def here(): ...

    def test_has_the_local_cluster(here): ...

    @pytest.mark.skipif(True, reason="no sshd")
    def test_is_marked(): ...

    def test_is_left_out_within():
        pytest.skip("no sudo")

    @pytest.mark.xfail(strict=True)
    def test_is_known_to_fail():
        assert False
"""


@pytest.fixture
def sample(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nmarkers =\n    process\n    cluster\n")
    pytester.makepyfile(test_sample=SAMPLE)
    return pytester


def outcomes(sample: pytest.Pytester, *options: str) -> dict[str, int]:
    return sample.runpytest_inprocess(*options, plugins=[kinds, reports]).parseoutcomes()


def test_what_is_left_out_fails_in_ci(sample: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert outcomes(sample, "-k", "not starts") == {
        "passed": 1,
        "failed": 1,
        "errors": 1,
        "xfailed": 1,
        "deselected": 2,
    }
    monkeypatch.delenv("CI")
    assert outcomes(sample, "-k", "not starts") == {"passed": 1, "skipped": 2, "xfailed": 1, "deselected": 2}


@pytest.mark.process
def test_what_starts_processes_says_so(sample: pytest.Pytester) -> None:
    assert outcomes(sample, "-k", "starts") == {"passed": 1, "failed": 1, "deselected": 4}


def test_fixtures_that_start_processes_need_no_mark(sample: pytest.Pytester) -> None:
    assert outcomes(sample, "-k", "local_cluster", "-m", "not process") == {"deselected": 6}
