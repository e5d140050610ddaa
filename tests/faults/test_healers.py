"""What an operator would repair is repaired while a test runs, so that one fault of a node does not fail many tests."""

import pytest

from tests.grid import Grid, until

pytestmark = pytest.mark.cluster


def test_a_node_that_slurm_has_drained_is_given_back(alpha: Grid) -> None:
    alpha.site.sh("scontrol update NodeName=alpha-n1 State=DRAIN Reason=test", user="root")
    until(lambda: set(alpha.site.sh("sinfo -h -N -o %T").split()) == {"idle"}, what="both nodes take jobs again")


def test_a_queue_in_error_is_cleared_and_one_that_is_disabled_stays_so(gamma: Grid) -> None:
    def state(queue: str) -> str:
        return gamma.site.sh(f"qstat -f -q {queue} | awk '$1 ~ /@/ {{ print $6 }}'").strip()

    gamma.site.sh("qmod -d fat.q; qconf -mattr queue prolog /none lowprio.q", user="root")
    try:
        gamma.site.sh("echo true | qsub -l lowprio=TRUE -o /dev/null -e /dev/null")
        until(lambda: "E" in state("lowprio.q"), what="the job could not be started")
        gamma.site.sh("qconf -mattr queue prolog NONE lowprio.q", user="root")
        until(lambda: state("lowprio.q") == "", what="the queue takes jobs again")
        assert state("fat.q") == "d"
    finally:
        gamma.site.sh("qconf -mattr queue prolog NONE lowprio.q; qmod -e fat.q", user="root")
