"""What `gridstat` shows of a test campaign."""

from collections.abc import Sequence

from cigri.api_models.campaigns import ClusterTest
from cigri.cli.table_printing import print_table
from cigri.formats.units import localised
from cigri.presentation.formatting import shortened

TEST_COLUMNS = ("Cluster", "Job", "Test", "Why")
LONGEST_TAIL = 300


def print_cluster_tests(tests: Sequence[ClusterTest], headerless: bool) -> None:
    """A line for each cluster, with its verdict."""
    lines = [
        (test.tried.cluster, test.tried.job_id, test.result, shortened(localised(test.why), LONGEST_TAIL))
        for test in tests
    ]
    print_table(TEST_COLUMNS, lines, prose=("Cluster", "Why"), headerless=headerless)
