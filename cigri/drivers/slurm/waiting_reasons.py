"""What squeue says of jobs that wait (`%r`): in words for people, and whether it passes by itself.

docs/reference/slurm.md has the same table. Words that are not here are shown as they are, and are thought to pass.
"""

import re
from typing import NamedTuple


class SlurmReason(NamedTuple):
    """`meaning`: in our words, "" where Slurm's have to do; `is_stuck`: it does not pass by itself."""

    meaning: str = ""
    is_stuck: bool = False


def _stuck(meaning: str) -> SlurmReason:
    return SlurmReason(meaning, is_stuck=True)


# The first that fits. Limits on what is in use pass when jobs end; limits on what was used, and on one job, do not.
SLURM_REASONS = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        ("Priority", SlurmReason("jobs with a higher priority go first")),
        ("Resources", SlurmReason("the cores, memory or nodes that it asks for are in use")),
        ("Licenses", SlurmReason("the licences that it asks for are in use")),
        ("JobArrayTaskLimit", SlurmReason("as many of its array run as may at a time")),
        ("Dependency", SlurmReason("it waits for another job of the batch system")),
        ("BeginTime", SlurmReason("it is not to start yet")),
        ("Reservation", SlurmReason("its reservation has not begun")),
        ("(ReqNodeNotAvail|Nodes required for job are ).*", SlurmReason("nodes that it needs are down or reserved")),
        (r"(Assoc|QOS)Grp\w*RunMin\w*", SlurmReason("running jobs may use all that is left of the allocation")),
        (r"(Assoc|QOS)Grp(\w*Min(ute)?s\w*|Wall\w*)", _stuck("the allocation of its account is used up")),
        (r"QOSUsageThreshold", _stuck("its account has used more than its quality of service (QOS) allows")),
        (r"QOSMin\w*", _stuck("its quality of service (QOS) is for larger jobs")),
        (
            r"(Assoc|QOS)Max\w*Per(Job|Node)\w*|(QOS|Association)TimeLimit|QOSMaxCpuMinutes\w*",
            _stuck("it asks for more than one job of its account may have"),
        ),
        (
            r"(Assoc|QOS)(Grp|Max|Job|Resource)\w*|Association(Job|Resource)Limit|AccountingPolicy",
            SlurmReason("the jobs of its account have as much as they may at a time"),
        ),
        ("PartitionTimeLimit", _stuck("its walltime is longer than its partition allows")),
        ("PartitionNodeLimit", _stuck("it asks for more nodes than its partition allows")),
        ("PartitionDown|PartitionInactive", _stuck("its partition is closed")),
        ("BadConstraints", _stuck("no node has what it asks for")),
        ("InvalidAccount|AccountNotAllowed", _stuck("its account is not, or no longer, allowed there")),
        ("InvalidQOS|QOSNotAllowed", _stuck("its quality of service (QOS) is not, or no longer, allowed there")),
        ("ReservationDeleted", _stuck("its reservation is gone")),
        ("DeadLine", _stuck("it cannot end before its deadline")),
        ("JobHeldAdmin", _stuck("an administrator of the cluster holds it")),
        ("JobHeldUser", SlurmReason("its user holds it")),
        (
            r"JobHoldMaxRequeue|JobLaunchFailure|launch failed requeued held|job requeued in held state",
            _stuck("it could not be started, and is held until an administrator releases it"),
        ),
    )
)
PASSES = SlurmReason()


def interpret(word: str) -> SlurmReason:
    """What a word of squeue means."""
    return next((reason for pattern, reason in SLURM_REASONS if pattern.fullmatch(word)), PASSES)
