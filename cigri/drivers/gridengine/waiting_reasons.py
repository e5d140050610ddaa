"""What Grid Engine's scheduler says of jobs that wait (`qstat -j`, where schedd_job_info is true): what does not pass.

docs/reference/gridengine.md has the same table. Words that are not here are shown as they are, and are thought to pass.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

# Only the messages are wanted: of each task that runs, the rest tells its usage.
MESSAGES = """\
! qconf -ssconf | grep -q '^schedd_job_info *true' || {{
    echo {end}
    qstat -xml -j {pattern} | sed -n '/<messages>/,/<\\/messages>/p'
}}"""

NO_QUEUE = "each queue that it could run in does not allow it, or has no host with what it asks for"
OVERLOADED = "its turn has not come: slots are in use, or hosts are loaded"

# Queues that are not for this job, by its own request or theirs.
_OTHER_QUEUES = re.compile(r"does not request 'forced' resource|not contained in its (master )?hard (queue|host) list")
# Letters before a value: of a host, a queue, or all (h, q, g), and fixed or measured (f, l); consumables (c) come back.
_STAYS = re.compile(
    r"offers only [hqg]f:|offers only [hqg]l:(arch|num_proc|(mem|swap|virtual)_total|m_(socket|core|thread))="
    r"|because of cluster queue$"
    r"|has no permission for|does not have the correct project|is not in pe list|not a (parallel|batch) queue"
)
_COMES_BACK = re.compile(r"dropped because it is (full|overloaded|temporarily not available|suspended)")


class GridEngineReason(NamedTuple):
    """`said`: in Grid Engine's words; `meaning`: in ours; `is_stuck`: it does not pass by itself."""

    said: str = ""
    meaning: str = ""
    is_stuck: bool = False


class SchedulerMessages(NamedTuple):
    """The messages about each job, by its number, and those about queues, which hold for all jobs."""

    of_jobs: Mapping[str, Sequence[str]]
    of_all: Sequence[str]


NO_MESSAGES = SchedulerMessages({}, ())


def read_messages(text: str) -> SchedulerMessages:
    """Read the element `messages` of `qstat -j -xml`; text that is none, or is cut, tells nothing."""
    try:
        tree = ElementTree.fromstring(text.strip())  # noqa: S314 (expat bounds what entities may become)
    except ElementTree.ParseError:
        return NO_MESSAGES
    of_jobs: dict[str, list[str]] = {}
    for message in tree.iterfind(".//SME_message_list/element"):
        for number in message.iter("ULNG_value"):
            of_jobs.setdefault(number.text or "", []).append(message.findtext("MES_message", ""))
    of_all = [found.text or "" for found in tree.iterfind(".//SME_global_message_list/element/MES_message")]
    return SchedulerMessages(of_jobs, of_all)


def interpret_messages(number: str, messages: SchedulerMessages) -> GridEngineReason:
    """Why the job of this number waits.

    Grid Engine does not say of a queue that is full whether the job could run there once it is not.
    """
    own = [said for said in messages.of_jobs.get(number, ()) if not _OTHER_QUEUES.search(said)]
    coming = [said for said in messages.of_all if _COMES_BACK.search(said)]
    passing = next((said for said in own if not _STAYS.search(said)), "")
    if own and not passing and not coming:
        return GridEngineReason(own[0], NO_QUEUE, is_stuck=True)
    if passing:
        return GridEngineReason(passing)
    return GridEngineReason(coming[0], OVERLOADED) if coming else GridEngineReason()
