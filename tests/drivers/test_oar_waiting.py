"""What OAR says of jobs that wait, alike for all that wait for the same, and whether it passes by itself."""

import pytest

from cigri.drivers.oar.waiting_reasons import interpret_message

SAID = {
    "R=1,W=0:10:0,J=B,N=cigri.a.7,T=besteffort (Karma=0.000,quota_ok)": "quota_ok",
    "R=1,W=0:10:0,J=B,N=cigri.a.7,T=besteffort (Karma = 1.250)": "planned",
    "R=1,W=0:10:0,J=B,N=cigri.a.7,T=besteffort": "",
    "Inner job: container 12 is yet to scheduled, inner job not scheduled": (
        "Inner job: container is yet to scheduled, inner job not scheduled"
    ),
    "FIFO scheduling OK": "FIFO scheduling OK",
    "": "",
}
IN_VAIN = {
    "No enough matching resources (no_matching_slot)": "No enough matching resources (no_matching_slot)",
    "Cannot find enough resources which fit for the job 12": "Cannot find enough resources which fit for the job",
}


@pytest.mark.parametrize("message", SAID)
def test_what_passes_is_told_alike_for_all_jobs(message: str) -> None:
    reason = interpret_message(message)
    assert (reason.said, reason.is_stuck) == (SAID[message], False)


@pytest.mark.parametrize("message", IN_VAIN)
def test_resources_that_are_not_there_do_not_come_by_themselves(message: str) -> None:
    reason = interpret_message(message)
    assert (reason.said, reason.is_stuck) == (IN_VAIN[message], True)
