"""What the next visit tells an account of its outbox: what is stored, and which files nobody needs any more."""

from collections.abc import Mapping, Sequence

from cigri.flow.live_jobs import WatchedJob, list_unended
from cigri.runtime.pass_context import PassContext
from cigri.wrapper import OutboxReceipt, place_of
from modules.updator.job_conclusions import JobChanges

LARGEST_ID = 2**63 - 1  # a file in an outbox may have any number in its name


def next_receipt(
    tools: PassContext,
    before: OutboxReceipt,
    collected: Mapping[str, int],
    jobs: Sequence[WatchedJob],
    findings: JobChanges,
) -> OutboxReceipt:
    """`collected`: by file of the outbox, the number of its lines that were stored.

    Of jobs submitted so lately that they are not among these, nothing is over.
    """
    lines = {**before.lines, **collected}
    ended = {end.job.job_id for end in findings.ended}
    is_over = {(job.batch_id, job.array_index): job.job_id in ended for job in jobs}
    goes_on = {name: number for name, number in lines.items() if is_over.get(place_of(name)) is False}
    over = {name for name in lines if is_over.get(place_of(name))}
    others = {name: place for name in lines if (place := place_of(name)) not in is_over}
    batches = sorted({batch_id for batch_id, _ in others.values() if batch_id <= LARGEST_ID})
    unended: set[tuple[int, int]] = set()
    if batches:
        with tools.database.read() as conn:
            unended = list_unended(conn, batches)
    over |= {name for name, place in others.items() if place not in unended}
    return before.after_answer(goes_on, frozenset(over))
